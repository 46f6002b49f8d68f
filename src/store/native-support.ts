import { createCache } from '../lib/cache.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import type { Db } from './schema.ts';

/** Whether Slack took a chart or table by a method. */
interface Seen {
  readonly method: string;
  readonly kind: string;
  readonly taken: boolean;
}

/** After this it is tried anew: a plan may have changed. */
const trustedMs = 3 * dayMs;
/** How long a process goes without asking what others have seen. */
const cachedMs = 10 * minuteMs;

/** What Slack took and refused of charts and tables in each workspace, for all processes. */
export function createNativeSupport({ db, now }: { readonly db: Db; readonly now: () => Date }) {
  type Known = ReadonlyMap<string, Seen & { readonly seenAt: Date }>;
  const cache = createCache<Known>({ now, maxEntries: 10_000, ttlMs: cachedMs });
  const isTrusted = (seenAt: Date): boolean => seenAt.getTime() > now().getTime() - trustedMs;

  const load = async (tenant: string): Promise<Known> => {
    const rows = await db.selectFrom('native_support').selectAll().where('tenant', '=', tenant).execute();
    return new Map(rows.map(({ seen_at: seenAt, ...row }) => [keyOf(row), { ...row, seenAt }]));
  };
  const know = (tenant: string): Promise<Known> => cache.load(tenant, () => load(tenant));

  return {
    /** What was seen within three days. */
    async list(tenant: string): Promise<readonly Seen[]> {
      return [...(await know(tenant)).values()].filter(({ seenAt }) => isTrusted(seenAt));
    },
    /** Writes only what is new. */
    async record(tenant: string, seen: readonly Seen[]): Promise<void> {
      const known = await know(tenant);
      const isNew = (one: Seen): boolean => {
        const before = known.get(keyOf(one));
        return before?.taken !== one.taken || !isTrusted(before.seenAt);
      };
      const seenAt = now();
      const added = seen.filter(isNew).map((one) => ({ ...one, seenAt }));
      if (added.length === 0) return;
      cache.set(tenant, new Map([...known, ...added.map((one) => [keyOf(one), one] as const)]));
      await db
        .insertInto('native_support')
        .values(added.map(({ method, kind, taken }) => ({ tenant, method, kind, taken, seen_at: seenAt })))
        .onConflict((conflict) =>
          conflict.columns(['tenant', 'method', 'kind']).doUpdateSet((row) => ({
            taken: row.ref('excluded.taken'),
            seen_at: row.ref('excluded.seen_at'),
          })),
        )
        .execute();
    },
    /** What follows is tried anew. */
    async forget(tenant: string): Promise<void> {
      cache.set(tenant, new Map());
      await db.deleteFrom('native_support').where('tenant', '=', tenant).execute();
    },
  };
}

function keyOf({ method, kind }: Pick<Seen, 'method' | 'kind'>): string {
  return `${method} ${kind}`;
}
