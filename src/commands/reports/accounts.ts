import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Cdn, CdnClient } from '../../api/cdn.ts';
import { ApiError } from '../../api/http/errors.ts';
import type { ErrorBudget } from '../../api/http/request.ts';
import { createSeenIds } from '../../api/origin-errors/counts.ts';
import type { OriginErrors } from '../../api/origin-errors/origin-errors.ts';
import { ofPerson, type Person, personKey, tenantId } from '../../auth/identity.ts';
import { type KeyStore, requireKey } from '../../auth/keys/key-store.ts';
import type { OffboardingHook } from '../../auth/offboarding.ts';
import { UserError } from '../../errors.ts';
import { createCache } from '../../lib/cache.ts';
import { dayMs, hourMs, minuteMs, shiftDay, startOfDay, toUtcDay } from '../../lib/time.ts';
import type { Db } from '../../store/schema.ts';
import { formatInteger, formatUtc } from '../../views/blocks/format.ts';
import { type KnownOfZones, listNoted } from '../origin-errors/choose-zones.ts';
import type { SettingsHistory, SettingsReads } from '../zones/history.ts';
import type { ZoneList, ZoneLists } from '../zones/zone-cache.ts';

/**
 * The account of one person as a job reads it. What several jobs read within a minute is requested once.
 * Each read throws what the client throws, and BudgetSpent.
 */
export type AccountReads = Awaited<ReturnType<Accounts['open']>>;

export type Accounts = ReturnType<typeof createAccountReads>;

/** Zone lists that commands read are shared as well. */
const recentMs = 60_000;
/** Of all results together, in zones of a list: about 12 MB. A list of more zones is not kept here. */
const maxSize = 20_000;

/** Lists by their length, errors by what they say of themselves. */
function sizeOfResult(result: object): number {
  const { zones, size } = result as { readonly zones?: unknown; readonly size?: number };
  const list = Array.isArray(zones) ? zones : result;
  return size ?? (Array.isArray(list) ? list.length : 10);
}

/** After a key is replaced nothing is shared with before. */
export function createAccountReads(options: {
  readonly cdn: Cdn;
  readonly keyStore: KeyStore;
  readonly settingsHistory: SettingsHistory;
  readonly zoneLists: ZoneLists;
  readonly db: Db;
  readonly now: () => Date;
}) {
  const { cdn, keyStore, settingsHistory, zoneLists, db, now } = options;
  const results = createCache<object>({ now, maxSize, sizeOf: sizeOfResult, ttlMs: recentMs });
  /** A list that was requested before the last drop is not shared. */
  let drops = 0;

  /**
   * `signal` aborts reads with ApiError `cancelled`; `budget` bounds failed requests; `isFresh`: shares nothing. @throws
   * UserError where no key is connected, LinkedKeyError.
   */
  async function open(person: Person, signal: AbortSignal, budget?: ErrorBudget, isFresh = false) {
    const { key, version, fingerprint } = await requireKey(keyStore, person);
    const counted: ErrorBudget = {
      spent: () => budget?.spent() ?? 0,
      spend(attempt) {
        const send = async () => {
          await countRequest(db, person, now());
          return attempt();
        };
        return budget ? budget.spend(send) : send();
      },
    };
    const owner = personKey(person);
    const own = isFresh ? randomUUID() : '';
    const read = async <T extends object>(
      operation: string,
      id: string,
      start: (client: CdnClient) => Promise<T>,
    ): Promise<T> => {
      const load = () => start(cdn.withKey(key, signal, counted));
      try {
        const shared = [owner, version, operation, id, own].join('\n');
        return (await results.load(shared, load, { signal })) as T;
      } catch (error) {
        throw signal.aborted ? new ApiError({ code: 'cancelled', operation, sent: true }) : error;
      }
    };
    const readZones = () =>
      read('List Pull Zones', '', async ({ pullZones }) => {
        const [takenAt, before] = [now(), drops];
        const list = await pullZones.all();
        if (drops === before) zoneLists.set(owner, { ...list, takenAt }, version);
        return list;
      });
    return {
      pullZones: {
        async all(): Promise<ZoneList> {
          const known = isFresh ? undefined : zoneLists.get(owner, version);
          const isRecent = known && now().getTime() - known.takenAt.getTime() < recentMs;
          return isRecent ? known : readZones();
        },
        /** The answer carries private keys, which are dropped unread: only for those who ask for it. */
        certificates: () =>
          read('List Pull Zones', 'certificates', ({ pullZones }) => pullZones.certificates()),
      },
      apps: {
        summary: (id: string) => read('Get Application Usage Summary', id, ({ apps }) => apps.summary(id)),
      },
      uploadScanning: {
        metrics: (id: string) =>
          read('Get upload scanning metrics', id, ({ uploadScanning }) => uploadScanning.metrics(id)),
      },
      /** Origin errors of a zone, counted up to now, from `since` (epoch ms, at most a week ago) on. */
      errors: (zoneId: string, since?: number): Promise<ErrorCounts> =>
        read(
          'Get origin error logs',
          since === undefined ? zoneId : `${zoneId} from ${toUtcDay(new Date(since))}`,
          ({ originErrors }) => readErrorDays({ db, now, person, fingerprint, originErrors }, zoneId, since),
        ),
      /** With the zones that this process showed the person last. */
      async knownZones(): Promise<KnownOfZones> {
        const { failing, asked } = listNoted(zoneLists.noted.get(owner));
        const read = await findKnownZones(db, { person, fingerprint }, now());
        return { ...read, failing: new Set([...read.failing, ...failing]), asked };
      },
      settings: {
        look: (zones?: Parameters<SettingsReads['look']>[0]) =>
          read(
            'Look at settings',
            zones
              ?.map(({ id }) => id)
              .toSorted()
              .join(' ') ?? '',
            (client) => settingsHistory.look(person, client, zones),
          ),
        list: (query) => settingsHistory.list(person, query),
      } satisfies SettingsReads as SettingsReads,
    };
  }

  /** Forgets everything that was read with keys that are gone, stored records included. */
  const drop: OffboardingHook = async ({ person, tenant }) => {
    const owner = person ? `${personKey(person)}\n` : `${tenant}/`;
    const isGone = (key: string): boolean => `${key}\n`.startsWith(owner);
    drops += 1;
    results.drop(isGone);
    zoneLists.drop(isGone);
    const whose = person ? { tenant, user_id: person.userId } : { tenant };
    await db
      .deleteFrom('error_days')
      .where((is) => is.and(whose))
      .execute();
    await settingsHistory.forget({ person, tenant });
  };

  return {
    open,
    drop,
    recentErrors: (owner: { readonly person: Person; readonly fingerprint: string }) =>
      sumRecentErrors(db, owner, new Date(now().getTime() - hourMs)),
  };
}

/** One every three seconds: enough to read 25 logs and a list of 50 pages every five minutes. The service publishes no limit. */
export const requestsPerHour = 1_200;

export class BudgetSpent extends UserError {
  readonly resetsAt: Date;

  constructor(resetsAt: Date) {
    super(
      `Alerts and digests have used all ${formatInteger(requestsPerHour)} background requests of this account this hour. Checks resume at ${formatUtc(resetsAt).slice(11)}.`,
    );
    this.resetsAt = resetsAt;
  }
}

/** Counts one request before it is sent. @throws BudgetSpent */
async function countRequest(db: Db, person: Person, now: Date): Promise<void> {
  const hour = new Date(Math.floor(now.getTime() / hourMs) * hourMs);
  const counted = await db
    .insertInto('read_budgets')
    .values({ ...ofPerson(person), hour, requests: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'user_id', 'hour'])
        .doUpdateSet({ requests: sql`read_budgets.requests + 1` })
        .where('read_budgets.requests', '<', requestsPerHour),
    )
    .returning('requests')
    .executeTakeFirst();
  if (!counted) throw new BudgetSpent(new Date(hour.getTime() + hourMs));
}

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
async function readErrorDays(
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
  // A log does not lose its entries: an empty one after others was not given whole.
  if (before && codes.size === 0 && Object.keys(before.codes).length > 0)
    return { ...before, readAt, hasMore: true };
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
    .where((is) => is.and({ ...ofPerson(person), zone_id: zoneId, fingerprint }))
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
    .values({ ...ofPerson(person), zone_id: zoneId, day, ...reading })
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

/** Errors of zones since a moment, as far as jobs of this person have read logs since then. */
async function sumRecentErrors(
  db: Db,
  { person, fingerprint }: Owner,
  since: Date,
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('error_days')
    .select(['zone_id', 'day', 'body'])
    .where((is) => is.and({ ...ofPerson(person), fingerprint }))
    .where('day', '>=', toUtcDay(since))
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
async function findKnownZones(db: Db, owner: Owner, at: Date) {
  const yesterday = new Date(startOfDay(toUtcDay(at)) - dayMs);
  const failing = await sumRecentErrors(db, owner, yesterday);
  const channels = db
    .selectFrom('channel_zones')
    .select('zone_id')
    .where('tenant', '=', tenantId(owner.person));
  const ofChannels = (await channels.execute()).map(({ zone_id: zone }) => zone);
  return { failing: new Set(failing.keys()), channels: new Set(ofChannels) };
}
