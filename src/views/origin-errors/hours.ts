import type { OriginErrorCounts } from '../../api/origin-errors/counts.ts';
import { type DayRange, hourMs, shiftDay, startOfDay } from '../../lib/time.ts';
import { section } from '../blocks/blocks.ts';
import { renderChart, sumBuckets } from '../blocks/chart.ts';
import { formatShortDay } from '../blocks/dates.ts';
import type { MessageBlock } from '../blocks/message.ts';
import { formatInteger } from '../blocks/text.ts';

/** Hours of a bar, so that at most twenty stand beside each other. */
const bucketHours = [1, 2, 6, 24] as const;

/** Errors by hour up to now, in equal buckets of UTC hours. Hours to come are left out. */
export function renderHourChart(
  { hours, total }: OriginErrorCounts,
  days: DayRange,
  title: string,
  now: Date,
): MessageBlock[] {
  if (hours.every((hour) => hour === 0))
    return total > 0 ? [section('No entry has a time in these days.')] : [];
  const start = startOfDay(days.first);
  const begun = hours.slice(0, Math.max(1, Math.ceil((now.getTime() - start) / hourMs)));
  const size = bucketHours.find((size) => begun.length / size <= 20) ?? 24;
  const sums = sumBuckets(begun, size);
  const labels = sums.map((_, nth) => {
    const from = new Date(start + nth * size * hourMs).toISOString();
    const end = start + (nth + 1) * size * hourMs;
    const hour = size === 24 ? '' : from.slice(11, 13);
    const label = days.count === 1 ? hour : `${formatShortDay(from.slice(0, 10))} ${hour}`.trimEnd();
    if (end > now.getTime()) return `${label}–now`;
    return size === 1 || size === 24
      ? label
      : `${label}–${String(((nth * size) % 24) + size).padStart(2, '0')}`;
  });
  const period = size === 1 ? 'an hour' : size === 24 ? 'a day' : `each ${size} hours`;
  return renderChart({
    kind: 'bar',
    title,
    unit: `Errors ${period}, UTC`,
    labels,
    series: [{ name: 'Errors', values: sums }],
  });
}

/** `most 13:00–14:00 UTC (61)` */
export function describePeak({ hours }: OriginErrorCounts, days: DayRange): string {
  const highest = Math.max(0, ...hours);
  if (highest === 0) return '';
  const at = hours.indexOf(highest);
  const day = days.count === 1 ? '' : `${shiftDay(days.first, Math.floor(at / 24))} `;
  return `most ${day}${formatHour(at % 24)}–${formatHour((at % 24) + 1)} UTC (${formatInteger(highest)})`;
}

function formatHour(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}
