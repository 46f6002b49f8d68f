import type { Db } from '../store/schema.ts';

/** True for one caller with this id among all processes, until it is given back. Ids are kept for a day. */
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

export function createReleases(db: Db): (id: string) => Promise<void> {
  return async (id) => {
    await db.deleteFrom('deliveries').where('id', '=', id).execute();
  };
}
