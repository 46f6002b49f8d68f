import type { Attention } from '../reports/attention.ts';
import type { ZoneFigures } from '../reports/digest-figures.ts';
import type { Finding } from '../reports/digest-findings.ts';
import { inBrackets, isNothing, nameOf, names } from './digest-change.ts';
import { bandwidthChart } from './digest-charts.ts';
import { changedPart, detail, mostShown } from './digest-detail.ts';
import { limitLine } from './digest-findings.ts';
import type { Message } from './message.ts';
import { bytes, money } from './numbers.ts';
import { count, foreign, grouped } from './text.ts';

const stateNames: Readonly<Record<Attention, string>> = {
  suspended: 'suspended',
  disabled: 'disabled',
  'near-limit': 'above 80 % of the limit',
  'no-certificate': 'without certificate',
};

/** The zones of a digest in its thread. What stands in `changed` is not told again further down. */
export function zoneDetail(zones: ZoneFigures, changed: readonly Finding[], timeZone: string): Message {
  const { states, limits, moreLimits, busiest, missing, perDay, chargesPerDay } = zones;
  const attention = (Object.keys(stateNames) as Attention[]).flatMap((state) => {
    const { count: all } = states[state];
    const isTold = changed.some(
      (one) => one.kind === 'became' && one.state === state && one.zones.count === all,
    );
    return all > 0 && !isTold
      ? [`*${grouped(all)}* ${stateNames[state]}: ${names(states[state], mostShown)}`]
      : [];
  });
  const told = new Set(changed.map((one) => (one.kind === 'limit' ? one.limit : undefined)));
  const moving = new Map(
    changed.flatMap((one) => (one.kind === 'traffic' ? [[one.zone.id, one.perDay] as const] : [])),
  );
  const known = limits.filter((limit) => !told.has(limit));
  // Where one zone does it all, it was told with that zone.
  const isTotalTold = [...moving.values()].some(({ now }) => now === perDay?.now);
  const chart = bandwidthChart(zones.trend, timeZone);
  return detail(
    'Zones',
    [
      changedPart(changed),
      {
        title: 'Limits',
        lines: [
          ...known.map(limitLine),
          ...(moreLimits > 0 ? [`and ${count(moreLimits, 'more zone')}`] : []),
        ],
      },
      { title: 'Needs attention', lines: attention },
      {
        title: 'Most bandwidth this month',
        lines: busiest.slice(0, mostShown).map((zone) => {
          const rate =
            zone.perDay && !isNothing(zone.perDay) && !moving.has(zone.id)
              ? `, ${bytes(zone.perDay.now)} a day${inBrackets(zone.perDay, bytes)}`
              : '';
          return `*${bytes(zone.used)}* · ${nameOf(zone)}${rate}`;
        }),
      },
      {
        title: 'All together',
        lines: [
          ...(perDay && !isTotalTold && (perDay.now > 0 || perDay.before)
            ? [`*${bytes(perDay.now)}* a day${inBrackets(perDay, bytes)}`]
            : []),
          ...(chargesPerDay && (chargesPerDay.now > 0 || chargesPerDay.before)
            ? [`*${money(chargesPerDay.now)}* a day${inBrackets(chargesPerDay, money)}`]
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
