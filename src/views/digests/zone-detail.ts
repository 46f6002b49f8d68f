import type { Attention } from '../../api/zones/attention.ts';
import type { ZoneFigures } from '../../digests/figures/figures.ts';
import type { Finding } from '../../digests/figures/findings.ts';
import type { Message } from '../blocks/message.ts';
import { formatBytes, formatMoney } from '../blocks/numbers.ts';
import { escapeMrkdwn, formatInteger, pluralize } from '../blocks/text.ts';
import { bracket, describeName, isNothing, names } from './change.ts';
import { bandwidthChart } from './charts.ts';
import { changedPart, mostShown, renderDetail } from './detail.ts';
import { renderLimit } from './findings.ts';

const stateNames: Readonly<Record<Attention, string>> = {
  suspended: 'suspended',
  disabled: 'disabled',
  'near-limit': 'above 80 % of the limit',
  'no-certificate': 'without certificate',
};

/** The zones of a digest in its thread. What stands in `changed` is not told again further down. */
export function renderZoneDetail(zones: ZoneFigures, changed: readonly Finding[], timeZone: string): Message {
  const { states, limits, moreLimits, busiest, missing, perDay, chargesPerDay } = zones;
  const attention = (Object.keys(stateNames) as Attention[]).flatMap((state) => {
    const { count: all } = states[state];
    const isTold = changed.some(
      (one) => one.kind === 'became' && one.state === state && one.zones.count === all,
    );
    return all > 0 && !isTold
      ? [`*${formatInteger(all)}* ${stateNames[state]}: ${names(states[state], mostShown)}`]
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
  return renderDetail(
    'Zones',
    [
      changedPart(changed),
      {
        title: 'Limits',
        lines: [
          ...known.map(renderLimit),
          ...(moreLimits > 0 ? [`and ${pluralize(moreLimits, 'more zone')}`] : []),
        ],
      },
      { title: 'Needs attention', lines: attention },
      {
        title: 'Most bandwidth this month',
        lines: busiest.slice(0, mostShown).map((zone) => {
          const rate =
            zone.perDay && !isNothing(zone.perDay) && !moving.has(zone.id)
              ? `, ${formatBytes(zone.perDay.now)} a day${bracket(zone.perDay, formatBytes)}`
              : '';
          return `*${formatBytes(zone.used)}* · ${describeName(zone)}${rate}`;
        }),
      },
      {
        title: 'All together',
        lines: [
          ...(perDay && !isTotalTold && (perDay.now > 0 || perDay.before)
            ? [`*${formatBytes(perDay.now)}* a day${bracket(perDay, formatBytes)}`]
            : []),
          ...(chargesPerDay && (chargesPerDay.now > 0 || chargesPerDay.before)
            ? [`*${formatMoney(chargesPerDay.now)}* a day${bracket(chargesPerDay, formatMoney)}`]
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
                  .map((id) => escapeMrkdwn(id, 20))
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
