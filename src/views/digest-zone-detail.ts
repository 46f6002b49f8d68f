import type { Attention } from '../reports/attention.ts';
import type { ZoneFigures } from '../reports/digest-figures.ts';
import { inBrackets, nameOf, names } from './digest-change.ts';
import { bandwidthChart } from './digest-charts.ts';
import { detail, mostShown } from './digest-detail.ts';
import { limitLine } from './digest-findings.ts';
import type { Message } from './message.ts';
import { bytes, money } from './numbers.ts';
import { count, foreign, grouped } from './text.ts';

const stateNames: Readonly<Record<Attention, string>> = {
  suspended: 'Suspended',
  disabled: 'Disabled',
  'near-limit': 'Above 80 % of the limit',
  'no-certificate': 'Without certificate',
};

/** The zones of a digest in its thread. */
export function zoneDetail(zones: ZoneFigures, changes: readonly string[], timeZone: string): Message {
  const { states, limits, moreLimits, busiest, missing, perDay, chargesPerDay } = zones;
  const attention = (Object.keys(stateNames) as Attention[]).flatMap((state) => {
    const { count: all } = states[state];
    return all > 0 ? [`${stateNames[state]}: ${grouped(all)} · ${names(states[state], mostShown)}`] : [];
  });
  const chart = bandwidthChart(zones.trend, timeZone);
  return detail(
    'Zones',
    [
      { title: 'Changed', lines: changes },
      {
        title: 'Limits',
        lines: [
          ...limits.map(limitLine),
          ...(moreLimits > 0 ? [`and ${count(moreLimits, 'more zone')}`] : []),
        ],
      },
      { title: 'Needs attention', lines: attention },
      {
        title: 'Most bandwidth this month',
        lines: busiest.slice(0, mostShown).map((zone) => {
          const rate = zone.perDay
            ? `, ${bytes(zone.perDay.now)} a day${inBrackets(zone.perDay, bytes)}`
            : '';
          return `*${nameOf(zone)}*: ${bytes(zone.used)}${rate}`;
        }),
      },
      {
        title: 'All together',
        lines: [
          ...(perDay && (perDay.now > 0 || perDay.before)
            ? [`Bandwidth: ${bytes(perDay.now)} a day${inBrackets(perDay, bytes)}`]
            : []),
          ...(chargesPerDay && (chargesPerDay.now > 0 || chargesPerDay.before)
            ? [`Charges: ${money(chargesPerDay.now)} a day${inBrackets(chargesPerDay, money)}`]
            : []),
        ],
      },
      {
        title: 'Not in the account',
        lines:
          missing.length > 0
            ? [
                missing
                  .slice(0, 30)
                  .map((id) => foreign(id, 20))
                  .join(', '),
              ]
            : [],
      },
    ],
    limits.length > 0
      ? 'Months are UTC, as the CDN counts them. A limit’s day: if the rest of the month goes like the month so far.'
      : 'Months are UTC, as the CDN counts them.',
    chart ? [chart] : [],
  );
}
