import type { Failure } from '../../views/blocks/failure.ts';

/** How a reading in the background ended. */
export type LoadOutcome<T> = { readonly read: T } | { readonly failure: Failure };

/** A reading that nobody stands and waits for: `until` ends with the key it is made with, and with the bot. */
export type Load<T> = (until: AbortSignal) => Promise<T>;

export interface BackgroundLoads<T> {
  /** What is under way for this key, else a new reading. After a failed one the same failure, for a while. Never rejects. */
  readonly begin: (
    key: string,
    load: Load<T>,
    explain: (error: unknown) => Failure,
  ) => Promise<LoadOutcome<T>>;
  /** Ends what is under way for these keys and forgets how it failed. */
  readonly end: (which: (key: string) => boolean) => void;
  /** Ends everything for good and waits until it has ended. */
  readonly stop: () => Promise<void>;
}

// A menu asks at every letter: what has just failed is not asked again for each of them.
const restMs = 10_000;

const ended: Failure = {
  message: 'This reading was stopped: your key has changed or the bot restarts.',
  hint: 'Try again in a moment.',
};

/**
 * Readings in the background, one a key at a time. A failure is explained, and so logged, once, however many wait
 * for it.
 */
export function createBackgroundLoads<T>({ now }: { now: () => Date }): BackgroundLoads<T> {
  const stopping = new AbortController();
  const running = new Map<
    string,
    { readonly ending: AbortController; readonly outcome: Promise<LoadOutcome<T>> }
  >();
  const failed = new Map<string, { readonly failure: Failure; readonly until: number }>();

  async function read(
    key: string,
    until: AbortSignal,
    load: Load<T>,
    explain: (error: unknown) => Failure,
  ): Promise<LoadOutcome<T>> {
    try {
      return { read: await load(until) };
    } catch (error) {
      if (until.aborted) return { failure: ended };
      const failure = explain(error);
      failed.set(key, { failure, until: now().getTime() + restMs });
      return { failure };
    }
  }

  return {
    begin(key, load, explain) {
      const known = running.get(key);
      if (known) return known.outcome;
      if (stopping.signal.aborted) return Promise.resolve({ failure: ended });
      const time = now().getTime();
      for (const [one, { until }] of failed) if (until <= time) failed.delete(one);
      const failure = failed.get(key)?.failure;
      if (failure) return Promise.resolve({ failure });
      const ending = new AbortController();
      const until = AbortSignal.any([ending.signal, stopping.signal]);
      const outcome = read(key, until, load, explain).finally(() => {
        if (running.get(key)?.ending === ending) running.delete(key);
      });
      running.set(key, { ending, outcome });
      return outcome;
    },
    end(which) {
      for (const [key, { ending }] of running) {
        if (!which(key)) continue;
        ending.abort();
        running.delete(key);
      }
      for (const key of failed.keys()) if (which(key)) failed.delete(key);
    },
    async stop() {
      stopping.abort();
      await Promise.all([...running.values()].map(({ outcome }) => outcome));
    },
  };
}
