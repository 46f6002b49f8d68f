import { hourMs, startOfDay } from '../../lib/time.ts';
import type { MessageBlock } from '../blocks/blocks.ts';
import { renderChart, sumBuckets } from '../blocks/chart.ts';
import { formatInteger, formatShortDay } from '../blocks/format.ts';
import { type Cell, renderTable } from '../blocks/table.ts';
import { join } from '../blocks/text.ts';
import type { Clock } from './clock.ts';
import type { Report } from './report.ts';

/** The ways to look at a report: each is one chart or one table. */
export const pictures = {
  kinds: 'What fails',
  hours: 'Hour by hour',
  addresses: 'Addresses',
  samples: 'Samples',
} as const;
export type Picture = keyof typeof pictures;
export const pictureNames = Object.keys(pictures) as [Picture, ...Picture[]];

/** `title` is of the chart: the number that it is about. */
export function renderPicture(
  picture: Picture,
  report: Report,
  { clock, title }: { readonly clock: Clock; readonly title: string },
): MessageBlock[] {
  if (picture === 'hours') return renderHours(report, clock, title);
  return { kinds: renderKinds, addresses: renderAddresses, samples: renderSamples }[picture](report, clock);
}

const maxKinds = 30;

function renderKinds({ counts: { groups, ungrouped }, days }: Report, clock: Clock) {
  const rows = groups
    .slice(0, maxKinds)
    .map((group): Cell[] => [
      formatKind(group),
      { number: group.count, text: formatInteger(group.count) },
      group.serverZone ?? 'not reported',
      renderTime(group.last, clock, days.count > 1),
    ]);
  const others: Cell[] = [
    'other kinds',
    { number: ungrouped, text: formatInteger(ungrouped) },
    'several',
    renderTime(undefined, clock),
  ];
  return renderTable({
    caption: 'Kinds of error, the most frequent first',
    columns: ['Error', 'Count', 'Where', 'Last'],
    rows: ungrouped > 0 ? [...rows, others] : rows,
    total: groups.length + (ungrouped > 0 ? 1 : 0),
  });
}

function renderAddresses({ counts: { prefixes, prefixesMissed } }: Report) {
  const least = prefixesMissed > 0 ? 'at least ' : '';
  return renderTable({
    caption: 'Beginnings of addresses, the most frequent first',
    columns: ['Address', 'Count'],
    rows: prefixes
      .slice(0, 100)
      .map(([prefix, count]) => [prefix, { number: count, text: `${least}${formatInteger(count)}` }]),
    total: prefixes.length,
  });
}

function renderSamples({ counts: { samples }, days }: Report, clock: Clock) {
  return renderTable({
    caption: 'The newest error of each kind',
    columns: ['Address', 'What', 'When'],
    rows: samples.map((entry) => [
      entry.requestUrl ?? 'not readable',
      join([join([formatKind(entry), entry.serverZone], ', '), entry.message], ': '),
      renderTime(entry.at, clock, days.count > 1),
    ]),
  });
}

/** Sorts by the moment. */
function renderTime(at: number | undefined, clock: Clock, hasDay = false): Cell {
  if (at === undefined) return { number: -1, text: 'not reported' };
  return { number: at, text: hasDay ? `${clock.day(at)} ${clock.time(at)}` : clock.time(at) };
}

/** `dns_lookup 502`, as plain text. */
export function formatKind({
  errorCode = '',
  statusCode,
}: {
  readonly errorCode?: string | undefined;
  readonly statusCode?: number | undefined;
}): string {
  return `${errorCode.trim() || 'no code'} ${statusCode ?? 'no status'}`;
}

/** Hours of a bar, so that at most twenty stand beside each other. */
const bucketHours = [1, 2, 6, 24] as const;

/** Errors by hour up to now, in equal buckets from the first day's midnight (UTC) on. Hours to come are left out. */
function renderHours({ counts: { hours }, days, takenAt }: Report, clock: Clock, title: string) {
  if (hours.every((hour) => hour === 0)) return [];
  const start = startOfDay(days.first);
  const now = takenAt.getTime();
  const begun = hours.slice(0, Math.max(1, Math.ceil((now - start) / hourMs)));
  const size = bucketHours.find((size) => begun.length / size <= 20) ?? 24;
  const sums = sumBuckets(begun, size);
  const labels = sums.map((_, nth) => {
    const from = start + nth * size * hourMs;
    const end = from + size * hourMs;
    const day = size === 24 ? formatShortDay(new Date(from).toISOString().slice(0, 10)) : clock.day(from);
    const label = join([days.count > 1 && day, size < 24 && clock.hour(from)], ' ');
    if (end > now) return `${label}–now`;
    return size === 2 && days.count === 1 ? `${label}–${clock.hour(end)}` : label;
  });
  const period = size === 1 ? 'an hour' : size === 24 ? 'a day' : `each ${size} hours`;
  const series = [{ name: 'Errors', values: sums }];
  return renderChart({ kind: 'bar', title, unit: `Errors ${period}`, labels, series });
}
