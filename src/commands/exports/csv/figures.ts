import { redactUrl } from '../../../api/http/paths.ts';
import { createHeavyHitters } from '../../../lib/heavy-hitters.ts';
import { dayMs, minuteMs, toEpochMs } from '../../../lib/time.ts';
import type { EventFigures, EventSubject } from '../../../views/exports/exports.ts';
import { type EventColumns, findAddress, readHeader } from './columns.ts';

/** Rows are counted by so much: a log of an hour has a chart too. */
const slotMs = 10 * minuteMs;
/** An export covers three days at most; times further apart are no event times. */
const longestMs = 32 * dayMs;
const shown = 5;
/** Different values of a column are counted exactly up to twice as many. */
const kept = 4096;
// Longer values are counted by how they begin.
const longest = 256;

/** Counts the events of a log in bounded memory. Columns may be in any order, and any may be missing. */
export function createEventCounter() {
  const slots = new Map<number, number>();
  const values = new Map<EventSubject, ReturnType<typeof createHeavyHitters>>();
  let columns: EventColumns | undefined;
  let hasBegun = false;
  let broken = 0;
  let untimed = 0;
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;

  const countTime = (cell: string): void => {
    const slot = Math.floor(readTime(cell) / slotMs) * slotMs;
    const [from, to] = [Math.min(first, slot), Math.max(last, slot)];
    if (to - from < longestMs) {
      [first, last] = [from, to];
      slots.set(slot, (slots.get(slot) ?? 0) + 1);
    } else untimed += 1;
  };

  return {
    /** The header first, if the file has one. */
    add(row: readonly string[]): void {
      if (!hasBegun) {
        hasBegun = true;
        columns = readHeader(row);
        for (const [subject] of columns?.subjects ?? []) values.set(subject, createHeavyHitters(kept));
        if (columns) return;
      }
      if (!columns) return;
      if (row.length !== columns.width) broken += 1;
      if (columns.time !== undefined) countTime(row[columns.time] ?? '');
      for (const [subject, column] of columns.subjects) {
        const value = read[subject](row[column] ?? '');
        if (value !== '')
          values.get(subject)?.add(value.length > longest ? `${value.slice(0, longest)}…` : value);
      }
    },
    result: (): EventFigures => ({
      ...countBars(slots, first, last),
      broken,
      untimed,
      top: Object.fromEntries(
        [...values].map(([subject, counter]) => {
          const { words, missed } = counter.top();
          return [subject, { words: words.slice(0, shown), missed }];
        }),
      ),
    }),
  };
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

const bucketMinutes = [10, 20, 30, 60, 120, 180, 240, 360, 720];
/** As many as a phone shows with their labels. */
const mostBars = 8;

/** Equal buckets of the chart. */
function countBars(
  slots: ReadonlyMap<number, number>,
  first: number,
  last: number,
): Pick<EventFigures, 'bars'> {
  if (slots.size === 0) return {};
  const countOf = (size: number): number => (floor(last, size) - floor(first, size)) / size + 1;
  const size =
    bucketMinutes.map((minutes) => minutes * minuteMs).find((one) => countOf(one) <= mostBars) ??
    Math.ceil((last - first) / dayMs / (mostBars - 1)) * dayMs;
  const from = floor(first, size);
  const counts = Array.from({ length: countOf(size) }, () => 0);
  for (const [start, count] of slots) {
    const bar = (floor(start, size) - from) / size;
    counts[bar] = (counts[bar] ?? 0) + count;
  }
  return { bars: { from, minutes: size / minuteMs, counts } };
}

function floor(at: number, size: number): number {
  return Math.floor(at / size) * size;
}
