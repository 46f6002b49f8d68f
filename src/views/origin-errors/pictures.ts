import { dayMs, hourMs, minuteMs } from '../../lib/time.ts';
import type { MessageBlock } from '../blocks/blocks.ts';
import { renderChart, sumBuckets } from '../blocks/chart.ts';
import { formatInteger, formatShortDay } from '../blocks/format.ts';
import { type Cell, renderTable } from '../blocks/table.ts';
import { join } from '../blocks/text.ts';
import { type Clock, chooseParts } from './period.ts';
import { findLastDay, type Report, rankKinds } from './report.ts';

/** The ways to look at a report: each is one chart or one table. */
export const pictures = {
  kinds: 'What fails',
  hours: 'Hour by hour',
  addresses: 'Paths',
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

function renderKinds(report: Report, clock: Clock) {
  const { groups, ungrouped } = report.counts;
  const lastDay = findLastDay(report);
  const kinds = rankKinds(groups);
  const rows = kinds
    .slice(0, maxKinds)
    .map((kind): Cell[] => [
      formatKind(kind),
      { number: kind.count, text: formatInteger(kind.count) },
      listPlaces(kind.places),
      renderTime(kind.first, clock, lastDay),
    ]);
  const others: Cell[] = [
    'other errors',
    { number: ungrouped, text: formatInteger(ungrouped) },
    'several',
    renderTime(undefined, clock, lastDay),
  ];
  return renderTable({
    caption: 'Most frequent errors',
    columns: ['Error', 'Count', 'Where', 'Since'],
    rows: ungrouped > 0 ? [...rows, others] : rows,
    total: kinds.length + (ungrouped > 0 ? 1 : 0),
  });
}

/** `DE 65, NY 31, +3` */
function listPlaces(places: readonly (readonly [name: string, count: number])[]): string {
  const [only] = places;
  if (places.length === 1 && only) return only[0];
  const shown = places.slice(0, 2).map(([name, count]) => `${name} ${formatInteger(count)}`);
  return join([...shown, places.length > 2 && `+${places.length - 2}`], ', ');
}

function renderAddresses({ counts: { prefixes, prefixesMissed } }: Report) {
  const least = prefixesMissed > 0 ? 'at least ' : '';
  return renderTable({
    caption: 'Paths with most errors',
    columns: ['Path', 'Count'],
    rows: prefixes
      .slice(0, 100)
      .map(([prefix, count]) => [prefix, { number: count, text: `${least}${formatInteger(count)}` }]),
    total: prefixes.length,
  });
}

function renderSamples(report: Report, clock: Clock) {
  const { samples } = report.counts;
  const lastDay = findLastDay(report);
  return renderTable({
    caption: 'Newest of each error',
    columns: ['Address', 'What', 'When'],
    rows: samples.map((entry) => [
      entry.requestUrl ?? 'not readable',
      join([join([formatKind(entry), entry.serverZone], ', '), entry.message], ': '),
      renderTime(entry.at, clock, lastDay),
    ]),
  });
}

/** Sorts by the moment. */
export function renderTime(at: number | undefined, clock: Clock, asOf: Date): Cell {
  return at === undefined
    ? { number: -1, text: 'not reported' }
    : { number: at, text: clock.moment(at, asOf) };
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

/** Parts of a bar, so that at most twenty stand beside each other. */
const sizesOf = { days: [1, 2, 6, 24], hours: [1, 2, 6, 12], fives: [1, 2] };

/** Errors by hour or less up to now, in equal buckets from the start on. What is to come is left out. */
function renderHours({ counts: { hours }, period, takenAt }: Report, clock: Clock, title: string) {
  if (hours.every((hour) => hour === 0)) return [];
  const { start, length } = chooseParts(period);
  const now = takenAt.getTime();
  const begun = hours.slice(0, Math.max(1, Math.ceil((now - start) / length)));
  const sizes = sizesOf[length < hourMs ? 'fives' : period.isWholeDays ? 'days' : 'hours'];
  const size = sizes.find((size) => begun.length / size <= 20) ?? 24;
  const sums = sumBuckets(begun, size);
  const withDays = period.isWholeDays
    ? period.to - period.from > dayMs
    : clock.day(period.from) !== clock.day(period.to - 1);
  const labels = sums.map((_, nth) => {
    const from = start + nth * size * length;
    const end = from + size * length;
    const day = size === 24 ? formatShortDay(new Date(from).toISOString().slice(0, 10)) : clock.day(from);
    const hour = length < hourMs ? clock.time(from) : clock.hour(from);
    const label = join([withDays && day, size < 24 && hour], ' ');
    if (end > now) return `${label}–now`;
    return size === 2 && length === hourMs && !withDays ? `${label}–${clock.hour(end)}` : label;
  });
  const unit =
    length < hourMs
      ? `each ${(size * length) / minuteMs} minutes`
      : size === 1
        ? 'an hour'
        : size === 24
          ? 'a day'
          : `each ${size} hours`;
  const series = [{ name: 'Errors', values: sums }];
  return renderChart({ kind: 'bar', title, unit: `Errors ${unit}`, labels, series });
}
