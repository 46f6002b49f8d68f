import { LRUCache } from 'lru-cache';

export interface CacheOptions<V> {
  readonly now: () => Date;
  readonly maxEntries?: number;
  /** Total of `sizeOf` over all entries; a value larger than that is not cached. Give this or `maxEntries`, or both. */
  readonly maxSize?: number;
  readonly sizeOf?: (value: V) => number;
  /** How long a value counts as fresh. Without it values stay until they are evicted or dropped. */
  readonly ttlMs?: number | ((value: V) => number);
}

export type Cache<V extends object | string | number | boolean> = ReturnType<typeof createCache<V>>;

/** A bounded cache in this process; the least recently used entry is evicted first. */
export function createCache<V extends object | string | number | boolean>(options: CacheOptions<V>) {
  const { now, maxEntries, maxSize, sizeOf, ttlMs } = options;
  const values = new LRUCache<string, V>({
    max: maxEntries ?? 0,
    ...(maxSize !== undefined && {
      maxSize,
      sizeCalculation: (value: V) => Math.max(1, sizeOf?.(value) ?? 1),
    }),
    ttlResolution: 0,
    perf: { now: () => now().getTime() },
  });
  const loads = new Map<string, Promise<V>>();

  const set = (key: string, value: V): void => {
    // Large expired values must not stay in memory until the next lookup.
    if (maxSize !== undefined) values.purgeStale();
    const ttl = typeof ttlMs === 'function' ? ttlMs(value) : ttlMs;
    // LRUCache serves a value up to and including its ttl.
    values.set(key, value, ttl === undefined ? {} : { ttl: Math.max(1, ttl - 1) });
  };

  return {
    get: (key: string): V | undefined => values.get(key),
    set,
    /**
     * The cached value, else the one that `load` brings. Concurrent callers share one load; a failed one is not cached.
     * `fresh` starts a new load: one that is under way may have read an older state. A value that `isStale` is loaded
     * again, and that load is shared.
     */
    load(
      key: string,
      load: () => Promise<V>,
      { fresh = false, isStale }: { readonly fresh?: boolean; readonly isStale?: (known: V) => boolean } = {},
    ): Promise<V> {
      const value = values.get(key);
      const isUsable = value !== undefined && !isStale?.(value);
      const known = fresh ? undefined : isUsable ? value : loads.get(key);
      if (known !== undefined) return Promise.resolve(known);
      const started: Promise<V> = load()
        .then((value) => {
          if (loads.get(key) === started) set(key, value);
          return value;
        })
        .finally(() => {
          if (loads.get(key) === started) loads.delete(key);
        });
      loads.set(key, started);
      return started;
    },
    /** Forgets these entries. Loads under way for them still answer their callers, but are not cached. */
    drop(which: string | ((key: string) => boolean)): void {
      values.purgeStale();
      for (const all of [values, loads]) {
        const keys = typeof which === 'string' ? [which] : [...all.keys()].filter(which);
        for (const key of keys) all.delete(key);
      }
    },
    size: (): number => values.size,
  };
}
