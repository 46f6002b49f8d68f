import { setTimeout as pause } from 'node:timers/promises';
import { type Person, tenantId } from '../../auth/identity.ts';
import { createFairQueue, tenantScope } from '../../lib/fair-queue.ts';

export interface Owner {
  readonly tenant: string;
  readonly person: string;
}

/** What a delivery counts at least: its closures, context and answer. */
const smallestBytes = 32 * 1024;
/** What a delivery takes in addition to its body. */
const overheadBytes = 8 * 1024;
/** Accepted deliveries of this process that have not ended: 1,000 small ones. */
const mostBytes = 1_000 * smallestBytes;
/** A person may have as much as is left free, a tenant three times as much: there is always room for the next. */
const sharesOfFree = { person: 1, tenant: 3 };
/** Most of the work waits for the CDN. */
const mostAtOnce = { max: 256, maxPerPerson: 32 };
/** Starts in one turn of the event loop: work costs twenty times as much as an acknowledgement. */
const batchSize = 4;
const longWaitMs = 3_000;
// Grace period after the abort: an aborted command still sends one reply.
const replyMs = 3_000;

export type InFlight = ReturnType<typeof createInFlight>;

/** How much work is accepted, and when it begins. `manyTenants`: no workspace takes everything. */
export function createInFlight({ manyTenants }: { readonly manyTenants: boolean }) {
  const ending = new AbortController();
  const queue = createFairQueue({ ...mostAtOnce, manyTenants });
  const accepted = { deliveries: 0, bytes: 0 };
  const bytesOf = new Map<string, number>();
  let running = 0;
  let whenIdle: (() => void) | undefined;
  let isScheduled = false;

  const isIdle = (): boolean => accepted.deliveries + running + queue.waiting() === 0;
  const tellIdle = (): void => {
    if (isIdle()) whenIdle?.();
  };
  const waitUntilIdle = async (limitMs: number): Promise<void> => {
    if (isIdle()) return;
    const idle = new Promise<void>((resolve) => (whenIdle = resolve));
    await Promise.race([idle, pause(limitMs, undefined, { ref: false })]);
  };

  /** Starts what waits, so that acknowledgements go before work. */
  const pump = (): void => {
    isScheduled = false;
    let left = batchSize;
    while (left > 0 && queue.startNext()) left -= 1;
    // Otherwise everybody who waits has their share, and the next end of work goes on.
    if (left === 0) schedule();
  };
  const schedule = (): void => {
    if (isScheduled || queue.waiting() === 0) return;
    isScheduled = true;
    setImmediate(pump);
  };
  const waitForTurn = (owner: Owner, onWait: () => void): Promise<() => void> =>
    new Promise((resolve) => {
      const longWait = setTimeout(() => tenantScope.run(owner.tenant, onWait), longWaitMs);
      queue.add(owner, (end) => {
        clearTimeout(longWait);
        resolve(() => {
          end();
          schedule();
        });
      });
      schedule();
    });

  return {
    /** Returns the end of an accepted delivery; undefined where too much is under way. */
    admit({ tenant, person }: Owner, bodyBytes: number): (() => void) | undefined {
      const bytes = Math.max(smallestBytes, bodyBytes + overheadBytes);
      const free = mostBytes - accepted.bytes;
      const owners = [
        { key: `${tenant}/${person}`, share: sharesOfFree.person },
        { key: tenant, share: manyTenants ? sharesOfFree.tenant : Number.POSITIVE_INFINITY },
      ];
      if (bytes > free) return undefined;
      if (owners.some(({ key, share }) => (bytesOf.get(key) ?? 0) >= share * free)) return undefined;
      const change = (by: 1 | -1): void => {
        accepted.deliveries += by;
        accepted.bytes += by * bytes;
        for (const { key } of owners) {
          const held = (bytesOf.get(key) ?? 0) + by * bytes;
          if (held > 0) bytesOf.set(key, held);
          else bytesOf.delete(key);
        }
      };
      change(1);
      return () => {
        change(-1);
        tellIdle();
      };
    },
    /** In turns. The signal aborts when the bot stops; `onWait` is called once if the wait is long. */
    async run<T>(
      work: (signal: AbortSignal) => Promise<T>,
      person: Person,
      onWait = (): void => undefined,
    ): Promise<T> {
      const tenant = tenantId(person);
      const end = await waitForTurn({ tenant, person: person.userId }, onWait);
      running += 1;
      try {
        return await tenantScope.run(tenant, () => work(ending.signal));
      } finally {
        end();
        running -= 1;
        tellIdle();
      }
    },
    count: () => Math.max(accepted.deliveries, running),
    /** Waits until nothing runs, and aborts the rest after `graceMs`. */
    async drain(graceMs: number): Promise<void> {
      await waitUntilIdle(graceMs);
      if (isIdle()) return;
      ending.abort();
      await waitUntilIdle(replyMs);
    },
  };
}
