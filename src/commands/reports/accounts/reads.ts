import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Cdn, CdnClient } from '../../../api/cdn.ts';
import { ApiError } from '../../../api/http/errors.ts';
import type { ErrorBudget } from '../../../api/http/request.ts';
import type { Certificate } from '../../../api/zones/pull-zones.ts';
import { type Person, personKey, tenantId } from '../../../auth/identity.ts';
import { type KeyStore, requireKey } from '../../../auth/keys/key-store.ts';
import type { OffboardingHook } from '../../../auth/offboarding.ts';
import { UserError } from '../../../errors.ts';
import { createCache } from '../../../lib/cache.ts';
import { hourMs, toUtcDay } from '../../../lib/time.ts';
import type { Db } from '../../../store/schema.ts';
import { formatInteger, formatUtc } from '../../../views/blocks/format.ts';
import type { SettingsHistory, SettingsReads } from '../../zones/history.ts';
import type { ZoneList, ZoneLists } from '../../zones/zone-cache.ts';
import { type ErrorCounts, findKnownZones, readErrorDays, sumRecentErrors } from './error-days.ts';

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
const smallSize = 10;

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
  const results = createCache<{ readonly value: unknown; readonly size: number }>({
    now,
    maxSize,
    sizeOf: ({ size }) => size,
    ttlMs: recentMs,
  });
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
    const read = async <T>(
      operation: string,
      id: string,
      start: (client: CdnClient) => Promise<T>,
      sizeOf: (value: T) => number = () => smallSize,
    ): Promise<T> => {
      const load = async () => {
        const value = await start(cdn.withKey(key, signal, counted));
        return { value, size: sizeOf(value) };
      };
      try {
        const shared = [owner, version, operation, id, own].join('\n');
        return (await results.load(shared, load, { signal })).value as T;
      } catch (error) {
        throw signal.aborted ? new ApiError({ code: 'cancelled', operation, sent: true }) : error;
      }
    };
    const readZones = () =>
      read(
        'List Pull Zones',
        '',
        async ({ pullZones }) => {
          const [takenAt, before] = [now(), drops];
          const list = await pullZones.all();
          if (drops === before) zoneLists.set(owner, { ...list, takenAt }, version);
          return list;
        },
        ({ zones }) => zones.length,
      );
    return {
      pullZones: {
        async all(): Promise<ZoneList> {
          const known = isFresh ? undefined : zoneLists.get(owner, version);
          const isRecent = known && now().getTime() - known.takenAt.getTime() < recentMs;
          return isRecent ? known : readZones();
        },
        /** The answer carries private keys, which are dropped unread: only for those who ask for it. */
        certificates: (): Promise<readonly Certificate[]> =>
          read(
            'List Pull Zones',
            'certificates',
            ({ pullZones }) => pullZones.certificates(),
            (certificates) => certificates.length,
          ),
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
          ({ size }) => size,
        ),
      knownZones: () => findKnownZones(db, { person, fingerprint }, now()),
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
    .values({ tenant: tenantId(person), user_id: person.userId, hour, requests: 1 })
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
