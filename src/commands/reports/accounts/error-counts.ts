import type { OriginErrors } from '../../../api/origin-errors/origin-errors.ts';
import { dayMs, shiftDay, startOfDay, toUtcDay } from '../../../lib/time.ts';
import type { Db } from '../../../store/schema.ts';
import { createPosition, type StoredPosition, slackMs } from './errors/position.ts';
import {
  type CountsOwner,
  findCounts,
  type KnownCounts,
  type StoredCounts,
  storeCounts,
  storedVersion,
} from './errors/stored-counts.ts';
import { bucketMs, createTally, keptMs, type Tally } from './errors/tally.ts';
import { recentMs } from './shared-reads.ts';

/**
 * Origin errors of one zone as they were counted up to one look: 5-minute buckets of the last two days, hours of the six
 * days before. Moments are rounded down to a bucket; an older hour counts with its beginning.
 */
export interface ErrorCounts {
  /** The moment of the look. */
  readonly asOf: Date;
  /** Counting began here, epoch ms: with the day before the first look, at most eight days ago. */
  readonly since: number;
  /** Entries from `from` until before `to` (epoch ms; default: all later ones), by code, `''` where none is reported. */
  readonly sum: (from: number, to?: number) => ErrorSum;
  /**
   * When each code was seen first, epoch ms; forgotten after four weeks without it. At the first look, which counts two
   * days, codes have been there for nobody knows how long.
   */
  readonly firstSeen: ReadonlyMap<string, number>;
  /** Weight in a cache, in zones of a list. */
  readonly size: number;
}

export interface ErrorSum {
  readonly total: number;
  readonly codes: ReadonlyMap<string, number>;
  /** At least so many: the CDN holds more than it gave, or counting began later. */
  readonly partial: boolean;
}

/** Days of the longest gap between two looks; after a longer one counting begins anew. */
const mostDays = 7;

interface Options extends CountsOwner {
  readonly db: Db;
  readonly now: () => Date;
  readonly originErrors: OriginErrors;
}

/**
 * Brings the counts of a zone up to date: reads the days that can have new entries, and counts those that were not counted.
 * Where another process did the same meanwhile, its counts hold. @throws ApiError, without a change
 */
export async function countErrors(options: Options, zoneId: string): Promise<ErrorCounts> {
  const { db, now } = options;
  for (;;) {
    const at = now();
    const { revision, known } = await findCounts(db, options, zoneId);
    const { counts, result } = await countNew(options.originErrors, zoneId, known, at);
    if (await storeCounts(db, options, zoneId, { revision, lookedAt: at, counts })) return result;
    const { known: theirs } = await findCounts(db, options, zoneId);
    if (theirs && at.getTime() - theirs.lookedAt.getTime() <= recentMs)
      return toResult({ ...theirs, at: theirs.lookedAt, tally: createTally(theirs.tally, at.getTime()) });
  }
}

/** One look, without a database. `counts` is undefined where nothing changed. @throws ApiError */
export async function countNew(
  originErrors: OriginErrors,
  zoneId: string,
  known: KnownCounts | undefined,
  at: Date,
): Promise<{ readonly counts: StoredCounts | undefined; readonly result: ErrorCounts }> {
  const now = at.getTime();
  const today = toUtcDay(at);
  const lastLook = known && Math.min(known.lookedAt.getTime(), now);
  const isKnown = lastLook !== undefined && lastLook > now - mostDays * dayMs;
  const before = isKnown ? known : undefined;
  // Late entries of yesterday arrive until some minutes after midnight.
  const firstDay = isKnown ? toUtcDay(new Date(lastLook - slackMs)) : shiftDay(today, -1);
  const since = before?.since ?? startOfDay(firstDay);
  const begin: StoredPosition = { boundary: since - 1, newest: since - 1, recent: [] };
  const position = createPosition(before?.position ?? begin, now);
  const tally = createTally(before?.tally, now);
  const partialDays = new Set(before?.partialDays);
  const sizeBefore = partialDays.size;
  for (let day = firstDay; day <= today; day = shiftDay(day, 1)) {
    const { moreExist } = await originErrors.forEach(zoneId, day, (entry) => {
      if (position.isNew(entry)) tally.add(entry.errorCode ?? '', entry.at);
    });
    if (moreExist) partialDays.add(day);
  }
  const isChanged = !before || position.counted() > 0 || partialDays.size > sizeBefore;
  const days = [...partialDays].filter((day) => startOfDay(day) > now - (mostDays + 2) * dayMs);
  const counts: StoredCounts | undefined = isChanged
    ? {
        version: storedVersion,
        since,
        partialDays: days,
        position: position.advance(),
        tally: tally.toStored(),
      }
    : undefined;
  return { counts, result: toResult({ at, since, partialDays: days, tally }) };
}

function toResult(found: {
  readonly at: Date;
  readonly since: number;
  readonly partialDays: readonly string[];
  readonly tally: Tally;
}): ErrorCounts {
  const { at, partialDays, tally } = found;
  const { codes } = tally;
  const since = Math.max(found.since, at.getTime() - keptMs);
  const isPartial = (from: number, to: number): boolean =>
    from < since || partialDays.some((day) => startOfDay(day) < to && startOfDay(day) + dayMs > from);
  const size = [...codes.values()].reduce((sum, { buckets }) => sum + buckets.size, 0);
  return {
    asOf: at,
    since,
    sum(from, to = Number.POSITIVE_INFINITY) {
      const sums = new Map<string, number>();
      let total = 0;
      const [first, end] = [Math.floor(from / bucketMs), Math.floor(to / bucketMs)];
      for (const [code, { buckets }] of codes) {
        let sum = 0;
        for (const [bucket, count] of buckets) if (bucket >= first && bucket < end) sum += count;
        if (sum > 0) sums.set(code, sum);
        total += sum;
      }
      return { total, codes: sums, partial: isPartial(from, to) };
    },
    firstSeen: new Map([...codes].map(([code, { first }]) => [code, first])),
    size: Math.ceil(size / 16),
  };
}
