import { dayMs } from '../../../lib/time.ts';
import type { Comparison, Named, Point } from '../../../views/reports/digests/comparisons.ts';

/** Runs closer together than this (after “Run now”) repeat each other: the newest of them counts. */
export const apartMs = dayMs / 4;

export type Past<T> = { readonly at: number; readonly figures: T };

export interface Earlier<T> {
  /** When the newest of them was made, as ISO text. */
  readonly since: string | undefined;
  readonly previous: Past<T> | undefined;
  /** The newest that is some hours old: rates a day are counted from it. */
  readonly base: Past<T> | undefined;
  readonly weekBefore: Past<T> | undefined;
  /** Newest first, some hours apart. */
  readonly series: readonly Past<T>[];
}

/** The figures of earlier runs for one part. `pick` returns undefined where a run reported something else. */
export function findEarlier<F, T>(
  { past, weekBefore, now }: { past: readonly Past<F>[]; weekBefore: Past<F> | undefined; now: Date },
  pick: (figures: F, at: number) => T | undefined,
): Earlier<T> {
  const read = ({ figures, at }: Past<F>): Past<T>[] => {
    const picked = at > now.getTime() ? undefined : pick(figures, at);
    return picked === undefined ? [] : [{ at, figures: picked }];
  };
  const all = past.flatMap(read);
  const series: Past<T>[] = [];
  for (const one of all) if ((series.at(-1)?.at ?? now.getTime()) - one.at >= apartMs) series.push(one);
  const [previous] = all;
  const week = weekBefore && read(weekBefore)[0];
  return {
    since: previous && new Date(previous.at).toISOString(),
    previous,
    base: series[0],
    // For a weekly digest the previous run is that one: it is reported once.
    weekBefore: week?.at === series[0]?.at ? undefined : week,
    series,
  };
}

const mostPoints = 20;

/** The values of a chart: those of earlier runs, oldest first, then the latest. */
export function trendOf<T>(
  { series }: Earlier<T>,
  now: Date,
  latest: Comparison | undefined,
  read: (figures: T) => Comparison | undefined,
): Point[] {
  const earlier = series.map(({ at, figures }) => ({ at, compared: read(figures) }));
  const points = [{ at: now.getTime(), compared: latest }, ...earlier].flatMap(({ at, compared }): Point[] =>
    compared ? [[at, compared.now]] : [],
  );
  return points.slice(0, mostPoints).toReversed();
}

/** Compares a number with earlier runs. `floor`, in its own unit: a smaller difference is noise. */
export function compareWithPast<T>(
  now: number,
  past: Earlier<T>,
  read: (figures: T) => Comparison | undefined,
  floor: number,
): Comparison {
  const before = past.base && read(past.base.figures)?.now;
  const weekBefore = past.weekBefore && read(past.weekBefore.figures)?.now;
  const series = past.series.flatMap(({ figures }) => read(figures)?.now ?? []);
  return { now, before, weekBefore, usual: findOutlier(now, { series, weekBefore, floor }) };
}

/**
 * The median of earlier values, and how far from it a value is unusual: a modified z-score, 0.6745 × |value − median| ÷ MAD,
 * above 3.5 (Iglewicz and Hoaglin, 1993). MAD is the median distance from the median, at least 5 % of the median, so that in
 * a flat series nothing below 26 % is unusual. A difference up to `floor` never is.
 */
export function measureBaseline(
  series: readonly number[],
  floor: number,
): { readonly usual: number; readonly range: number } {
  const usual = median(series);
  const mad = median(series.map((one) => Math.abs(one - usual)));
  const spread = Math.max(mad, Math.abs(usual) * 0.05);
  return { usual, range: Math.max(floor, (3.5 * spread) / 0.6745) };
}

const fewestRuns = 5;
const newestRuns = 28;

/**
 * The median of the newest 28 runs where `value` is far from it (`measureBaseline`), from 5 runs on; else undefined. A value
 * within 25 % of the one a week before is not far: that is usual for its weekday.
 */
export function findOutlier(
  value: number,
  about: {
    readonly series: readonly number[];
    readonly weekBefore?: number | undefined;
    readonly floor: number;
  },
): number | undefined {
  const { series, weekBefore, floor } = about;
  if (series.length < fewestRuns) return undefined;
  const { usual, range } = measureBaseline(series.slice(0, newestRuns), floor);
  if (Math.abs(value - usual) <= range) return undefined;
  return weekBefore !== undefined && !differs(value, weekBefore, floor) ? undefined : usual;
}

/**
 * Whether a number changed so much that it counts as a change: by a quarter of what it is compared with (the same
 * weekday where that is known, else the previous run) and by more than noise; or it is an outlier. A smaller difference
 * stands beside the number and breaks no silence.
 */
export function hasMoved(compared: Comparison | undefined, floor: number): boolean {
  if (!compared) return false;
  const { now, before, weekBefore: other = before, usual } = compared;
  return usual !== undefined || (other !== undefined && differs(now, other, floor));
}

function differs(one: number, other: number, floor: number): boolean {
  const by = Math.abs(one - other);
  return by > floor && by > Math.abs(other) * 0.25;
}

/** Smaller differences are noise: bytes, dollars, errors and blocked uploads a day; latency as reported. */
export const noise = { bytes: 1e9, dollars: 1, errors: 10, blocked: 5, latency: 0 } as const;

/** Undefined where none is reported: that is no zero. The sum of no parts is. */
export function sumReported(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((one) => one !== undefined);
  return known.length === 0 && numbers.length > 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
}

export const maxNamed = 10;
const longestName = 60;

export function toNamed({ id, name }: Named): Named {
  return { id, name: flattenName(name) };
}

/** A name that JSON stores without escapes, at most 60 characters. */
export function flattenName(text: string): string {
  const flat = text.replaceAll(/[\p{C}\p{Z}"\\]+/gu, ' ').trim();
  return flat.length > longestName ? flat.slice(0, longestName).replace(/[\uD800-\uDBFF]$/u, '') : flat;
}

/** Of an even number of values the mean of the two in the middle; 0 of none. */
function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
