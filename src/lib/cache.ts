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

export interface Cache<V> {
  readonly get: (key: string) => V | undefined;
  readonly set: (key: string, value: V) => void;
  /**
   * The cached value, else the one that `load` brings. Concurrent callers share one load; a failed one is not cached.
   * `fresh` starts a new load: one that is under way may have read an older state.
   */
  readonly load: (key: string, load: () => Promise<V>, options?: { readonly fresh?: boolean }) => Promise<V>;
  /** Forgets these entries. Loads under way for them still answer their callers, but are not cached. */
  readonly drop: (key: string | ((key: string) => boolean)) => void;
  readonly size: () => number;
}

/** A bounded cache in this process; the least recently used entry is evicted first. */
export function createCache<V extends object | string | number | boolean>(
  options: CacheOptions<V>,
): Cache<V> {
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
    // Large values must not wait in memory for somebody to look them up.
    if (maxSize !== undefined) values.purgeStale();
    const ttl = typeof ttlMs === 'function' ? ttlMs(value) : ttlMs;
    // LRUCache serves a value up to and including its ttl.
    values.set(key, value, ttl === undefined ? {} : { ttl: Math.max(1, ttl - 1) });
  };

  return {
    get: (key) => values.get(key),
    set,
    load(key, load, { fresh = false } = {}) {
      const known = fresh ? undefined : (values.get(key) ?? loads.get(key));
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
    drop(which) {
      if (typeof which === 'string') {
        values.delete(which);
        loads.delete(which);
        return;
      }
      values.purgeStale();
      for (const key of [...values.keys()].filter(which)) values.delete(key);
      for (const key of [...loads.keys()].filter(which)) loads.delete(key);
    },
    size: () => values.size,
  };
}
