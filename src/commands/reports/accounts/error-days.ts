import { sql } from 'kysely';
import { z } from 'zod';
import { createSeenIds, findPathPrefix } from '../../../api/origin-errors/counts.ts';
import type { OriginErrors } from '../../../api/origin-errors/origin-errors.ts';
import { type Person, tenantId } from '../../../auth/identity.ts';
import { parseJson } from '../../../lib/canonical-json.ts';
import { createHeavyHitters } from '../../../lib/heavy-hitters.ts';
import { dayMs, minuteMs, shiftDay, startOfDay, toUtcDay } from '../../../lib/time.ts';
import type { Db } from '../../../store/schema.ts';

/** Entries arrive up to so late: yesterday is read again until this long after midnight (UTC). */
export const settleMs = 15 * minuteMs;
/** The length of a bucket. */
const bucketMs = 5 * minuteMs;
/** Days of the longest gap between two readings; after a longer one counting starts again. */
const mostDays = 7;
/** Counts are kept for so many days, the codes of a zone for four weeks. */
const keptDays = 8;
export const rememberedDays = 28;
/** A service has about ten codes; more is noise. */
const mostCodes = 40;
/** Codes beyond that number, together. */
export const otherCodes = '(other codes)';
const maxCodeLength = 100;
const mostPrefixes = 20;

const pairs = z.array(z.tuple([z.number(), z.number()]));
const body = z.object({
  /** Entries by code (`''` where none is reported), in buckets of five minutes since 1970. */
  codes: z.record(z.string(), pairs),
  prefixes: z.array(z.tuple([z.string(), z.number()])),
  /** Entries without a time that can be read. */
  undated: z.number(),
  /** The CDN holds more than it gave. */
  hasMore: z.boolean(),
});
/** When a reading first found each code, epoch ms; 0 where it was there at the first reading of all. */
const noticedCodes = z.record(z.string(), z.number());

/** One UTC day of a zone's log, counted. */
export interface ErrorDay extends z.infer<typeof body> {
  /** `2026-11-20` */
  readonly day: string;
  /** When the reading began, epoch ms. */
  readonly readAt: number;
  readonly noticed: z.infer<typeof noticedCodes>;
}

/** The origin errors of one zone, by day, as far as they were read. */
export interface ErrorCounts {
  readonly asOf: Date;
  /** Counting began here without a gap, epoch ms. */
  readonly since: number;
  /** Entries from `from` until before `to` (epoch ms; default: all later ones), rounded down to whole buckets. */
  readonly sum: (from: number, to?: number) => ErrorSum;
  /** Counts of buckets from `from` until before `to`; `at` is where the bucket begins. */
  readonly forEach: (
    from: number,
    to: number,
    visit: (at: number, count: number, code: string) => void,
  ) => void;
  /** When a reading first found each code of the last 28 days, epoch ms; 0: at the first reading. */
  readonly noticed: ReadonlyMap<string, number>;
  /** Beginnings of addresses on the days from that moment on, the most frequent first. */
  readonly prefixes: (from: number) => (readonly [prefix: string, count: number])[];
  /** Weight in a cache, in zones of a list. */
  readonly size: number;
}

export interface ErrorSum {
  readonly total: number;
  readonly codes: ReadonlyMap<string, number>;
  /** At least so many: the CDN holds more than it gave, or counting began later. */
  readonly partial: boolean;
  /** Entries on these days without a time that can be read: they may belong to it or not. */
  readonly undated: number;
}

/** Whose counts they are: another key of the same person may be of another account, so its days are counted again. */
interface Owner {
  readonly person: Person;
  readonly fingerprint: string;
}

interface Options extends Owner {
  readonly db: Db;
  readonly now: () => Date;
  readonly originErrors: OriginErrors;
}

/**
 * Reads the days that can have new entries, and those from `since` on that are not known, stores them, and returns what is
 * known of the zone. @throws ApiError
 */
export async function readErrorDays(
  { db, now, originErrors, ...owner }: Options,
  zoneId: string,
  since?: number,
): Promise<ErrorCounts> {
  const at = now();
  const known = await findDays(db, owner, zoneId, at);
  const { read, counts } = await countDays(originErrors, zoneId, { known, at, since });
  for (const day of read) await storeDay(db, owner, zoneId, day);
  return counts;
}

const noEntries: z.infer<typeof body> = { codes: {}, prefixes: [], undated: 0, hasMore: false };

interface Wanted {
  readonly known: readonly ErrorDay[];
  readonly at: Date;
  readonly since?: number | undefined;
}

/** Without a database: the days that were read now, and what is known with them. @throws ApiError */
export async function countDays(
  originErrors: OriginErrors,
  zoneId: string,
  wanted: Wanted,
): Promise<{ readonly read: readonly ErrorDay[]; readonly counts: ErrorCounts }> {
  const { known, at } = wanted;
  const read: ErrorDay[] = [];
  for (const { day, isNew } of listDaysToRead(wanted)) {
    const before = known.find((one) => one.day === day);
    read.push(await countDay(originErrors, zoneId, day, { before, at, isNew }));
  }
  const kept = known.filter(({ day }) => !read.some((one) => one.day === day));
  return { read, counts: toCounts([...kept, ...read], at) };
}

/**
 * Today, yesterday until it has settled, and the days since the last reading; at first, and after a gap of a week, two days.
 * Days from `since` on that are not known come before them. `isNew`: what is found there may be new to the zone.
 */
export function listDaysToRead({
  known,
  at,
  since,
}: Wanted): { readonly day: string; readonly isNew: boolean }[] {
  const today = toUtcDay(at);
  const last = Math.min(
    at.getTime(),
    Math.max(Number.NEGATIVE_INFINITY, ...known.map(({ readAt }) => readAt)),
  );
  const isFirst = last <= at.getTime() - mostDays * dayMs;
  const first = isFirst ? shiftDay(today, -1) : toUtcDay(new Date(last - settleMs));
  const earliest = shiftDay(today, -mostDays);
  const wanted = since === undefined ? first : [toUtcDay(new Date(since)), earliest].toSorted().at(-1);
  const days: string[] = [];
  for (let day = [wanted ?? first, first].toSorted()[0] ?? first; day <= today; day = shiftDay(day, 1))
    days.push(day);
  return days
    .filter((day) => day >= first || !known.some((one) => one.day === day))
    .map((day) => ({ day, isNew: !isFirst && day >= first }));
}

/**
 * Counts one download of a day's log over what is known of that day: an entry counts once, on the day of its own time. Where
 * the CDN holds more than it gave, each bucket keeps the larger count. The moment a code was noticed never moves.
 */
export async function countDay(
  originErrors: OriginErrors,
  zoneId: string,
  day: string,
  {
    before,
    at,
    isNew,
  }: { readonly before?: ErrorDay | undefined; readonly at: Date; readonly isNew: boolean },
): Promise<ErrorDay> {
  const readAt = at.getTime();
  const ids = createSeenIds();
  const codes = new Map<string, Map<number, number>>();
  const prefixes = createHeavyHitters(100);
  const start = startOfDay(day);
  let undated = 0;
  const { moreExist } = await originErrors.forEach(zoneId, day, (entry) => {
    if (entry.id !== '' && !ids.isNew(entry.id)) return;
    const { at: moment } = entry;
    if (moment === undefined) undated += 1;
    else if (moment >= start && moment < start + dayMs) {
      const code = findCode(codes, entry.errorCode ?? '');
      const bucket = Math.floor(moment / bucketMs);
      code.set(bucket, (code.get(bucket) ?? 0) + 1);
    } else return;
    const path = entry.path();
    if (path !== undefined) prefixes.add(findPathPrefix(path));
  });
  const noticed: Record<string, number> = { ...before?.noticed };
  for (const code of codes.keys()) noticed[code] ??= isNew ? readAt : 0;
  if (moreExist)
    for (const [code, counts] of Object.entries(before?.codes ?? {})) {
      const own = findCode(codes, code);
      for (const [bucket, count] of counts) own.set(bucket, Math.max(count, own.get(bucket) ?? 0));
    }
  return {
    day,
    readAt,
    noticed,
    codes: Object.fromEntries([...codes].map(([code, counts]) => [code, [...counts]])),
    prefixes: prefixes.top().words.slice(0, mostPrefixes),
    undated,
    hasMore: moreExist,
  };
}

function findCode(codes: Map<string, Map<number, number>>, name: string): Map<number, number> {
  const short = name.slice(0, maxCodeLength);
  const key = codes.has(short) || codes.size < mostCodes ? short : otherCodes;
  const known = codes.get(key) ?? new Map<number, number>();
  codes.set(key, known);
  return known;
}

function toCounts(all: readonly ErrorDay[], at: Date): ErrorCounts {
  const days = all
    .filter(({ day }) => startOfDay(day) > at.getTime() - (keptDays + 1) * dayMs)
    .toSorted((a, b) => (a.day < b.day ? 1 : -1));
  // Newest first, up to the first gap.
  const gap = days.findIndex(({ day }, nth) => nth > 0 && shiftDay(day, 1) !== days[nth - 1]?.day);
  const inRow = gap === -1 ? days : days.slice(0, gap);
  const since = startOfDay(inRow.at(-1)?.day ?? toUtcDay(at));
  const touching = (from: number, to: number) =>
    inRow.filter(({ day }) => startOfDay(day) < to && startOfDay(day) + dayMs > from);
  const noticed = new Map<string, number>();
  for (const one of all)
    for (const [code, moment] of Object.entries(one.noticed))
      noticed.set(code, Math.min(moment, noticed.get(code) ?? moment));
  const forEach: ErrorCounts['forEach'] = (from, to, visit) => {
    const [first, end] = [Math.floor(from / bucketMs), Math.floor(to / bucketMs)];
    for (const one of touching(from, to))
      for (const [code, counts] of Object.entries(one.codes))
        for (const [bucket, count] of counts)
          if (bucket >= first && bucket < end) visit(bucket * bucketMs, count, code);
  };
  return {
    asOf: at,
    since,
    forEach,
    sum(from, to = Number.POSITIVE_INFINITY) {
      const codes = new Map<string, number>();
      let total = 0;
      forEach(from, to, (_, count, code) => {
        total += count;
        codes.set(code, (codes.get(code) ?? 0) + count);
      });
      const touched = touching(from, to);
      return {
        total,
        codes,
        partial: from < since || touched.some(({ hasMore }) => hasMore),
        undated: touched.reduce((sum, one) => sum + one.undated, 0),
      };
    },
    noticed,
    prefixes(from) {
      const sums = createHeavyHitters();
      for (const { prefixes } of touching(from, Number.POSITIVE_INFINITY))
        for (const [prefix, count] of prefixes) sums.add(prefix, count);
      return sums.top().words;
    },
    size: 10 + Math.ceil(inRow.reduce((sum, { codes }) => sum + Object.values(codes).flat().length, 0) / 16),
  };
}

/** The days of the last four weeks; of those whose counts are too old their codes alone. */
export async function findDays(
  db: Db,
  { person, fingerprint }: Owner,
  zoneId: string,
  at: Date,
): Promise<ErrorDay[]> {
  const oldest = (days: number): string => shiftDay(toUtcDay(at), -days);
  const rows = await db
    .selectFrom('error_days')
    .select((is) => [
      'day',
      'read_at',
      'noticed',
      is.case().when('day', '>=', oldest(keptDays)).then(is.ref('body')).else('').end().as('body'),
    ])
    .where((is) => is.and({ ...keyOf(person, zoneId), fingerprint }))
    .where('day', '>=', oldest(rememberedDays))
    .execute();
  return rows.flatMap((row) => {
    const counts = body.safeParse(parseJson(row.body));
    const codes = noticedCodes.safeParse(parseJson(row.noticed));
    if (!codes.success) return [];
    const about = { day: row.day, readAt: row.read_at.getTime(), noticed: codes.data };
    return [{ ...noEntries, ...(counts.success ? counts.data : {}), ...about }];
  });
}

/** A reading replaces the stored one unless that began later. */
async function storeDay(
  db: Db,
  { person, fingerprint }: Owner,
  zoneId: string,
  one: ErrorDay,
): Promise<void> {
  const { day, readAt, noticed, ...counts } = one;
  await db
    .insertInto('error_days')
    .values({
      ...keyOf(person, zoneId),
      day,
      fingerprint,
      read_at: new Date(readAt),
      noticed: JSON.stringify(noticed),
      body: JSON.stringify(counts),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'user_id', 'zone_id', 'day'])
        .doUpdateSet((is) => ({
          fingerprint: is.ref('excluded.fingerprint'),
          read_at: is.ref('excluded.read_at'),
          noticed: is.ref('excluded.noticed'),
          body: is.ref('excluded.body'),
        }))
        .where(
          sql<boolean>`error_days.read_at <= excluded.read_at or error_days.fingerprint <> excluded.fingerprint`,
        ),
    )
    .execute();
}

function keyOf(person: Person, zoneId: string) {
  return { tenant: tenantId(person), user_id: person.userId, zone_id: zoneId };
}

/** The zones in whose logs jobs of a person found errors since yesterday. */
export async function findFailingZones(
  db: Db,
  { person, fingerprint }: Owner,
  at: Date,
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('error_days')
    .select('zone_id')
    .distinct()
    .where((is) => is.and({ tenant: tenantId(person), user_id: person.userId, fingerprint }))
    .where('day', '>=', shiftDay(toUtcDay(at), -1))
    .where('noticed', '<>', '{}')
    .execute();
  return new Set(rows.map(({ zone_id }) => zone_id));
}
