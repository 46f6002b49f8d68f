import { dayMs, hourMs, minuteMs } from '../../../../lib/time.ts';

/** The length of a bucket. */
export const bucketMs = 5 * minuteMs;
/** Counts older than the first go by hour, those older than the second are dropped; codes are known for longer. */
const fineMs = 2 * dayMs;
export const keptMs = 8 * dayMs;
const rememberedMs = 28 * dayMs;
/** A service has about ten codes; more is noise. */
const mostCodes = 40;
/** Codes beyond that number, together. */
export const otherCodes = '(other codes)';
const maxCodeLength = 100;

/** A tally as it is stored. */
export interface StoredTally {
  /** Counts in pairs: buckets since the one before, and entries. The first bucket is counted from 1970. */
  readonly codes: readonly (readonly [
    code: string,
    first: number,
    last: number,
    counts: readonly number[],
  ])[];
}

interface CodeTally {
  /** Epoch ms of its first and newest entry. */
  first: number;
  last: number;
  /** By bucket since 1970; where it is by hour, in the first bucket of the hour. */
  readonly buckets: Map<number, number>;
}

/** Origin errors of one zone in buckets of five minutes, by code, `''` where none is reported. */
export type Tally = ReturnType<typeof createTally>;

export function createTally(stored: StoredTally | undefined, now: number) {
  const codes = new Map<string, CodeTally>();
  for (const [code, first, last, counts] of stored?.codes ?? [])
    codes.set(code, { first, last, buckets: decodeCounts(counts) });
  const findCode = (name: string, at: number): CodeTally => {
    const known = codes.get(name);
    if (known) return known;
    if (codes.size >= mostCodes && name !== otherCodes) return findCode(otherCodes, at);
    const code = { first: at, last: at, buckets: new Map<number, number>() };
    codes.set(name, code);
    return code;
  };

  /** Older counts go by hour, then they go. */
  const forget = (): void => {
    const fine = Math.floor((now - fineMs) / hourMs) * (hourMs / bucketMs);
    const oldest = Math.floor((now - keptMs) / bucketMs);
    for (const [name, { last, buckets }] of codes) {
      for (const [bucket, count] of buckets) {
        const hour = bucket - (bucket % (hourMs / bucketMs));
        if (bucket >= fine || (bucket === hour && bucket >= oldest)) continue;
        buckets.delete(bucket);
        if (bucket >= oldest) buckets.set(hour, (buckets.get(hour) ?? 0) + count);
      }
      if (last < now - rememberedMs) codes.delete(name);
    }
  };

  return {
    codes: codes as ReadonlyMap<string, Readonly<CodeTally>>,
    add(code: string, at: number): void {
      const tally = codes.get(code) ?? findCode(code.slice(0, maxCodeLength), at);
      if (at < tally.first) tally.first = at;
      if (at > tally.last) tally.last = at;
      const bucket = Math.floor(at / bucketMs);
      tally.buckets.set(bucket, (tally.buckets.get(bucket) ?? 0) + 1);
    },
    toStored(): StoredTally {
      forget();
      return {
        codes: [...codes].map(([code, { first, last, buckets }]) => [
          code,
          first,
          last,
          encodeCounts(buckets),
        ]),
      };
    },
  };
}

function encodeCounts(buckets: ReadonlyMap<number, number>): number[] {
  let before = 0;
  return [...buckets]
    .sort(([a], [b]) => a - b)
    .flatMap(([bucket, count]) => {
      const distance = bucket - before;
      before = bucket;
      return [distance, count];
    });
}

function decodeCounts(counts: readonly number[]): Map<number, number> {
  const buckets = new Map<number, number>();
  let bucket = 0;
  for (let index = 0; index + 1 < counts.length; index += 2) {
    bucket += counts[index] as number;
    buckets.set(bucket, counts[index + 1] as number);
  }
  return buckets;
}
