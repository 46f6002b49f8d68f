import { hourMs, minuteMs } from '../../lib/time.ts';
import type { MessageBlock } from '../blocks/blocks.ts';
import { renderChart, sumBuckets } from '../blocks/chart.ts';
import { formatInteger, formatShortDay } from '../blocks/format.ts';
import { type Cell, renderTable } from '../blocks/table.ts';
import { join } from '../blocks/text.ts';
import type { Clock } from './clock.ts';
import { chooseParts, type Period } from './period.ts';
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

function renderKinds({ counts: { groups, ungrouped }, period }: Report, clock: Clock) {
  const rows = groups.slice(0, maxKinds).map((group): Cell[] => [
    // Without its status, which a phone would cut off.
    formatCodeName(group.errorCode),
    { number: group.count, text: formatInteger(group.count) },
    `${formatStatus(group.statusCode)}, ${group.serverZone ?? 'not reported'}`,
    renderTime(group.last, clock, hasDays(period, clock)),
  ]);
  const others: Cell[] = [
    'other kinds',
    { number: ungrouped, text: formatInteger(ungrouped) },
    'several',
    renderTime(undefined, clock),
  ];
  return renderTable({
    caption: 'Kinds of error, the most frequent first',
    columns: ['Error', 'Count', 'Status, where', 'Last'],
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

function renderSamples({ counts: { samples }, period }: Report, clock: Clock) {
  return renderTable({
    caption: 'The newest error of each kind',
    columns: ['Address', 'What', 'When'],
    rows: samples.map((entry) => [
      entry.requestUrl ?? 'not readable',
      join([join([formatKind(entry), entry.serverZone], ', '), entry.message], ': '),
      renderTime(entry.at, clock, hasDays(period, clock)),
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
  return `${formatCodeName(errorCode)} ${formatStatus(statusCode)}`;
}

function formatCodeName(errorCode = ''): string {
  return errorCode.trim() || 'no code';
}

function formatStatus(statusCode: number | undefined): string {
  return statusCode === undefined ? 'no status' : String(statusCode);
}

/** Whether a time of the period needs its day beside it. */
export function hasDays({ days, span }: Period, clock: Clock): boolean {
  return span ? clock.day(span.from) !== clock.day(span.to - 1) : days.count > 1;
}

/** Parts of a bar, so that at most twenty stand beside each other: of hours, and of five minutes. */
const hoursOfBar = [1, 2, 6, 24] as const;
const hoursOfSpanBar = [1, 2, 6, 12] as const;
const fivesOfBar = [1, 2] as const;

/** Errors by hour or less up to now, in equal buckets from the start on. What is to come is left out. */
function renderHours({ counts: { hours }, period, takenAt }: Report, clock: Clock, title: string) {
  if (hours.every((hour) => hour === 0)) return [];
  const { start, length } = chooseParts(period);
  const now = takenAt.getTime();
  const begun = hours.slice(0, Math.max(1, Math.ceil((now - start) / length)));
  const sizes = length < hourMs ? fivesOfBar : period.span ? hoursOfSpanBar : hoursOfBar;
  const size = sizes.find((size) => begun.length / size <= 20) ?? 24;
  const sums = sumBuckets(begun, size);
  const withDays = hasDays(period, clock);
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
