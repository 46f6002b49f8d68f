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
  readonly controller: AbortController;
  callers: number;
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

  const begin = (key: string, load: (signal: AbortSignal) => Promise<V>): Load<V> => {
    const controller = new AbortController();
    const result = load(controller.signal)
      .then((value) => {
        if (loads.get(key) === started) set(key, value);
        return value;
      })
      .finally(() => {
        if (loads.get(key) === started) loads.delete(key);
      });
    const started: Load<V> = { result, controller, callers: 0 };
    loads.set(key, started);
    return started;
  };

  const join = async (key: string, load: Load<V>, signal: AbortSignal): Promise<V> => {
    load.callers += 1;
    load.result.catch(() => undefined);
    const stop = Promise.withResolvers<never>();
    const abort = (): void => stop.reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    try {
      return await Promise.race([load.result, stop.promise]);
    } finally {
      signal.removeEventListener('abort', abort);
      load.callers -= 1;
      if (load.callers === 0) {
        if (loads.get(key) === load) loads.delete(key);
        load.controller.abort(signal.reason);
      }
    }
  };

  return {
    get: (key: string): V | undefined => values.get(key),
    set,
    /**
     * The cached value, else the one that `load` brings; callers share one load, which is aborted when the last `signal` aborts.
     */
    load(
      key: string,
      load: (signal: AbortSignal) => Promise<V>,
      { isStale, signal }: LoadOptions<V> = {},
    ): Promise<V> {
      const value = values.get(key);
      if (value !== undefined && !isStale?.(value)) return Promise.resolve(value);
      const running = loads.get(key) ?? begin(key, load);
      if (signal) return join(key, running, signal);
      running.callers = Number.POSITIVE_INFINITY;
      return running.result;
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
