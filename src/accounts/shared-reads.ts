import { ApiError } from '../api/http/errors.ts';
import { type Cache, createCache } from '../lib/cache.ts';

/** How old a result may be, counted from when its request began, ms. */
export const recentMs = 60_000;

/** One read of one account. */
export interface SharedRead<T> {
  /** Of the account, then of the read: equal keys are the same request. */
  readonly key: string;
  /** The specification's name, for the error of a reader that gave up. */
  readonly operation: string;
  readonly start: (signal: AbortSignal) => Promise<T>;
  /** The weight of its result. */
  readonly sizeOf: (value: T) => number;
}

interface Kept {
  readonly value: unknown;
  readonly size: number;
  readonly begun: number;
}

interface Running {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  readers: number;
}

/**
 * Reads that several jobs want at about the same time: one request for all who ask while it runs and for a minute after. A
 * reader that is aborted leaves the request to the others; the last one takes it along. A failure goes to those who wait
 * and is not kept. Results weigh `maxSize` at most together.
 */
export function createSharedReads(options: { readonly now: () => Date; readonly maxSize: number }) {
  const time = (): number => options.now().getTime();
  const kept: Cache<Kept> = createCache<Kept>({
    now: options.now,
    maxSize: options.maxSize,
    sizeOf: ({ size }) => size,
    ttlMs: ({ begun }) => begun + recentMs - time(),
  });
  const running = new Map<string, Running>();

  function begin<T>({ key, start, sizeOf }: SharedRead<T>): Running {
    const controller = new AbortController();
    const begun = time();
    const result = start(controller.signal)
      .then((value) => {
        // Unless it was dropped meanwhile.
        if (running.get(key) === load) kept.set(key, { value, size: sizeOf(value), begun });
        return value;
      })
      .finally(() => {
        if (running.get(key) === load) running.delete(key);
      });
    const load: Running = { result, controller, readers: 0 };
    // Its readers may all be gone.
    result.catch(() => undefined);
    running.set(key, load);
    return load;
  }

  return {
    /** @throws ApiError `cancelled` where `signal` aborts first, and what `start` throws. */
    async read<T>(read: SharedRead<T>, signal: AbortSignal): Promise<T> {
      const { key, operation } = read;
      const known = kept.get(key);
      if (known) return known.value as T;
      const load = running.get(key) ?? begin(read);
      load.readers += 1;
      const stop = Promise.withResolvers<never>();
      const abort = (): void => stop.reject(new ApiError({ code: 'cancelled', operation, sent: true }));
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      try {
        return (await Promise.race([load.result, stop.promise])) as T;
      } finally {
        signal.removeEventListener('abort', abort);
        load.readers -= 1;
        if (load.readers === 0) {
          // Nobody joins a request that ends here.
          if (running.get(key) === load) running.delete(key);
          load.controller.abort();
        }
      }
    },
    /** Forgets results, and does not keep those of requests under way. */
    drop(isGone: (key: string) => boolean): void {
      kept.drop(isGone);
      for (const key of [...running.keys()].filter(isGone)) running.delete(key);
    },
  };
}
