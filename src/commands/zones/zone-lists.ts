import type { AllZones } from '../../api/zones/pull-zones.ts';
import { createCache } from '../../lib/cache.ts';
import { minuteMs } from '../../lib/time.ts';

/** Every zone that one key sees. */
export type ZoneList = Pick<AllZones, 'skipped'> & {
  readonly zones: readonly AllZones['zones'][number][];
  /** The same for everybody with the same key; a list without it is of its person alone. */
  readonly account?: string | undefined;
};

/** At one moment. */
export interface CachedZones extends ZoneList {
  readonly takenAt: Date;
}

export type ZoneLists = ReturnType<typeof createZoneLists>;

interface Known {
  readonly account: string;
  /** Of the key that a job read it with; undefined where a person's command did. */
  readonly keyVersion: number | undefined;
}

/** People whose account is known. */
const maxOwners = 20_000;

/**
 * The zone lists that commands show and jobs read, by `personKey`: one for everybody with the same key, and one bound for
 * all, since a zone takes about 630 bytes of the heap.
 */
export function createZoneLists({
  now,
  ttlMs = 5 * minuteMs,
  maxZones = 100_000,
}: {
  readonly now: () => Date;
  readonly ttlMs?: number;
  readonly maxZones?: number;
}) {
  const lists = createCache<CachedZones>({
    now,
    ttlMs,
    maxSize: maxZones,
    sizeOf: ({ zones }) => zones.length,
  });
  const known = createCache<Known>({ now, maxEntries: maxOwners });
  function get(owner: string, keyVersion?: number): CachedZones | undefined {
    const found = known.get(owner);
    if (!found || (keyVersion !== undefined && found.keyVersion !== keyVersion)) return undefined;
    return lists.get(found.account);
  }

  function set(owner: string, list: CachedZones, keyVersion?: number): void {
    const account = list.account ?? owner;
    known.set(owner, { account, keyVersion });
    lists.set(account, list);
  }

  return {
    /** `keyVersion`: only what was read with this version of the person's key. */
    get,
    set,
    /** The next command of this person reads a new list; others with the same key keep theirs. */
    expire: (owner: string): void => known.drop(owner),
    /** Forgets people and what their keys read: others with the same key read it again. */
    drop(isGone: (owner: string) => boolean): void {
      const gone = new Set<string>();
      known.drop((owner) => {
        if (!isGone(owner)) return false;
        gone.add(known.get(owner)?.account ?? owner);
        return true;
      });
      lists.drop((account) => gone.has(account));
    },
    size: (): number => lists.size(),
  };
}
