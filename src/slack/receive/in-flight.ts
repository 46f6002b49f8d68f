/**
 * Lets acknowledgements go before work. Work costs twenty times what an acknowledgement does, in the same thread:
 * started as it comes, a burst of it makes Slack wait for the acknowledgements behind it (measured: bench).
 */
export interface AckFirstQueue {
  /** Resolves, in order, when work may begin; what it resolves with is called when the work has ended. */
  take(): Promise<() => void>;
}

/** Begun at once while nothing new arrives. */
const atOnce = 4;
/** While deliveries keep arriving, work begins this seldom: the acknowledgements get the rest of the time. */
const everyMs = 5;
/** Running at the same time; more would only make each one slower. Work that waits for the CDN does not count long. */
const mostRunning = 256;

export function createAckFirstQueue(): AckFirstQueue {
  const waiting: (() => void)[] = [];
  // The front is an index: taking from the front of a long array moves all the rest.
  let front = 0;
  let running = 0;
  let arrived = false;
  let pumping = false;
  let begunAt = 0;

  const begin = (most: number): void => {
    for (let begun = 0; begun < most && front < waiting.length && running < mostRunning; begun += 1) {
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
    pumping = false;
    const now = performance.now();
    const most = arrived ? (now - begunAt >= everyMs ? 1 : 0) : atOnce;
    arrived = false;
    if (most > 0) begunAt = now;
    begin(most);
    if (waiting.length > 0 && running < mostRunning) schedule();
  };

  const schedule = (): void => {
    if (pumping) return;
    pumping = true;
    setImmediate(pump);
  };

  const done = (): void => {
    running -= 1;
    if (waiting.length > 0) schedule();
  };

  return {
    take: () =>
      new Promise((resolve) => {
        arrived = true;
        waiting.push(() => resolve(done));
        schedule();
      }),
  };
}

/** Counts work that goes on after its acknowledgement, so that a stop can wait for it. */
export interface InFlight {
  /** Runs work when its turn comes; its signal ends when the bot stops and has waited long enough. */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  count(): number;
  /** Waits until nothing runs. After `graceMs` what is left is told to end, and gets a moment to say so. */
  drain(graceMs: number): Promise<void>;
}

// What was told to end still has to answer its person: one request to Slack.
const lastWordsMs = 3_000;

export function createInFlight(): InFlight {
  const ending = new AbortController();
  const turns = createAckFirstQueue();
  const idle: (() => void)[] = [];
  let running = 0;

  const whenIdle = (limitMs: number): Promise<boolean> =>
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
        const done = await turns.take();
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
      if (await whenIdle(graceMs)) return;
      ending.abort();
      await whenIdle(lastWordsMs);
    },
  };
}
