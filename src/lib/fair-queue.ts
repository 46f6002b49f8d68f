import { AsyncLocalStorage } from 'node:async_hooks';

/** The workspace or organization (`tenantId`) that the running work is for; undefined = the bot itself. */
export const tenantScope = new AsyncLocalStorage<string>();

/** A tenant may take this many times the free rest: alone three quarters of all, next to three others a fifth. */
const shareOfFree = 3;

interface Limits {
  readonly max: number;
  readonly maxPerPerson?: number;
  /** False where there is one only. */
  readonly manyTenants?: boolean;
}

/** Work waits its turn, tenant by tenant and person by person; none takes the last free place (Choudhury and Hahne, 1998). */
export function createFairQueue({ max, maxPerPerson = max, manyTenants = true }: Limits) {
  interface Line {
    readonly starts: ((end: () => void) => void)[];
    running: number;
  }
  // Both maps are in the order of their turns.
  const tenants = new Map<string, { readonly people: Map<string, Line>; running: number }>();
  let waiting = 0;
  let running = 0;

  return {
    /** Adds work behind earlier work of the same person. `start` gets a function to call when it has ended. */
    add(
      { tenant, person = '' }: { readonly tenant: string; readonly person?: string },
      start: (end: () => void) => void,
    ): void {
      const own = tenants.get(tenant) ?? { people: new Map<string, Line>(), running: 0 };
      tenants.set(tenant, own);
      const line = own.people.get(person) ?? { starts: [], running: 0 };
      own.people.set(person, line);
      line.starts.push(start);
      waiting += 1;
    },
    /** Starts one piece of work; false if nothing may start now. */
    startNext(): boolean {
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
    waiting: (): number => waiting,
  };
}

function moveLast<Value>(map: Map<string, Value>, key: string): void {
  const value = map.get(key);
  if (value === undefined) return;
  map.delete(key);
  map.set(key, value);
}
