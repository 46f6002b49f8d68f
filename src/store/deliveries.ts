import { setImmediate as collectBatch } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from './schema.ts';

/** Claims a delivery of Slack: true for exactly one caller with this id, false where it was claimed already. */
export type Claim = (id: string) => Promise<boolean>;

/**
 * Claims for any number of processes on one database. Claims that come together share one statement, which is most of
 * the cost of an insert. Slack repeats deliveries for up to an hour; ids are kept for a day.
 */
export function createClaims(db: Db, now: () => Date): Claim {
  let batch: Set<string> | undefined;
  let inserted: Promise<Set<string>> = Promise.resolve(new Set());

  const insertNext = async (ids: Set<string>, earlier: Promise<unknown>): Promise<Set<string>> => {
    await Promise.all([collectBatch(), earlier.catch(() => undefined)]);
    batch = undefined;
    const { rows } = await sql<{ id: string }>`
      insert into deliveries (id, seen_at) select unnest(${[...ids]}::text[]), ${now()}::timestamptz
      on conflict (id) do nothing returning id`.execute(db);
    return new Set(rows.map(({ id }) => id));
  };

  return async (id) => {
    if (batch?.has(id)) return false;
    if (!batch) {
      batch = new Set();
      inserted = insertNext(batch, inserted);
    }
    batch.add(id);
    return (await inserted).has(id);
  };
}

/** Gives a claim back: what it stood for was not done. */
export function createReleases(db: Db): (id: string) => Promise<void> {
  return async (id) => {
    await db.deleteFrom('deliveries').where('id', '=', id).execute();
  };
}
