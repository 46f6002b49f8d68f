import { type Person, personKey } from '../../auth/identity.ts';
import { createCache } from '../../lib/cache.ts';
import { minuteMs } from '../../lib/time.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import { type CachedZones, createZoneLists, type ZoneList, type ZoneLists } from './zone-lists.ts';

type LoadOutcome = { readonly list: CachedZones } | { readonly failure: Failure };

/** At least one of them is set. */
export interface PrefetchedZones {
  readonly known: CachedZones | undefined;
  /** The load in the background; never rejects. */
  readonly coming: Promise<LoadOutcome> | undefined;
}

export type ZoneCache = ReturnType<typeof createZoneCache>;

// A menu asks again at every letter: a load that just failed is not repeated for each of them.
const failureMs = 10_000;
// Characters of all answers that are kept for sharing: some hundred.
const maxAnswers = 2_000_000;
const stopped: Failure = {
  message: 'Reading your zones was stopped: your key has changed or the bot restarts.',
  hint: 'Try again in a moment.',
};

/**
 * Whole zone lists in memory, so that pages, sorting and filters answer at once. A list holds only what one key sees, so
 * nothing is shared but between people with the same key. It expires after `ttlMs` and is read again in the background after four fifths
 * of that while it is in use. Jobs put the lists that they read into `lists`, too.
 */
export function createZoneCache(options: { now: () => Date; ttlMs?: number; lists?: ZoneLists }) {
  const { now, ttlMs = 5 * minuteMs, lists = createZoneLists({ now, ttlMs }) } = options;
  const refreshMs = ttlMs * 0.8;
  const results = createCache<object>({ now, ttlMs, maxEntries: 200 });
  // As long as a response_url lives; as text, since the collector would walk through tens of thousands of objects.
  const answers = createCache<string>({
    now,
    ttlMs: 30 * minuteMs,
    maxSize: maxAnswers,
    sizeOf: (answer) => answer.length,
  });
  const failures = createCache<Failure>({ now, ttlMs: failureMs, maxEntries: 1_000 });
  const running = new Map<string, { readonly abort: () => void; readonly outcome: Promise<LoadOutcome> }>();
  const stopping = new AbortController();
  // Counts drops: what a command reads that began before one is not cached, however late it arrives.
  let drops = 0;

  const stamp = ({ zones, skipped, account }: ZoneList): CachedZones => ({
    zones,
    skipped,
    account,
    takenAt: now(),
  });

  /**
   * A person's cache for the length of one command. Call it before resolving the key, so that what is read with a
   * key that is revoked meanwhile is not cached.
   */
  function forPerson(person: Person) {
    const owner = personKey(person);
    const since = drops;
    const set = (list: ZoneList): CachedZones => {
      const cached = stamp(list);
      if (since === drops) lists.set(owner, cached);
      return cached;
    };
    return {
      get: () => lists.get(owner),
      /**
       * For callers that cannot wait: the cached list, and a load in the background where there is none or it grows
       * old. After a failed load the same failure for a while. `signal` aborts when the key is dropped or the bot stops.
       */
      prefetch(
        read: (signal: AbortSignal) => Promise<ZoneList>,
        explain: (error: unknown) => Failure,
      ): PrefetchedZones {
        const known = lists.get(owner);
        if (known && now().getTime() - known.takenAt.getTime() < refreshMs)
          return { known, coming: undefined };
        const begin = async (signal: AbortSignal) => set(await read(signal));
        return { known, coming: loadInBackground(owner, begin, explain) };
      },
      set,
      /** The next command reads a new list. */
      expire: () => lists.expire(owner),
      /** Other results that buttons of an answer may need again: reports, files. Each must be small. */
      results: <T extends object>(kind: string) => ({
        get: (key: string) => results.get(`${owner}\n${kind}\n${key}`) as T | undefined,
        set: (key: string, value: T) => {
          if (since === drops) results.set(`${owner}\n${kind}\n${key}`, value);
        },
      }),
      /** Answers that the person was shown, so that *Share* shows the same; their files are made anew. */
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

  /** One load per person at a time. A failure is explained, and so logged, once for all who wait. */
  function loadInBackground(
    owner: string,
    begin: (signal: AbortSignal) => Promise<CachedZones>,
    explain: (error: unknown) => Failure,
  ): Promise<LoadOutcome> {
    const known = running.get(owner);
    if (known) return known.outcome;
    const failed = stopping.signal.aborted ? stopped : failures.get(owner);
    if (failed) return Promise.resolve({ failure: failed });
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, stopping.signal]);
    const outcome = begin(signal)
      .then(
        (list): LoadOutcome => ({ list }),
        (error: unknown): LoadOutcome => {
          if (signal.aborted) return { failure: stopped };
          const failure = explain(error);
          failures.set(owner, failure);
          return { failure };
        },
      )
      .finally(() => {
        if (running.get(owner)?.outcome === outcome) running.delete(owner);
      });
    running.set(owner, { abort: () => controller.abort(), outcome });
    return outcome;
  }

  function dropWhere(isGone: (key: string) => boolean): void {
    drops += 1;
    for (const [owner, { abort }] of running) {
      if (!isGone(owner)) continue;
      abort();
      running.delete(owner);
    }
    for (const cache of [lists, results, answers, failures]) cache.drop(isGone);
  }

  return {
    forPerson,
    /** Forgets what a person's key read and aborts loads in the background: the key is gone. */
    drop(person: Person) {
      const owner = personKey(person);
      dropWhere((key) => key === owner || key.startsWith(`${owner}\n`));
    },
    dropTenant: (tenant: string) => dropWhere((key) => key.startsWith(`${tenant}/`)),
    /** Aborts loads in the background and waits until they have ended. */
    async stop() {
      stopping.abort();
      await Promise.all([...running.values()].map(({ outcome }) => outcome));
    },
  };
}
