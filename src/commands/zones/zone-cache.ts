import type { AllZones } from '../../api/zones/pull-zones.ts';
import { rankAttention } from '../../api/zones/summary.ts';
import { type Person, personKey } from '../../auth/identity.ts';
import { createCache } from '../../lib/cache.ts';
import { dayMs, minuteMs } from '../../lib/time.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import type { Failure } from '../../views/blocks/failure.ts';

export type ZoneList = Pick<AllZones, 'skipped'> & {
  readonly zones: readonly AllZones['zones'][number][];
  /** The same for everybody with the same key; without it the list belongs to its person only. */
  readonly account?: string | undefined;
};

export interface CachedZones extends ZoneList {
  readonly takenAt: Date;
}

/** A zone that somebody opened lately, or whose errors they saw: it is read first where there are too many. */
export interface NotedZone {
  readonly hasErrors: boolean;
  readonly recent?: { readonly errors: number; readonly at: Date } | undefined;
}

export type ZoneLists = ReturnType<typeof createZoneLists>;

const ttlMs = 5 * minuteMs;

/** The zone lists of this process, one for everybody with the same key, and one bound for all. */
export function createZoneLists(options: { now: () => Date; maxZones?: number }) {
  // A zone takes about 630 bytes of the heap.
  const { now, maxZones = 100_000 } = options;
  const sizeOf = ({ zones }: CachedZones) => zones.length;
  const lists = createCache<CachedZones>({ now, ttlMs, maxSize: maxZones, sizeOf });
  const known = createCache<{ account: string; keyVersion: number | undefined }>({ now, maxEntries: 20_000 });
  // What Home shows of a list, also when it is too old for commands.
  const states = createCache<{ zones: number; attention: number; takenAt: Date }>({
    now,
    ttlMs: dayMs,
    maxEntries: 20_000,
  });
  const noted = createCache<ReadonlyMap<string, NotedZone>>({ now, ttlMs: dayMs, maxEntries: 2_000 });
  return {
    noted,
    /** `keyVersion`: only what a job read with this version of the person's key. */
    get(owner: string, keyVersion?: number): CachedZones | undefined {
      const found = known.get(owner);
      if (!found || (keyVersion !== undefined && found.keyVersion !== keyVersion)) return undefined;
      return lists.get(found.account);
    },
    set(owner: string, list: CachedZones, keyVersion?: number): void {
      const account = list.account ?? owner;
      known.set(owner, { account, keyVersion });
      lists.set(account, list);
      const { zones, takenAt } = list;
      const attention = zones.filter((zone) => rankAttention(zone) > 0).length;
      states.set(owner, { zones: zones.length, attention, takenAt });
    },
    /** What was read last, for a day. */
    state: (owner: string) => states.get(owner),
    /** The next command of this person reads a new list; others with the same key keep theirs. */
    expire: (owner: string): void => known.drop(owner),
    drop(isGone: (owner: string) => boolean): void {
      const gone = new Set<string>();
      known.drop((owner) => {
        if (!isGone(owner)) return false;
        gone.add(known.get(owner)?.account ?? owner);
        return true;
      });
      lists.drop((account) => gone.has(account));
      states.drop(isGone);
      noted.drop(isGone);
    },
    size: (): number => lists.size(),
  };
}

export type LoadOutcome = { readonly list: CachedZones } | { readonly failure: Failure };

export type ZoneCache = ReturnType<typeof createZoneCache>;

export function createZoneCache(options: { now: () => Date; lists?: ZoneLists }) {
  const { now, lists = createZoneLists({ now }) } = options;
  const results = createCache<object>({ now, ttlMs, maxEntries: 200 });
  // A few hundred, as long as a response_url lives; as text, since the collector would walk through the objects.
  const answers = createCache<string>({
    now,
    ttlMs: 30 * minuteMs,
    maxSize: 2_000_000,
    sizeOf: ({ length }) => length,
  });
  // Concurrent loads of a person share one request. A menu asks again at every letter, so failures alone are cached.
  const loads = createCache<LoadOutcome>({
    now,
    ttlMs: 10_000,
    maxSize: 1_000,
    sizeOf: (outcome) => ('list' in outcome ? 1_001 : 1),
  });
  // Counts drops: a command that began before a drop caches nothing, however late its reading arrives.
  let drops = 0;

  /** Of one command. Call it before resolving the key: what is read with a key that is revoked meanwhile is not cached. */
  function forPerson(person: Person) {
    const owner = personKey(person);
    const since = drops;
    const get = (): CachedZones | undefined => lists.get(owner);
    const set = ({ zones, skipped, account }: ZoneList): CachedZones => {
      const cached = { zones, skipped, account, takenAt: now() };
      if (since === drops) lists.set(owner, cached);
      return cached;
    };
    return {
      get,
      set,
      /** For menus, which ask again at every letter. */
      prefetch(read: () => Promise<ZoneList>, explain: (error: unknown) => Failure): Promise<LoadOutcome> {
        const list = get();
        if (list) return Promise.resolve({ list });
        return loads.load(owner, () =>
          read().then(
            (found) => ({ list: set(found) }),
            (error: unknown) => ({ failure: explain(error) }),
          ),
        );
      },
      state: () => lists.state(owner),
      noted: {
        get: () => lists.noted.get(owner) ?? new Map<string, NotedZone>(),
        set: (zones: ReadonlyMap<string, NotedZone>) => {
          if (since === drops) lists.noted.set(owner, zones);
        },
      },
      expire: () => lists.expire(owner),
      /** Other results that buttons of an answer may need again: reports, files. Each must be small. */
      results: <T extends object>(kind: string) => ({
        get: (key: string) => results.get(`${owner}\n${kind}\n${key}`) as T | undefined,
        set: (key: string, value: T) => {
          if (since === drops) results.set(`${owner}\n${kind}\n${key}`, value);
        },
      }),
      /** Answers that the person was shown, so that *Share* shows the same; their files are made again. */
      answers: {
        get: (key: string): Message | undefined => {
          const answer = answers.get(`${owner}\n${key}`);
          return answer === undefined ? undefined : (JSON.parse(answer) as Message);
        },
        set: (key: string, answer: Message) => {
          if (since === drops)
            answers.set(`${owner}\n${key}`, JSON.stringify({ ...answer, files: undefined }));
        },
      },
    };
  }

  function dropWhere(isGone: (key: string) => boolean): void {
    drops += 1;
    for (const cache of [lists, results, answers, loads]) cache.drop(isGone);
  }

  return {
    forPerson,
    drop(person: Person) {
      const owner = personKey(person);
      dropWhere((key) => key === owner || key.startsWith(`${owner}\n`));
    },
    dropTenant: (tenant: string) => dropWhere((key) => key.startsWith(`${tenant}/`)),
  };
}
