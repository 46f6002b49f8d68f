import { setTimeout as pause } from 'node:timers/promises';
import { type Person, tenantId } from '../../auth/identity.ts';
import { tenantScope } from '../../telemetry/reference.ts';

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
/** Most of the work waits for the CDN. */
const mostAtOnce = 256;
const mostAtOncePerPerson = 32;
/** A tenant may have this many times what is left free, of bytes and of work; a person as many bytes. */
const tenantShare = 3;
/** Starts in one turn of the event loop: work costs twenty times as much as an acknowledgement. */
const batchSize = 4;
const longWaitMs = 3_000;
// Grace period after the abort: an aborted command still sends one reply.
const replyMs = 3_000;

function keyOf({ tenant, person }: Owner): string {
  return `${tenant}/${person}`;
}

/** Sums by tenant and by person, without those that are zero. */
function createSums() {
  const sums = new Map<string, number>();
  return {
    ofTenant: ({ tenant }: Owner): number => sums.get(tenant) ?? 0,
    ofPerson: (owner: Owner): number => sums.get(keyOf(owner)) ?? 0,
    add(owner: Owner, by: number): void {
      for (const key of [owner.tenant, keyOf(owner)]) {
        const sum = (sums.get(key) ?? 0) + by;
        if (sum > 0) sums.set(key, sum);
        else sums.delete(key);
      }
    },
  };
}

interface Waiting {
  readonly owner: Owner;
  readonly start: () => void;
}

export type InFlight = ReturnType<typeof createInFlight>;

/** How much work is accepted, and when it begins. `manyTenants`: no workspace takes everything. */
export function createInFlight({ manyTenants }: { readonly manyTenants: boolean }) {
  const ending = new AbortController();
  const share = manyTenants ? tenantShare : Number.POSITIVE_INFINITY;
  const bytes = createSums();
  const work = createSums();
  let accepted = { deliveries: 0, bytes: 0 };
  let running = 0;
  /** By person, in the order of their turns. */
  const waiting = new Map<string, Waiting[]>();
  let whenIdle: (() => void) | undefined;
  let isScheduled = false;

  const isIdle = (): boolean => accepted.deliveries + running + waiting.size === 0;
  const tellIdle = (): void => {
    if (isIdle()) whenIdle?.();
  };
  const waitUntilIdle = async (limitMs: number): Promise<void> => {
    if (isIdle()) return;
    const idle = new Promise<void>((resolve) => (whenIdle = resolve));
    await Promise.race([idle, pause(limitMs, undefined, { ref: false })]);
  };

  /** The first in turn of the tenant for which least runs; nobody takes the last free place. */
  const findNext = (): string | undefined => {
    const free = mostAtOnce - running;
    let next: string | undefined;
    let least = free === 0 ? 0 : share * free;
    for (const [person, [first]] of waiting) {
      if (!first || work.ofPerson(first.owner) >= mostAtOncePerPerson) continue;
      const ofTenant = work.ofTenant(first.owner);
      if (ofTenant >= least) continue;
      next = person;
      least = ofTenant;
    }
    return next;
  };
  /** Starts what waits, so that acknowledgements go before work. */
  const pump = (): void => {
    isScheduled = false;
    for (let left = batchSize; left > 0; left -= 1) {
      const person = findNext();
      // Everybody who waits has their share: the next end of work goes on.
      if (person === undefined) return;
      const line = waiting.get(person) ?? [];
      waiting.delete(person);
      line.shift()?.start();
      if (line.length > 0) waiting.set(person, line);
    }
    schedule();
  };
  const schedule = (): void => {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(pump);
  };
  const waitForTurn = (owner: Owner, onWait: () => void): Promise<void> =>
    new Promise((resolve) => {
      const longWait = setTimeout(() => tenantScope.run(owner.tenant, onWait), longWaitMs);
      const start = (): void => {
        clearTimeout(longWait);
        work.add(owner, 1);
        running += 1;
        resolve();
      };
      const person = keyOf(owner);
      const line = waiting.get(person) ?? [];
      line.push({ owner, start });
      waiting.set(person, line);
      schedule();
    });

  return {
    /** Aborted once the grace period of a stop is over. */
    ending: ending.signal,
    /** Returns the end of an accepted delivery; undefined where too much is under way. */
    admit(owner: Owner, bodyBytes: number): (() => void) | undefined {
      const size = Math.max(smallestBytes, bodyBytes + overheadBytes);
      const free = mostBytes - accepted.bytes;
      // There is always room for the next person.
      if (size > free || bytes.ofPerson(owner) >= free || bytes.ofTenant(owner) >= share * free)
        return undefined;
      const change = (by: 1 | -1): void => {
        accepted = { deliveries: accepted.deliveries + by, bytes: accepted.bytes + by * size };
        bytes.add(owner, by * size);
      };
      change(1);
      return () => {
        change(-1);
        tellIdle();
      };
    },

    /** In turns. The signal aborts when the bot stops; `onWait` is called once if the wait is long. */
    async run<T>(
      task: (signal: AbortSignal) => Promise<T>,
      person: Person,
      onWait = (): void => undefined,
    ): Promise<T> {
      const owner = { tenant: tenantId(person), person: person.userId };
      await waitForTurn(owner, onWait);
      try {
        return await tenantScope.run(owner.tenant, () => task(ending.signal));
      } finally {
        work.add(owner, -1);
        running -= 1;
        schedule();
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
