import { aborted } from 'node:util';
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

export interface LoadOptions<V> {
  readonly isStale?: (known: V) => boolean;
  readonly signal?: AbortSignal | undefined;
}

interface Load<V> {
  readonly result: Promise<V>;
  readonly signal: AbortSignal | undefined;
}

export type Cache<V extends object | string | number | boolean> = ReturnType<typeof createCache<V>>;

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
  const loads = new Map<string, Load<V>>();

  const set = (key: string, value: V): void => {
    // Large expired values must not stay in memory until the next lookup.
    if (maxSize !== undefined) values.purgeStale();
    const ttl = typeof ttlMs === 'function' ? ttlMs(value) : ttlMs;
    // LRUCache serves a value up to and including its ttl.
    values.set(key, value, ttl === undefined ? {} : { ttl: Math.max(1, ttl - 1) });
  };

  const begin = (key: string, start: () => Promise<V>, signal: AbortSignal | undefined): Promise<V> => {
    const result = start()
      .then((value) => {
        if (loads.get(key) === started) set(key, value);
        return value;
      })
      .finally(() => {
        if (loads.get(key) === started) loads.delete(key);
      });
    const started: Load<V> = { result, signal };
    loads.set(key, started);
    return result;
  };

  /** The cached value, else the one that `start` brings. Callers share one load; when its caller gives up, another caller starts a new one. */
  async function load(key: string, start: () => Promise<V>, options: LoadOptions<V> = {}): Promise<V> {
    const { isStale, signal } = options;
    const value = values.get(key);
    if (value !== undefined && !isStale?.(value)) return value;
    const running = loads.get(key);
    if (!running) return begin(key, start, signal);
    const { result } = running;
    const gaveUp = signal && aborted(signal, result).then(() => Promise.reject(signal.reason));
    try {
      return await (gaveUp ? Promise.race([result, gaveUp]) : result);
    } catch (error) {
      if (signal?.aborted || !running.signal?.aborted) throw error;
      return load(key, start, options);
    }
  }

  return {
    get: (key: string): V | undefined => values.get(key),
    set,
    load,
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
