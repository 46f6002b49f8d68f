import { setTimeout } from 'node:timers/promises';

/** Counts the work that continues after its acknowledgement, so that a stop can wait for it. */
export interface InFlight {
  /** Runs work when its turn comes; the signal aborts when the bot stops and the grace period is over. */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
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
    run(work) {
      const done = queue.take().then((end) => work(ending.signal).finally(end));
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

/**
 * Lets acknowledgements go before work. Work costs twenty times as much in the same thread: if each piece started on
 * arrival, a burst would delay the acknowledgements behind it (`npm run bench`). `take` resolves, in order, when work
 * may start, with a function to call when it has ended.
 */
export function createAckFirstQueue(): { take(): Promise<() => void> } {
  const waiting: (() => void)[] = [];
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
    const started = waiting.splice(0, Math.min(count, maxRunning - running));
    running += started.length;
    for (const start of started) start();
    schedule();
  };

  const schedule = (): void => {
    if (isScheduled || waiting.length === 0 || running >= maxRunning) return;
    isScheduled = true;
    setImmediate(pump);
  };

  const done = (): void => {
    running -= 1;
    schedule();
  };

  return {
    take: () =>
      new Promise((resolve) => {
        hasArrivals = true;
        waiting.push(() => resolve(done));
        schedule();
      }),
  };
}
