import { createSeenIds } from '../../../api/origin-errors/counts.ts';
import type { OriginErrors } from '../../../api/origin-errors/origin-errors.ts';
import { type Person, tenantId } from '../../../auth/identity.ts';
import { dayMs, minuteMs, shiftDay, startOfDay, toUtcDay } from '../../../lib/time.ts';
import type { Db } from '../../../store/schema.ts';
import type { KnownOfZones } from '../../origin-errors/choose-zones.ts';

/** Entries arrive up to so late: yesterday is read again until this long after midnight (UTC). */
export const settleMs = 15 * minuteMs;
const bucketMs = 5 * minuteMs;
/** After a longer gap between two readings counting starts again. */
const mostDays = 7;
/** Counts are kept for so many days, codes for four weeks. */
const keptDays = 8;
export const rememberedDays = 28;
/** A service has about ten codes; more is noise, and counts as entries without a code. */
const mostCodes = 40;
const maxCodeLength = 100;

interface DayCounts {
  /** Entries by code (`''` where none is reported), in buckets of five minutes since 1970. */
  readonly codes: Readonly<Record<string, readonly (readonly [bucket: number, count: number])[]>>;
  readonly undated: number;
  readonly hasMore: boolean;
}

/** One UTC day (`2026-11-20`) of a zone's log, counted by a reading that began at `readAt`, epoch ms. */
export interface ErrorDay extends DayCounts {
  readonly day: string;
  readonly readAt: number;
  /** When a reading first found each code, epoch ms; 0 where it was there at the first reading of all. */
  readonly noticed: Readonly<Record<string, number>>;
}

export type ErrorCounts = ReturnType<typeof toCounts>;

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

/** Reads the days that can have new entries, and unknown ones from `since` on; returns all that is stored of the zone. @throws ApiError */
export async function readErrorDays(
  { db, now, originErrors, ...owner }: Options,
  zoneId: string,
  since?: number,
): Promise<ErrorCounts> {
  const at = now();
  const known = await findDays(db, owner, zoneId, at);
  const days = new Map(known.map((one) => [one.day, one]));
  for (const { day, isNew } of listDaysToRead({ known, at, since })) {
    const one = await countDay(originErrors, zoneId, day, { before: days.get(day), at, isNew });
    await storeDay(db, owner, zoneId, one);
    days.set(day, one);
  }
  return toCounts([...days.values()], at);
}

interface Wanted {
  readonly known: readonly ErrorDay[];
  readonly at: Date;
  readonly since?: number | undefined;
}

/**
 * Unknown days from `since` on, then those since the last reading: yesterday until it has settled, and today. At first, and
 * after a gap of a week, two days. `isNew`: what is found there may be new to the zone.
 */
export function listDaysToRead({ known, at, since }: Wanted) {
  const today = toUtcDay(at);
  const newest = Math.max(Number.NEGATIVE_INFINITY, ...known.map(({ readAt }) => readAt));
  const last = Math.min(at.getTime(), newest);
  const isFirst = last <= at.getTime() - mostDays * dayMs;
  const first = isFirst ? shiftDay(today, -1) : toUtcDay(new Date(last - settleMs));
  const wanted = Math.max(since ?? at.getTime(), at.getTime() - mostDays * dayMs);
  const days: { readonly day: string; readonly isNew: boolean }[] = [];
  for (
    let day = toUtcDay(new Date(Math.min(wanted, startOfDay(first))));
    day <= today;
    day = shiftDay(day, 1)
  )
    if (day >= first || !known.some((one) => one.day === day))
      days.push({ day, isNew: !isFirst && day >= first });
  return days;
}

/** Counts one download of a day, which replaces the one before: an entry counts once, on its own day. */
export async function countDay(
  originErrors: OriginErrors,
  zoneId: string,
  day: string,
  about: { readonly before?: ErrorDay | undefined; readonly at: Date; readonly isNew: boolean },
): Promise<ErrorDay> {
  const { before, at, isNew } = about;
  const readAt = at.getTime();
  const ids = createSeenIds();
  const codes = new Map<string, Map<number, number>>();
  const start = startOfDay(day);
  let undated = 0;
  const { moreExist, skipped } = await originErrors.forEach(
    zoneId,
    day,
    ({ id, at: moment, errorCode = '' }) => {
      if (id !== '' && !ids.isNew(id)) return;
      if (moment !== undefined && (moment < start || moment >= start + dayMs)) return;
      const short = errorCode.slice(0, maxCodeLength);
      const code = codes.has(short) || codes.size < mostCodes ? short : '';
      const counts = codes.get(code) ?? new Map<number, number>();
      codes.set(code, counts);
      if (moment === undefined) undated += 1;
      else counts.set(Math.floor(moment / bucketMs), (counts.get(Math.floor(moment / bucketMs)) ?? 0) + 1);
    },
  );
  const noticed: Record<string, number> = { ...before?.noticed };
  for (const code of codes.keys()) noticed[code] ??= isNew ? readAt : 0;
  return {
    day,
    readAt,
    noticed,
    codes: Object.fromEntries([...codes].map(([code, counts]) => [code, [...counts]])),
    undated: undated + skipped,
    hasMore: moreExist,
  };
}

export function toCounts(all: readonly ErrorDay[], at: Date) {
  const days = all
    .filter(({ day }) => startOfDay(day) > at.getTime() - (keptDays + 1) * dayMs)
    .toSorted((a, b) => (a.day < b.day ? 1 : -1));
  const gap = days.findIndex(({ day }, nth) => nth > 0 && shiftDay(day, 1) !== days[nth - 1]?.day);
  const inRow = gap === -1 ? days : days.slice(0, gap);
  const since = startOfDay(inRow.at(-1)?.day ?? toUtcDay(at));
  const touching = (from: number, to = Number.POSITIVE_INFINITY) =>
    inRow.filter(({ day }) => startOfDay(day) < to && startOfDay(day) + dayMs > from);
  const noticed = new Map<string, number>();
  for (const one of all)
    for (const [code, moment] of Object.entries(one.noticed))
      noticed.set(code, Math.min(moment, noticed.get(code) ?? moment));
  return {
    asOf: at,
    since,
    /** When a reading first found each code of the last 28 days, epoch ms; 0: at the first reading. */
    noticed: noticed as ReadonlyMap<string, number>,
    /**
     * Entries of whole buckets from `from` until before `to`, epoch ms. `partial`: at least so many. `undated`: entries of these
     * days without a readable time.
     */
    sum(from: number, to = Number.POSITIVE_INFINITY) {
      const [first, end] = [Math.floor(from / bucketMs), Math.floor(to / bucketMs)];
      const codes = new Map<string, number>();
      let total = 0;
      for (const one of touching(from, to))
        for (const [code, counts] of Object.entries(one.codes))
          for (const [bucket, count] of counts) {
            if (bucket < first || bucket >= end) continue;
            total += count;
            codes.set(code, (codes.get(code) ?? 0) + count);
          }
      const touched = touching(from, to);
      const undated = touched.reduce((sum, one) => sum + one.undated, 0);
      const hasMore = touched.some((one) => one.hasMore);
      return { total, codes, undated, hasMore, partial: from < since || hasMore };
    },
    size: 10 + Math.ceil(inRow.reduce((sum, { codes }) => sum + Object.values(codes).flat().length, 0) / 16),
  };
}

/** Four weeks, which have the codes; counts of the last eight days. */
async function findDays(
  db: Db,
  { person, fingerprint }: Owner,
  zoneId: string,
  at: Date,
): Promise<ErrorDay[]> {
  const oldest = shiftDay(toUtcDay(at), -keptDays);
  const rows = await db
    .selectFrom('error_days')
    .select((is) => [
      'day',
      'read_at',
      'noticed',
      is.case().when('day', '>=', oldest).then(is.ref('body')).end().as('body'),
    ])
    .where((is) => is.and({ ...ownerOf(person), zone_id: zoneId, fingerprint }))
    .where('day', '>=', shiftDay(toUtcDay(at), -rememberedDays))
    .execute();
  return rows.map(({ day, read_at, noticed, body }) => ({
    ...(body === null ? { codes: {}, undated: 0, hasMore: false } : (JSON.parse(body) as DayCounts)),
    day,
    readAt: read_at.getTime(),
    noticed: JSON.parse(noticed) as ErrorDay['noticed'],
  }));
}

/** A reading replaces the stored one unless that began later. */
async function storeDay(
  db: Db,
  { person, fingerprint }: Owner,
  zoneId: string,
  { day, readAt, noticed, ...counts }: ErrorDay,
): Promise<void> {
  const reading = {
    fingerprint,
    read_at: new Date(readAt),
    noticed: JSON.stringify(noticed),
    body: JSON.stringify(counts),
  };
  await db
    .insertInto('error_days')
    .values({ ...ownerOf(person), zone_id: zoneId, day, ...reading })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'user_id', 'zone_id', 'day'])
        .doUpdateSet(reading)
        .where((is) =>
          is.or([
            is('error_days.read_at', '<=', reading.read_at),
            is('error_days.fingerprint', '<>', fingerprint),
          ]),
        ),
    )
    .execute();
}

function ownerOf(person: Person) {
  return { tenant: tenantId(person), user_id: person.userId };
}

/** Errors of zones since a moment, as far as jobs of this person have read logs since then. */
export async function sumRecentErrors(
  db: Db,
  { person, fingerprint }: Owner,
  since: Date,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('error_days')
    .select(['zone_id', 'day', 'body'])
    .where((is) => is.and({ ...ownerOf(person), fingerprint }))
    .where('day', '>=', toUtcDay(since))
    .where('read_at', '>', since)
    .execute();
  const sums = new Map<string, number>();
  for (const { zone_id: zone, day, body: stored } of rows) {
    const { codes, undated } = JSON.parse(stored) as DayCounts;
    for (const [bucket, count] of Object.values(codes).flat())
      if (bucket * bucketMs >= since.getTime()) sums.set(zone, (sums.get(zone) ?? 0) + count);
    // Of those without a readable time only the day is known.
    if (undated > 0 && startOfDay(day) >= since.getTime()) sums.set(zone, (sums.get(zone) ?? 0) + undated);
  }
  return sums;
}

/** The zones in whose logs jobs of a person found errors since yesterday, and those that channels are about. */
export async function findKnownZones(db: Db, owner: Owner, at: Date): Promise<KnownOfZones> {
  const yesterday = new Date(startOfDay(toUtcDay(at)) - dayMs);
  const failing = await sumRecentErrors(db, owner, yesterday);
  const channels = db
    .selectFrom('channel_zones')
    .select('zone_id')
    .where('tenant', '=', tenantId(owner.person));
  const ofChannels = (await channels.execute()).map(({ zone_id: zone }) => zone);
  return { failing: new Set(failing.keys()), channels: new Set(ofChannels) };
}
