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
  const idle: (() => void)[] = [];
  let running = 0;

  const waitUntilIdle = (limitMs: number): Promise<boolean> =>
    new Promise((resolve) => {
      if (running === 0) return resolve(true);
      const timer = setTimeout(() => resolve(false), limitMs);
      idle.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });

  return {
    async run(work) {
      running += 1;
      try {
        const done = await queue.take();
        try {
          return await work(ending.signal);
        } finally {
          done();
        }
      } finally {
        running -= 1;
        if (running === 0) for (const resolve of idle.splice(0)) resolve();
      }
    },
    count: () => running,
    async drain(graceMs) {
      if (await waitUntilIdle(graceMs)) return;
      ending.abort();
      await waitUntilIdle(replyMs);
    },
  };
}

/**
 * Lets acknowledgements go before work. Work costs twenty times as much in the same thread: if each piece started on
 * arrival, a burst would delay the acknowledgements behind it (`npm run bench`).
 */
export interface AckFirstQueue {
  /** Resolves, in order, when work may start, with a function to call when it has ended. */
  take(): Promise<() => void>;
}

/** Started at once while no new delivery arrives. */
const batchSize = 4;
/** Interval of starts while deliveries keep arriving. */
const startIntervalMs = 5;
/** Upper bound of concurrent work; most of it waits for the CDN. */
const maxRunning = 256;

export function createAckFirstQueue(): AckFirstQueue {
  const waiting: (() => void)[] = [];
  // The index of the front: shifting a long array moves all of it.
  let front = 0;
  let running = 0;
  let hasArrivals = false;
  let isScheduled = false;
  let startedAt = 0;

  const start = (count: number): void => {
    for (let started = 0; started < count && front < waiting.length && running < maxRunning; started += 1) {
      const next = waiting[front];
      front += 1;
      running += 1;
      next?.();
    }
    if (front === waiting.length) {
      waiting.length = 0;
      front = 0;
    }
  };

  const pump = (): void => {
    isScheduled = false;
    const now = performance.now();
    const count = hasArrivals ? (now - startedAt >= startIntervalMs ? 1 : 0) : batchSize;
    hasArrivals = false;
    if (count > 0) startedAt = now;
    start(count);
    if (waiting.length > 0 && running < maxRunning) schedule();
  };

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(pump);
  };

  const done = (): void => {
    running -= 1;
    if (waiting.length > 0) schedule();
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
