import { AsyncLocalStorage } from 'node:async_hooks';

/** The workspace or organisation (`tenantId`) that the running work is for; undefined = the bot itself. */
export const tenantScope = new AsyncLocalStorage<string>();

/** A tenant may take this many times what is left free: alone three quarters of all, beside three others a fifth. */
const shareOfFree = 3;

interface Limits {
  /** Upper bound of concurrent work. */
  readonly max: number;
  /** Upper bound for one person. */
  readonly maxPerPerson?: number;
  /** Leave room for other tenants. False where there is one only. */
  readonly manyTenants?: boolean;
}

export interface FairQueue {
  /**
   * Adds work behind earlier work of the same person. `start` gets a function to call when it has ended. While it waits,
   * the answer counts the work before it: what runs in its place, and what has an earlier turn.
   */
  add(
    owner: { readonly tenant: string; readonly person?: string },
    start: (end: () => void) => void,
  ): () => number;
  /** Starts one piece of work; false if nothing may start now. */
  startNext(): boolean;
  waiting(): number;
}

/**
 * Work that waits for its turn: tenant by tenant, within a tenant person by person. A tenant never takes the last of what
 * is free, so that one that is busy leaves room for the next, and many share evenly.
 *
 * The rule is that of shared switch buffers: Choudhury and Hahne, Dynamic Queue Length Thresholds, 1998.
 */
export function createFairQueue({ max, maxPerPerson = max, manyTenants = true }: Limits): FairQueue {
  interface Line {
    readonly starts: ((end: () => void) => void)[];
    running: number;
  }
  // Both maps are in the order of their turns.
  const tenants = new Map<string, { readonly people: Map<string, Line>; running: number }>();
  let waiting = 0;
  let running = 0;

  return {
    add({ tenant, person = '' }, start) {
      const own = tenants.get(tenant) ?? { people: new Map<string, Line>(), running: 0 };
      tenants.set(tenant, own);
      const line = own.people.get(person) ?? { starts: [], running: 0 };
      own.people.set(person, line);
      line.starts.push(start);
      waiting += 1;
      return () => {
        const place = line.starts.indexOf(start);
        if (line.running >= maxPerPerson) return line.running + place;
        const ofPeople = [...own.people.values()].map((one) => ({ one, waiting: one.starts.length }));
        const turns = countEarlier(ofPeople, line, place);
        const free = max - running;
        if (manyTenants && free > 0 && own.running >= shareOfFree * free) return own.running + turns;
        const ofTenants = [...tenants.values()].map((one) => ({ one, waiting: countWaiting(one.people) }));
        return running + countEarlier(ofTenants, own, turns);
      };
    },
    startNext() {
      const free = max - running;
      if (free === 0) return false;
      const most = manyTenants ? shareOfFree * free : max;
      for (const [tenant, own] of tenants) {
        if (own.running >= most) continue;
        for (const [person, line] of own.people) {
          if (line.starts.length === 0 || line.running >= maxPerPerson) continue;
          moveLast(tenants, tenant);
          moveLast(own.people, person);
          for (const counted of [own, line]) counted.running += 1;
          running += 1;
          waiting -= 1;
          line.starts.shift()?.(() => {
            for (const counted of [own, line]) counted.running -= 1;
            running -= 1;
            if (line.running === 0 && line.starts.length === 0) own.people.delete(person);
            if (own.people.size === 0) tenants.delete(tenant);
          });
          return true;
        }
      }
      return false;
    },
    waiting: () => waiting,
  };
}

function countWaiting(people: ReadonlyMap<string, { readonly starts: readonly unknown[] }>): number {
  let count = 0;
  for (const { starts } of people.values()) count += starts.length;
  return count;
}

/** The turns before that of the entry's work at `place`, where each entry has one turn a round, in this order. */
function countEarlier<Entry>(
  entries: readonly { readonly one: Entry; readonly waiting: number }[],
  own: Entry,
  place: number,
): number {
  let count = place;
  let round = place + 1;
  for (const { one, waiting } of entries) {
    // Those behind it in the order have had a turn less by then.
    if (one === own) round = place;
    else count += Math.min(waiting, round);
  }
  return count;
}

function moveLast<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
