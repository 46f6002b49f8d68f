import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/**
 * Takes a delivery of Slack. True for exactly one of any number of callers with the same id, on any number of
 * processes; false = already seen. Slack repeats deliveries for up to an hour, the memory of them lasts a day.
 */
export async function claimDelivery(db: Kysely<Schema>, id: string, now: Date): Promise<boolean> {
  const result = await db
    .insertInto('deliveries')
    .values({ id, seen_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Forgets the deliveries that were taken before this moment; says how many. */
export async function purgeDeliveries(db: Kysely<Schema>, before: Date): Promise<number> {
  const result = await db.deleteFrom('deliveries').where('seen_at', '<', before).executeTakeFirst();
  return Number(result.numDeletedRows);
}
