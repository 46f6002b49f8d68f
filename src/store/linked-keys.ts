import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Schema } from './schema.ts';

/** Whose row: `userId` is unique within `tenant`, an organisation or a workspace. */
export interface Owner {
  readonly tenant: string;
  readonly userId: string;
}

/** Stores a person's sealed key; an older one is replaced. */
export async function putLinkedKey(
  db: Kysely<Schema>,
  row: Insertable<Schema['linked_keys']>,
): Promise<void> {
  const { tenant, user_id, ...rest } = row;
  await db
    .insertInto('linked_keys')
    .values({ tenant, user_id, ...rest })
    .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet(rest))
    .execute();
}

/** The row of one person, if there is one. */
export function findLinkedKey(
  db: Kysely<Schema>,
  owner: Owner,
): Promise<Selectable<Schema['linked_keys']> | undefined> {
  return db
    .selectFrom('linked_keys')
    .selectAll()
    .where('tenant', '=', owner.tenant)
    .where('user_id', '=', owner.userId)
    .executeTakeFirst();
}

/** Destroys the row of one person; false = there was none. */
export async function deleteLinkedKey(db: Kysely<Schema>, owner: Owner): Promise<boolean> {
  const result = await db
    .deleteFrom('linked_keys')
    .where('tenant', '=', owner.tenant)
    .where('user_id', '=', owner.userId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Destroys every row of an organisation or workspace; says how many. */
export async function deleteLinkedKeysOf(db: Kysely<Schema>, tenant: string): Promise<number> {
  const result = await db.deleteFrom('linked_keys').where('tenant', '=', tenant).executeTakeFirst();
  return Number(result.numDeletedRows);
}
