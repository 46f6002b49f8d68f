import type { Db } from './schema.ts';

/** Claims something that must happen once: true for exactly one caller with this id, until it is given back. */
export function createClaims(db: Db, now: () => Date): (id: string) => Promise<boolean> {
  return async (id) => {
    const claimed = await db
      .insertInto('deliveries')
      .values({ id, seen_at: now() })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst();
    return claimed !== undefined;
  };
}

/** Gives a claim back: what it stood for was not done. */
export function createReleases(db: Db): (id: string) => Promise<void> {
  return async (id) => {
    await db.deleteFrom('deliveries').where('id', '=', id).execute();
  };
}
