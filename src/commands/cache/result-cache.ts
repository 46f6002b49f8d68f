/** A name for values of one kind: `defineShelf<Report>('origin-errors')`. */
export interface CacheSlot<T> {
  readonly name: string;
  /** Never there: it only ties the name to the type. */
  readonly holds?: T;
}

export function defineCacheSlot<T>(name: string): CacheSlot<T> {
  return { name };
}

/**
 * What was read for one person, kept for a short while so that buttons need not read it again. Bounded: `most` values
 * of one person and `most × 20` of all, those kept longest ago go first. Each value must itself be small.
 */
export function createResultCache(options: { now: () => Date; lifeMs: number; most?: number }) {
  const { now, lifeMs, most = 10 } = options;
  // A Map keeps its order: the first is the oldest. Keys are free of collisions, since no person key has a line break.
  const kept = new Map<string, { readonly owner: string; readonly value: unknown; readonly until: number }>();
  return {
    peek<T>(shelf: CacheSlot<T>, owner: string, key: string): T | undefined {
      const found = kept.get(named(shelf, owner, key));
      return found && found.until > now().getTime() ? (found.value as T) : undefined;
    },
    keep<T>(shelf: CacheSlot<T>, owner: string, key: string, value: T): void {
      const time = now().getTime();
      for (const [name, { until }] of kept) if (until <= time) kept.delete(name);
      const name = named(shelf, owner, key);
      kept.delete(name);
      kept.set(name, { owner, value, until: time + lifeMs });
      const own = [...kept].filter(([, entry]) => entry.owner === owner);
      for (const [oldest] of own.slice(0, Math.max(0, own.length - most))) kept.delete(oldest);
      for (const oldest of kept.keys()) {
        if (kept.size <= most * 20) break;
        kept.delete(oldest);
      }
    },
    drop(isGone: (owner: string) => boolean): void {
      for (const [name, { owner }] of kept) if (isGone(owner)) kept.delete(name);
    },
  };
}

function named(shelf: CacheSlot<unknown>, owner: string, key: string): string {
  return `${owner}\n${shelf.name}\n${key}`;
}
