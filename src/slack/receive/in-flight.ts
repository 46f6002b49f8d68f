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

/** What waits takes 3 kB each, some more once its person was told: with many more the heap's limit would end them all. */
const mostInFlight = 20_000;

// Grace period after the abort: an aborted command still sends one reply.
const replyMs = 3_000;

/** `manyTenants`: no workspace takes all turns. */
export function createInFlight({ manyTenants }: { readonly manyTenants: boolean }): InFlight {
  const ending = new AbortController();
  const queue = createAckFirstQueue(manyTenants);
  let count = 0;
  let whenIdle: (() => void) | undefined;

  const waitUntilIdle = async (limitMs: number): Promise<void> => {
    if (count === 0) return;
    const idle = new Promise<void>((resolve) => {
      whenIdle = resolve;
    });
    await Promise.race([idle, pause(limitMs, undefined, { ref: false })]);
  };

  return {
    async run(work, person, onWait) {
      const tenant = tenantId(person);
      count += 1;
      const end = await queue.take({ tenant, person: person.userId }, onWait);
      try {
        return await tenantScope.run(tenant, () => work(ending.signal));
      } finally {
        end();
        count -= 1;
        if (count === 0) whenIdle?.();
      }
    },
    count: () => count,
    isFull: () => count >= mostInFlight,
    async drain(graceMs) {
      await waitUntilIdle(graceMs);
      if (count === 0) return;
      ending.abort();
      await waitUntilIdle(replyMs);
    },
  };
}

/** Started at once while no new delivery arrives. */
const batchSize = 4;
/** Interval of starts while deliveries keep arriving. */
const startIntervalMs = 5;
/** So many deliveries in so many milliseconds are a flood. Their acknowledgements take all the time there is. */
const flood = { deliveries: 20, withinMs: 10 };
/** Interval of batches in a flood: half as many starts, and far fewer looks. */
const floodIntervalMs = 2 * batchSize * startIntervalMs;
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
  const floodWatch = createFloodWatch();

  const pump = (): void => {
    isScheduled = false;
    const now = performance.now();
    const isFlood = floodWatch.isFlood(now);
    const restMs = isFlood ? startedAt + floodIntervalMs - now : 0;
    if (restMs > 0) return schedule(restMs);
    const count = hasArrivals && !isFlood ? (now - startedAt >= startIntervalMs ? 1 : 0) : batchSize;
    hasArrivals = false;
    if (count > 0) startedAt = now;
    let started = 0;
    while (started < count && queue.startNext()) started += 1;
    // Otherwise everybody who waits has their share, and the next end of work goes on.
    if (started === count) schedule();
  };

  const schedule = (afterMs?: number): void => {
    if (isScheduled || queue.waiting() === 0) return;
    isScheduled = true;
    if (afterMs === undefined) setImmediate(pump);
    else setTimeout(pump, afterMs);
  };

  return {
    take: (
      owner: { readonly tenant: string; readonly person: string },
      onWait: (before: number) => void = () => undefined,
    ): Promise<() => void> =>
      new Promise((resolve) => {
        hasArrivals = true;
        floodWatch.arrived();
        const countBefore = queue.add(owner, (end) => {
          clearTimeout(longWait);
          resolve(() => {
            end();
            schedule();
          });
        });
        const tell = (): void => tenantScope.run(owner.tenant, () => onWait(countBefore()));
        const longWait = setTimeout(tell, longWaitMs);
        schedule();
      }),
  };
}

/** Whether deliveries come as a flood, by how many came lately. */
function createFloodWatch() {
  let count = 0;
  let since = 0;
  let isOn = false;
  return {
    arrived(): void {
      count += 1;
    },
    isFlood(now: number): boolean {
      if (count < flood.deliveries && now - since < flood.withinMs) return isOn;
      isOn = count >= flood.deliveries;
      count = 0;
      since = now;
      return isOn;
    },
  };
}
