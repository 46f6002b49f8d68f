import { setTimeout } from 'node:timers/promises';

/** Counts the work that continues after its acknowledgement, so that a stop can wait for it. */
export interface InFlight {
  /**
   * Runs work when its turn comes; the signal aborts when the bot stops and the grace period is over. `owner` is the
   * person it is for, who has a share of the turns; undefined = the bot itself.
   */
  run<T>(work: (signal: AbortSignal) => Promise<T>, owner?: string): Promise<T>;
  count(): number;
  /** Waits until nothing runs. After `graceMs` the rest is aborted. */
  drain(graceMs: number): Promise<void>;
}

// Grace period after the abort: an aborted command still sends one reply.
const replyMs = 3_000;

export function createInFlight(): InFlight {
  const ending = new AbortController();
  const queue = createAckFirstQueue();
  const running = new Set<Promise<unknown>>();

  const waitUntilIdle = async (limitMs: number): Promise<void> => {
    const late = setTimeout(limitMs, undefined, { ref: false });
    while (running.size > 0) {
      const isLate = await Promise.race([
        Promise.allSettled(running).then(() => false),
        late.then(() => true),
      ]);
      if (isLate) return;
    }
  };

  return {
    run(work, owner) {
      const done = queue.take(owner).then((end) => work(ending.signal).finally(end));
      running.add(done);
      return done.finally(() => running.delete(done));
    },
    count: () => running.size,
    async drain(graceMs) {
      await waitUntilIdle(graceMs);
      if (running.size === 0) return;
      ending.abort();
      await waitUntilIdle(replyMs);
    },
  };
}

/** Started at once while no new delivery arrives. */
const batchSize = 4;
/** Interval of starts while deliveries keep arriving. */
const startIntervalMs = 5;
/** Upper bound of concurrent work; most of it waits for the CDN. */
const maxRunning = 256;
/** Upper bound for one person, so that nobody's slow commands delay others. */
const maxPerOwner = 32;

/**
 * Lets acknowledgements go before work. Work costs twenty times as much in the same thread: if each piece started on
 * arrival, a burst would delay the acknowledgements behind it (`npm run bench`). `take` resolves when work may start,
 * in the order of each person and person by person, with a function to call when it has ended.
 */
export function createAckFirstQueue(): { take(owner?: string): Promise<() => void> } {
  /** In the order of their turns. */
  const owners = new Map<string, { readonly starts: (() => void)[]; running: number }>();
  let waiting = 0;
  let running = 0;
  let hasArrivals = false;
  let isScheduled = false;
  let startedAt = 0;

  const pump = (): void => {
    isScheduled = false;
    const now = performance.now();
    const count = hasArrivals ? (now - startedAt >= startIntervalMs ? 1 : 0) : batchSize;
    hasArrivals = false;
    if (count > 0) startedAt = now;
    let started = 0;
    while (started < count && startNext()) started += 1;
    // Otherwise everybody who waits has their share, and the next end of work goes on.
    if (started === count) schedule();
  };

  const startNext = (): boolean => {
    if (running >= maxRunning) return false;
    const next = [...owners].find(([, { starts, running }]) => starts.length > 0 && running < maxPerOwner);
    if (!next) return false;
    const [name, owner] = next;
    owners.delete(name);
    owners.set(name, owner);
    owner.running += 1;
    running += 1;
    waiting -= 1;
    owner.starts.shift()?.();
    return true;
  };

  const schedule = (): void => {
    if (isScheduled || waiting === 0 || running >= maxRunning) return;
    isScheduled = true;
    setImmediate(pump);
  };

  return {
    take: (name = '') =>
      new Promise((resolve) => {
        hasArrivals = true;
        waiting += 1;
        const owner = owners.get(name) ?? { starts: [], running: 0 };
        const end = (): void => {
          running -= 1;
          owner.running -= 1;
          if (owner.running === 0 && owner.starts.length === 0) owners.delete(name);
          schedule();
        };
        owner.starts.push(() => resolve(end));
        owners.set(name, owner);
        schedule();
      }),
  };
}
