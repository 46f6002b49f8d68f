import type { Collected, CollectInput } from '../model.ts';
import type { Comparison } from './figures.ts';

export const dayMs = 86_400_000;

/** Runs closer together than this (somebody pressed “Run now”) say the same once more: of those the newest counts. */
export const apartMs = dayMs / 4;

/** Figures of one kind at an earlier run. */
export interface Past<T> {
  readonly at: number;
  readonly figures: T;
}

export interface Earlier<T> {
  /** The newest. */
  readonly previous: Past<T> | undefined;
  /** The newest that is some hours old: what something a day is counted from. */
  readonly base: Past<T> | undefined;
  readonly weekBefore: Past<T> | undefined;
  /** Newest first, some hours apart. */
  readonly series: readonly Past<T>[];
}

/** What earlier runs found of one kind. `pick` gives nothing where they asked for something else. */
export function findEarlier<T>(
  { history, now, sameWeekday }: Pick<CollectInput, 'history' | 'now' | 'sameWeekday'>,
  pick: (figures: Collected) => T | undefined,
): Earlier<T> {
  const read = (figures: Collected): Past<T>[] => {
    const picked = pick(figures);
    const at = Date.parse(figures.at);
    return picked === undefined || at > now.getTime() ? [] : [{ at, figures: picked }];
  };
  const all = history.flatMap(({ figures }) => read(figures));
  const series: Past<T>[] = [];
  for (const past of all) {
    const later = series.at(-1)?.at ?? now.getTime();
    if (later - past.at >= apartMs) series.push(past);
  }
  const weekBefore = sameWeekday && read(sameWeekday.figures)[0];
  return {
    previous: all[0],
    base: series[0],
    // Of a weekly digest the run before is that one: told once.
    weekBefore: weekBefore?.at === series[0]?.at ? undefined : weekBefore,
    series,
  };
}

/** The whole days that a run speaks of: those since the run before it, from 1 to 7. */
export function countDaysSince(base: Past<unknown> | undefined, now: Date): number {
  if (!base) return 1;
  return Math.min(7, Math.max(1, Math.round((now.getTime() - base.at) / dayMs)));
}

/** A number with what it was in earlier runs. `floor`: less than that is noise, in its own unit. */
export function compareWithPast<T>(
  now: number,
  past: Earlier<T>,
  read: (figures: T) => number | undefined,
  floor: number,
): Comparison {
  const before = past.base && read(past.base.figures);
  const weekBefore = past.weekBefore && read(past.weekBefore.figures);
  const series = past.series.flatMap(({ figures }) => read(figures) ?? []);
  const usual = findOutlier(now, { series, weekBefore, floor });
  return {
    now,
    ...(before === undefined ? {} : { before }),
    ...(weekBefore === undefined ? {} : { weekBefore }),
    ...(usual === undefined ? {} : { usual }),
  };
}

const fewest = 5;
const newest = 28;
const threshold = 3.5;
/** Makes MAD estimate the standard deviation of what is spread normally. */
const consistency = 0.6745;
const smallestSpread = 0.05;

/**
 * The median of the newest 28 runs where `value` is far from it, else undefined. Far is a modified z-score,
 * 0.6745 × |value − median| ÷ MAD, above 3.5 (Iglewicz and Hoaglin, 1993), from 5 runs on. MAD is the median distance
 * from the median and counts as 5 % of the median where it is smaller, so that in a flat series (MAD 0) nothing below
 * 26 % is called unusual; nor is what differs by less than `floor`, for which nobody would get up. What was about the
 * same a week before (within 25 %) is usual for its weekday.
 */
export function findOutlier(
  value: number,
  past: {
    readonly series: readonly number[];
    readonly weekBefore?: number | undefined;
    readonly floor: number;
  },
): number | undefined {
  const series = past.series.slice(0, newest);
  if (series.length < fewest) return undefined;
  const middle = median(series);
  const mad = median(series.map((one) => Math.abs(one - middle)));
  const spread = Math.max(mad, Math.abs(middle) * smallestSpread);
  const distance = Math.abs(value - middle);
  if (distance <= past.floor || consistency * distance <= threshold * spread) return undefined;
  const { weekBefore } = past;
  if (weekBefore !== undefined && !differs(value, weekBefore, past.floor)) return undefined;
  return middle;
}

/**
 * Whether a number changed so much that it counts as a change: by a quarter of what it is compared with (the same
 * weekday where that is known, else the previous run) and by more than noise; or it is an outlier. Less is told beside
 * the number, and breaks no silence.
 */
export function hasMoved({ now, before, weekBefore, usual }: Comparison, floor: number): boolean {
  if (usual !== undefined) return true;
  const other = weekBefore ?? before;
  return other !== undefined && differs(now, other, floor);
}

function differs(one: number, other: number, floor: number): boolean {
  const by = Math.abs(one - other);
  return by > floor && by > Math.abs(other) * 0.25;
}

/** Less than this is noise: bytes, dollars, errors and blocked uploads a day; a share; latency as reported. */
export const estimateNoise = {
  bytes: 1e9,
  dollars: 1,
  errors: 10,
  blocked: 5,
  share: 0.01,
  latency: 0,
} as const;

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
