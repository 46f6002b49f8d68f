import { z } from 'zod';
import { dayMs, hourMs, minuteMs } from '../../../lib/time.ts';
import type { EventStats } from './event-stats.ts';

const counted = z.array(z.tuple([z.string(), z.number()]).readonly()).readonly();

export const eventSummarySchema = z.object({
  /** Events in equal buckets, without gaps, the first from this moment on (epoch ms); absent if no time can be read. */
  bars: z
    .object({ from: z.number(), minutes: z.number(), counts: z.array(z.number()).readonly() })
    .optional(),
  /** The hour (UTC) with most events, if there are several. */
  worstHour: z.object({ from: z.number(), count: z.number() }).optional(),
  actions: counted,
  countries: counted,
});
/** What the message of an export tells of its events; it is stored with the outcome. */
export type EventSummary = z.output<typeof eventSummarySchema>;

const mostNamed = 3;
const longestName = 30;

export function summarizeEvents({ slots, top }: Pick<EventStats, 'slots' | 'top'>): EventSummary {
  const name = (found: (typeof top)['action']) =>
    (found?.words ?? [])
      .slice(0, mostNamed)
      .map(([word, count]) => [word.slice(0, longestName), count] as const);
  return { ...countBars(slots), actions: name(top.action), countries: name(top.country) };
}

const bucketMinutes = [10, 20, 30, 60, 120, 180, 240, 360, 720];
/** About twelve, and one more where the window begins within a bucket. */
const mostBars = 13;

function countBars(slots: EventStats['slots']): Pick<EventSummary, 'bars' | 'worstHour'> {
  const [first, last] = [slots[0]?.[0], slots.at(-1)?.[0]];
  if (first === undefined || last === undefined) return {};
  const countOf = (size: number): number => (floor(last, size) - floor(first, size)) / size + 1;
  const size =
    bucketMinutes.map((minutes) => minutes * minuteMs).find((size) => countOf(size) <= mostBars) ??
    Math.ceil((last - first) / dayMs / (mostBars - 1)) * dayMs;
  const from = floor(first, size);
  const counts = Array.from({ length: countOf(size) }, () => 0);
  const hours = new Map<number, number>();
  for (const [start, count] of slots) {
    const bar = (floor(start, size) - from) / size;
    counts[bar] = (counts[bar] ?? 0) + count;
    const hour = floor(start, hourMs);
    hours.set(hour, (hours.get(hour) ?? 0) + count);
  }
  const [worst] = [...hours].toSorted((a, b) => b[1] - a[1]);
  return {
    bars: { from, minutes: size / minuteMs, counts },
    ...(worst && hours.size > 1 ? { worstHour: { from: worst[0], count: worst[1] } } : {}),
  };
}

function floor(at: number, size: number): number {
  return Math.floor(at / size) * size;
}
