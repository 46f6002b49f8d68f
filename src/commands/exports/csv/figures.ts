import { redactUrl } from '../../../api/http/paths.ts';
import { dayMs, minuteMs, toEpochMs } from '../../../lib/time.ts';
import type { EventFigures, EventSubject, ExportRequest } from '../../../views/exports/exports.ts';
import { type EventColumns, findAddress } from './columns.ts';

const shown = 5;
/** Different values of a column that are counted. */
const mostDifferent = 100_000;
// Longer values are counted by how they begin.
const longest = 256;

/** Counts the events of a log, in bounded memory, by its known columns and by the time within the requested window. */
export function createEventCounter(
  { time, subjects }: EventColumns,
  window: Pick<ExportRequest, 'from' | 'to'>,
) {
  const bars = createBars(window);
  const values = new Map(subjects.map(([subject]) => [subject, new Map<string, number>()]));
  let untimed = 0;

  return {
    add(row: readonly string[]): void {
      if (time !== undefined && !bars.add(readTime(row[time] ?? ''))) untimed += 1;
      for (const [subject, column] of subjects) {
        const value = read[subject](row[column] ?? '');
        const counted = value.length > longest ? `${value.slice(0, longest)}…` : value;
        const counts = values.get(subject);
        if (counted !== '' && counts && (counts.size < mostDifferent || counts.has(counted)))
          counts.set(counted, (counts.get(counted) ?? 0) + 1);
      }
    },
    result: (): EventFigures => ({
      bars: bars.result(),
      untimed,
      top: Object.fromEntries([...values].map(([subject, counts]) => [subject, rank(counts)])),
    }),
  };
}

/** The most frequent first. Equal counts are ordered by value, so that the same log always gives the same answer. */
function rank(counts: ReadonlyMap<string, number>): (readonly [string, number])[] {
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, shown);
}

const asWritten = (cell: string): string => cell;
/** How a cell is counted: one address once, however it is written, and URLs without what may be a secret in them. */
const read: Readonly<Record<EventSubject, (cell: string) => string>> = {
  action: asWritten,
  country: asWritten,
  rule: asWritten,
  ip: (cell) => findAddress(cell) ?? cell,
  url: (cell) => (redactUrl(cell).split(/[?#]/u, 1)[0] ?? '').replaceAll(/=[^/&;]+/gu, '=…'),
};

/**
 * The time of a cell, epoch ms; NaN for other text. A time without a zone is UTC. A number is in seconds, milliseconds,
 * microseconds or nanoseconds by its size.
 */
function readTime(cell: string): number {
  const text = cell.trim();
  if (text.length > 64) return Number.NaN;
  if (/^\d{9,19}(?:\.\d+)?$/u.test(text)) return toEpochMs(Number(text));
  if (/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/u.test(text))
    return Date.parse(`${text.replace(' ', 'T')}Z`);
  // `Date.parse` accepts bare numbers and words with a number: require a separator between digits.
  return /\d[-/: ]\d/u.test(text) ? Date.parse(text) : Number.NaN;
}

const barMinutes = [10, 20, 30, 60, 120, 180, 240, 360, 720];
/** As many as a phone shows with their labels. */
const mostBars = 8;

/** Counts times in equal buckets over a window. `add` is false for a time outside of it. */
function createBars({ from, to }: Pick<ExportRequest, 'from' | 'to'>) {
  const [first, last] = [from.getTime(), to.getTime() - 1];
  const indexOf = (at: number, size: number): number => Math.floor(at / size) - Math.floor(first / size);
  const size =
    barMinutes.map((minutes) => minutes * minuteMs).find((one) => indexOf(last, one) < mostBars) ??
    Math.ceil((last - first) / dayMs / (mostBars - 1)) * dayMs;
  const counts = Array.from({ length: indexOf(last, size) + 1 }, () => 0);
  let isEmpty = true;
  return {
    add(at: number): boolean {
      const index = indexOf(at, size);
      if (counts[index] === undefined) return false;
      counts[index] += 1;
      isEmpty = false;
      return true;
    },
    result: (): EventFigures['bars'] =>
      isEmpty ? undefined : { from: Math.floor(first / size) * size, minutes: size / minuteMs, counts },
  };
}
