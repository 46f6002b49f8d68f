import { ApiError } from '../../../api/http/errors.ts';

/** How old a result may be, counted from when its request began, ms. */
export const recentMs = 60_000;

/** One read of one account. */
export interface SharedRead<T> {
  /** Of the account, then of the read: equal keys are the same request. */
  readonly key: string;
  /** The specification's name, for the error of a reader that gave up. */
  readonly operation: string;
  readonly start: (signal: AbortSignal) => Promise<T>;
  /** Where its result is kept, and for how long it is used. */
  readonly kept: KeptResult<T>;
}

/** The place of one result. */
export interface KeptResult<T> {
  readonly get: () => T | undefined;
  /** `begun`: when its request began. */
  readonly set: (value: T, begun: Date) => void;
}

interface Running {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  readers: number;
}

/**
 * Reads that several jobs want at about the same time: one request for all who ask while it runs, and as long as its result
 * is kept. A reader that is aborted leaves the request to the others; the last one takes it along. A failure goes to those
 * who wait and is not kept.
 */
export function createSharedReads(now: () => Date) {
  const running = new Map<string, Running>();

  function begin<T>({ key, start, kept }: SharedRead<T>): Running {
    const controller = new AbortController();
    const begun = now();
    const result = start(controller.signal)
      .then((value) => {
        // Unless it was dropped meanwhile.
        if (running.get(key) === load) kept.set(value, begun);
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
      const { key, operation, kept } = read;
      const known = kept.get();
      if (known !== undefined) return known;
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
    /** The results of requests under way are not kept. */
    drop(isGone: (key: string) => boolean): void {
      for (const key of [...running.keys()].filter(isGone)) running.delete(key);
    },
  };
}
