import type { Cdn, CdnClient } from '../../../api/cdn.ts';
import type { ErrorBudget } from '../../../api/http/retry.ts';
import type { Certificate } from '../../../api/zones/certificates.ts';
import { type Person, personKey } from '../../../auth/identity.ts';
import { type KeyStore, requireKey } from '../../../auth/keys/key-store.ts';
import type { OffboardingHook } from '../../../auth/offboarding.ts';
import { createCache } from '../../../lib/cache.ts';
import { toUtcDay } from '../../../lib/time.ts';
import { registerShown } from '../../../secrets/secret.ts';
import type { Db } from '../../../store/schema.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { SettingsHistory, SettingsReads } from '../../zones/history/history.ts';
import type { ZoneList, ZoneLists } from '../../zones/zone-lists.ts';
import { createBudgets, describeBudget } from './budget.ts';
import { countDays, type ErrorCounts, findDays, findFailingZones, readErrorDays } from './error-days.ts';
import { createSharedReads, type KeptResult, recentMs } from './shared-reads.ts';

/**
 * The account of one person, as one job reads it: the operations of the CDN's client, except that what several jobs read
 * at about the same time is requested once. Results may be a minute old. Each throws what the client throws, and
 * BudgetSpent where jobs have sent what they may in this hour.
 */
export interface AccountReads {
  readonly pullZones: {
    readonly all: () => Promise<ZoneList>;
    /** The answer carries private keys, which are dropped unread: only for those who ask for it. */
    readonly certificates: () => Promise<readonly Certificate[]>;
  };
  readonly apps: Pick<CdnClient['apps'], 'summary'>;
  readonly uploadScanning: Pick<CdnClient['uploadScanning'], 'metrics'>;
  /** Origin errors of a zone, counted up to now, from `since` (epoch ms, at most a week ago) on. */
  readonly errors: (zoneId: string, since?: number) => Promise<ErrorCounts>;
  /** Zones that had errors when they were read last. */
  readonly failingZones: () => Promise<ReadonlySet<string>>;
  readonly settings: SettingsReads;
}

/** What reports read of an account, be it in a job or, in a preview, with the client of a command. */
export type ReportReads = Pick<
  AccountReads,
  'apps' | 'uploadScanning' | 'errors' | 'failingZones' | 'settings'
> & {
  readonly pullZones: Pick<AccountReads['pullZones'], 'all'>;
};

export type Accounts = ReturnType<typeof createAccountReads>;

/** Of all results but zone lists together, in zones of a list: about 12 MB. */
const maxSize = 20_000;
/** The weight of an answer about one app or shield zone. */
const smallSize = 10;

interface Result {
  readonly value: unknown;
  readonly size: number;
  readonly begun: Date;
}

/** Opens accounts for jobs. An account is a person's linked key: after it is replaced nothing is shared with before. */
export function createAccountReads(options: {
  readonly cdn: Cdn;
  readonly keyStore: KeyStore;
  readonly settingsHistory: SettingsHistory;
  readonly zoneLists: ZoneLists;
  readonly db: Db;
  readonly now: () => Date;
  readonly log: Log;
}) {
  const { cdn, keyStore, settingsHistory, zoneLists, db, now } = options;
  const shared = createSharedReads(now);
  const age = (since: Date): number => now().getTime() - since.getTime();
  const results = createCache<Result>({
    now,
    maxSize,
    sizeOf: ({ size }) => size,
    ttlMs: ({ begun }) => recentMs - age(begun),
  });
  const budgets = createBudgets(options);

  /**
   * The account of a person. `signal` aborts this job's reads with ApiError `cancelled`; `budget` bounds its failed
   * requests; `isFresh`: somebody waits for what is there now, so nothing of before is used. Throws a UserError where no key
   * is connected, and LinkedKeyError.
   */
  async function open(
    person: Person,
    signal: AbortSignal,
    budget?: ErrorBudget,
    isFresh = false,
  ): Promise<AccountReads> {
    const { key, version, fingerprint } = await requireKey(keyStore, person);
    const count = await budgets.open(person);
    const counted: ErrorBudget = {
      spent: () => budget?.spent() ?? 0,
      spend(attempt) {
        const send = () => {
          count();
          return attempt();
        };
        return budget ? budget.spend(send) : send();
      },
    };
    const client = (until: AbortSignal): CdnClient => cdn.withKey(key, until, counted);
    const owner = personKey(person);
    const keyOf = (operation: string, id: string): string => [owner, version, operation, id].join('\n');
    const read = <T>(
      operation: string,
      id: string,
      start: (until: AbortSignal) => Promise<T>,
      sizeOf: (value: T) => number = () => smallSize,
    ): Promise<T> => {
      const key = keyOf(operation, id);
      const kept: KeptResult<T> = {
        get: () => (isFresh ? undefined : (results.get(key)?.value as T | undefined)),
        set: (value, begun) => results.set(key, { value, size: sizeOf(value), begun }),
      };
      return shared.read({ key, operation, start, kept }, signal);
    };
    const zoneList: KeptResult<ZoneList> = {
      get() {
        const list = isFresh ? undefined : zoneLists.get(owner, version);
        return list && age(list.takenAt) < recentMs ? list : undefined;
      },
      set: (list, begun) => zoneLists.set(owner, { ...list, takenAt: begun }, version),
    };
    return {
      pullZones: {
        async all() {
          const operation = 'List Pull Zones';
          const list = await shared.read<ZoneList>(
            {
              key: keyOf(operation, ''),
              operation,
              start: (until) => client(until).pullZones.all(),
              kept: zoneList,
            },
            signal,
          );
          // Also in a job that did not request it.
          registerShown(list.zones);
          return list;
        },
        certificates: () =>
          read(
            'List Pull Zones',
            'certificates',
            (until) => client(until).pullZones.certificates(),
            (certificates) => certificates.length,
          ),
      },
      apps: {
        summary: (id) => read('Get Application Usage Summary', id, (until) => client(until).apps.summary(id)),
      },
      uploadScanning: {
        metrics: (id) =>
          read('Get upload scanning metrics', id, (until) => client(until).uploadScanning.metrics(id)),
      },
      async errors(zoneId, since) {
        const operation = 'Get origin error logs';
        const readFrom = (from?: number) =>
          read(
            operation,
            from === undefined ? zoneId : `${zoneId} from ${toUtcDay(new Date(from))}`,
            (until) => {
              const { originErrors } = client(until);
              return readErrorDays({ db, now, person, fingerprint, originErrors }, zoneId, from);
            },
            ({ size }) => size,
          );
        if (since === undefined) return readFrom();
        const known = results.get(keyOf(operation, zoneId))?.value as ErrorCounts | undefined;
        return !isFresh && known && known.since <= since ? known : readFrom(since);
      },
      failingZones: () => findFailingZones(db, { person, fingerprint }, now()),
      settings: {
        look(zones) {
          const ids = zones?.map(({ id }) => id).toSorted();
          return read('Look at settings', ids?.join(' ') ?? '', (until) =>
            settingsHistory.look(person, client(until), zones),
          );
        },
        list: (query) => settingsHistory.list(person, query),
      },
    };
  }

  /** Forgets all that was read with keys that are gone, what looks have found included. */
  const drop: OffboardingHook = async ({ person, tenant }) => {
    const owner = person ? `${personKey(person)}\n` : `${tenant}/`;
    const isGone = (key: string): boolean => `${key}\n`.startsWith(owner);
    shared.drop(isGone);
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
    /** For a preview: counts with the person's own client on top of what jobs know, and stores nothing. */
    async preview(
      person: Person,
      { originErrors }: CdnClient,
    ): Promise<Pick<AccountReads, 'errors' | 'failingZones'>> {
      const { fingerprint } = await requireKey(keyStore, person);
      const owner = { person, fingerprint };
      return {
        async errors(zoneId, since) {
          const at = now();
          const known = await findDays(db, owner, zoneId, at);
          return (await countDays(originErrors, zoneId, { known, at, since })).counts;
        },
        failingZones: () => findFailingZones(db, owner, now()),
      };
    },
    /** How much jobs have read for a person in this hour. */
    describeBudget: (person: Person) => describeBudget(db, person, now()),
    /** Stores the requests that are counted. */
    stop: budgets.flush,
  };
}
