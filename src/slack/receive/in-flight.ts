import { createAckFirstQueue } from './ack-first.ts';

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
