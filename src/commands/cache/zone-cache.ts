import type { ZoneSummary } from '../../api/zones/summary.ts';
import { type Person, personKey } from '../../auth/identity.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import { createBackgroundLoads, type Load, type LoadOutcome } from './background-loads.ts';
import { type CacheSlot, createResultCache } from './result-cache.ts';

/** Every zone of one account, at one moment. */
export interface CachedZones {
  readonly zones: readonly ZoneSummary[];
  /** Zones that could not be read and are left out. */
  readonly skipped: number;
  readonly takenAt: Date;
}

export interface ZoneCache {
  /** One person's list, for the length of one command. To be asked for before the key is. */
  readonly of: (person: Person) => PersonSnapshots;
  /** Forgets a person's list, also one that is under way: the key it was read with is gone. */
  readonly drop: (person: Person) => void;
  /** The same for everybody of an organisation or workspace. */
  readonly dropTenant: (tenant: string) => void;
  /** Ends what is read in the background and waits until it has ended. */
  readonly stop: () => Promise<void>;
}

interface PersonSnapshots {
  /** What is known and fresh, without asking anybody. */
  readonly peek: () => CachedZones | undefined;
  /** What is known and fresh, else what `load` brings. Those who ask at the same time share one load. */
  readonly get: (load: () => Promise<List>) => Promise<CachedZones>;
  /**
   * For those who cannot wait: what is known and fresh, and what is being read in the background. That is begun here
   * where nothing is known, or where it grows old, so that whoever asks again soon finds a new one.
   */
  readonly warm: (load: Load<List>, explain: (error: unknown) => Failure) => PrefetchedIndex;
  /** Keeps a list that was read already. */
  readonly keep: (list: List) => CachedZones;
  /** Somebody asks for a fresh list: the next `get` loads. */
  readonly renew: () => void;
  /** Whatever else was read for this person and may be shown again: reports, counts. */
  readonly shelf: <T>(name: CacheSlot<T>) => {
    readonly peek: (key: string) => T | undefined;
    readonly keep: (key: string, value: T) => void;
  };
}

/** At least one of them is there. */
export interface PrefetchedIndex {
  readonly known: CachedZones | undefined;
  readonly coming: Promise<LoadOutcome<CachedZones>> | undefined;
}

interface List {
  readonly zones: readonly ZoneSummary[];
  readonly skipped: number;
}

/**
 * Whole zone lists in memory, so that pages, sorting and filters answer at once. Each person has a list of their
 * own, since it shows what their key sees. `lifeMs` after it was read a list is old, and `refreshMs` after it it is
 * read again for whoever uses it; `rows` bounds all of them together, and the one used longest ago goes first.
 */
export function createZoneCache(options: {
  now: () => Date;
  lifeMs?: number;
  refreshMs?: number;
  rows?: number;
}): ZoneCache {
  const { now, lifeMs = 5 * minuteMs, refreshMs = lifeMs * 0.8, rows = 200_000 } = options;
  // A Map keeps its order: the first is the one used longest ago.
  const kept = new Map<string, CachedZones>();
  const loading = new Map<string, Promise<CachedZones>>();
  // Counts drops. What was read with a key that is gone must not be kept, however late it arrives.
  let drops = 0;
  const shelves = createResultCache({ now, lifeMs });
  const readings = createBackgroundLoads<CachedZones>({ now });

  return {
    of(person) {
      const key = personKey(person);
      const since = drops;
      return {
        shelf: (shelf) => ({
          peek: (name) => shelves.peek(shelf, key, name),
          keep: (name, value) => {
            if (since === drops) shelves.keep(shelf, key, name, value);
          },
        }),
        peek: () => peek(key),
        get: (load) => get(key, since, load),
        warm: (load, explain) => warm(key, since, load, explain),
        keep: (list) => keep(key, since, list),
        renew: () => void kept.delete(key),
      };
    },
    drop(person) {
      const gone = personKey(person);
      forget((key) => key === gone);
    },
    dropTenant: (tenant) => forget((key) => key.startsWith(`${tenant}/`)),
    stop: () => readings.stop(),
  };

  function forget(isGone: (key: string) => boolean): void {
    drops += 1;
    for (const key of kept.keys()) if (isGone(key)) kept.delete(key);
    for (const key of loading.keys()) if (isGone(key)) loading.delete(key);
    readings.end(isGone);
    shelves.drop(isGone);
  }

  function peek(key: string): CachedZones | undefined {
    const found = kept.get(key);
    if (!found) return undefined;
    kept.delete(key);
    if (isOld(found)) return undefined;
    kept.set(key, found);
    return found;
  }

  function get(key: string, since: number, load: () => Promise<List>): Promise<CachedZones> {
    const found = peek(key);
    return found ? Promise.resolve(found) : read(key, since, load);
  }

  function warm(
    key: string,
    since: number,
    load: Load<List>,
    explain: (error: unknown) => Failure,
  ): PrefetchedIndex {
    const known = peek(key);
    if (known && ageOf(known) < refreshMs) return { known, coming: undefined };
    return { known, coming: readings.begin(key, (until) => read(key, since, () => load(until)), explain) };
  }

  /** What is being read already, else what `load` brings. */
  function read(key: string, since: number, load: () => Promise<List>): Promise<CachedZones> {
    const running = loading.get(key);
    if (running) return running;
    const started = load()
      .then((list) => keep(key, since, list))
      .finally(() => {
        if (loading.get(key) === started) loading.delete(key);
      });
    loading.set(key, started);
    return started;
  }

  function keep(key: string, since: number, list: List): CachedZones {
    const snapshot: CachedZones = { zones: list.zones, skipped: list.skipped, takenAt: now() };
    if (since !== drops) return snapshot;
    kept.delete(key);
    for (const [other, old] of kept) if (isOld(old)) kept.delete(other);
    kept.set(key, snapshot);
    let total = 0;
    for (const { zones } of kept.values()) total += zones.length;
    for (const [oldest, { zones }] of kept) {
      if (total <= rows) break;
      kept.delete(oldest);
      total -= zones.length;
    }
    return snapshot;
  }

  function isOld(snapshot: CachedZones): boolean {
    return ageOf(snapshot) >= lifeMs;
  }

  function ageOf({ takenAt }: CachedZones): number {
    return now().getTime() - takenAt.getTime();
  }
}
