import { setTimeout as pause } from 'node:timers/promises';
import { type Person, tenantId } from '../../auth/identity.ts';
import { createFairQueue, tenantScope } from '../../lib/fair-queue.ts';

/** Counts the work that continues after its acknowledgement, so that a stop can wait for it. */
export interface InFlight {
  /**
   * Runs work when its turn comes; the signal aborts when the bot stops and the grace period is over. `person` is whom it
   * is for: workspaces, and people within one, have a share of the turns. `onWait` is called once if it waits for long,
   * with how much work is before it.
   */
  run<T>(
    work: (signal: AbortSignal) => Promise<T>,
    person: Person,
    onWait?: (before: number) => void,
  ): Promise<T>;
  count(): number;
  /** So much waits for its turn that people are asked to come back later. */
  isFull(): boolean;
  /** Waits until nothing runs. After `graceMs` the rest is aborted. */
  drain(graceMs: number): Promise<void>;
}

/** What waits takes 18 kB each: with many more of them the heap's limit would end the process, and all that wait. */
const mostInFlight = 4_000;

// Grace period after the abort: an aborted command still sends one reply.
const replyMs = 3_000;

/** `manyTenants`: no workspace takes all turns. */
export function createInFlight({ manyTenants }: { readonly manyTenants: boolean }): InFlight {
  const ending = new AbortController();
  const queue = createAckFirstQueue(manyTenants);
  const running = new Set<Promise<unknown>>();

  const waitUntilIdle = async (limitMs: number): Promise<void> => {
    const late = pause(limitMs, undefined, { ref: false });
    while (running.size > 0) {
      const isLate = await Promise.race([
        Promise.allSettled(running).then(() => false),
        late.then(() => true),
      ]);
      if (isLate) return;
    }
  };

  return {
    run(work, person, onWait) {
      const tenant = tenantId(person);
      const done = queue
        .take({ tenant, person: person.userId }, (before) => tenantScope.run(tenant, () => onWait?.(before)))
        .then((end) => tenantScope.run(tenant, () => work(ending.signal)).finally(end));
      running.add(done);
      return done.finally(() => running.delete(done));
    },
    count: () => running.size,
    isFull: () => running.size >= mostInFlight,
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
/**
 * Work that has waited so long is told to its person. What opens a form has lost its trigger by then (three seconds), so
 * that a message follows in any case and takes the notice's place.
 */
const longWaitMs = 3_000;
/** Most of the work waits for the CDN. */
const limits = { max: 256, maxPerPerson: 32 };

/**
 * Lets acknowledgements go before work. Work costs twenty times as much in the same thread: if each piece started on
 * arrival, a burst would delay the acknowledgements behind it (`npm run bench`). `take` resolves when work may start, with
 * a function to call when it has ended; `onWait` is called once, if that takes long.
 */
export function createAckFirstQueue(manyTenants = true) {
  const queue = createFairQueue({ ...limits, manyTenants });
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
    while (started < count && queue.startNext()) started += 1;
    // Otherwise everybody who waits has their share, and the next end of work goes on.
    if (started === count) schedule();
  };

  const schedule = (): void => {
    if (isScheduled || queue.waiting() === 0) return;
    isScheduled = true;
    setImmediate(pump);
  };

  return {
    take: (
      owner: { readonly tenant: string; readonly person: string },
      onWait?: (before: number) => void,
    ): Promise<() => void> =>
      new Promise((resolve) => {
        hasArrivals = true;
        const countBefore = queue.add(owner, (end) => {
          clearTimeout(longWait);
          resolve(() => {
            end();
            schedule();
          });
        });
        const longWait = setTimeout(() => onWait?.(countBefore()), longWaitMs);
        schedule();
      }),
  };
}
