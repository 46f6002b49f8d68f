import { type Insertable, type Kysely, type Selectable, sql, type Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import { type JoinedVersion, newestColumns } from '../keyring/sealed-versions.ts';

/** What a linked key is sealed as. */
export const linkedKeyKind = 'cdn-key';

/** Whose row: `userId` is unique within `tenant`, an organisation or a workspace. */
export interface Owner {
  readonly tenant: string;
  readonly userId: string;
}

/** Until the end of the transaction: `some` links in this tenant at once, or `none` beside this one. Taken first. */
export async function lockLinking(
  trx: Transaction<Schema>,
  tenant: string,
  others: 'some' | 'none',
): Promise<void> {
  const lock = others === 'some' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock';
  await sql`select ${sql.raw(lock)}(hashtextextended(${`cdn-chatops/link/${tenant}`}, 0))`.execute(trx);
}

/** Stores a person's sealed key; true = it replaced an older one. */
export async function putLinkedKey(
  trx: Transaction<Schema>,
  row: Insertable<Schema['linked_keys']>,
): Promise<boolean> {
  const { tenant, user_id, ...rest } = row;
  const { numUpdatedRows } = await trx
    .updateTable('linked_keys')
    .set(rest)
    .where('tenant', '=', tenant)
    .where('user_id', '=', user_id)
    .executeTakeFirst();
  if (numUpdatedRows > 0n) return true;
  // Whoever links has the person's version, so nobody else puts a row between the two.
  await trx.insertInto('linked_keys').values(row).execute();
  return false;
}

/** The row of one person, if there is one, with the record of its newest version. */
export function findLinkedKey(
  db: Kysely<Schema>,
  owner: Owner,
): Promise<(Selectable<Schema['linked_keys']> & JoinedVersion) | undefined> {
  return db
    .selectFrom('linked_keys')
    .leftJoin('sealed_versions', (join) =>
      join
        .onRef('sealed_versions.tenant', '=', 'linked_keys.tenant')
        .onRef('sealed_versions.user_id', '=', 'linked_keys.user_id')
        .on('sealed_versions.kind', '=', linkedKeyKind),
    )
    .selectAll('linked_keys')
    .select(newestColumns)
    .where('linked_keys.tenant', '=', owner.tenant)
    .where('linked_keys.user_id', '=', owner.userId)
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

/** Who of an organisation or workspace has a row, in order. */
export async function findLinkedUsers(db: Kysely<Schema>, tenant: string): Promise<string[]> {
  const rows = await db
    .selectFrom('linked_keys')
    .select('user_id')
    .where('tenant', '=', tenant)
    .orderBy('user_id')
    .execute();
  return rows.map((row) => row.user_id);
}

/** Destroys every row of an organisation or workspace; says whose they were. */
export async function deleteLinkedKeysOf(db: Kysely<Schema>, tenant: string): Promise<string[]> {
  const rows = await db.deleteFrom('linked_keys').where('tenant', '=', tenant).returning('user_id').execute();
  return rows.map((row) => row.user_id).toSorted();
}

/** Who linked a key from one workspace of an organisation. */
export async function findLinkedUsersOfTeam(
  db: Kysely<Schema>,
  tenant: string,
  teamId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('linked_keys')
    .select('user_id')
    .where('tenant', '=', tenant)
    .where('team_id', '=', teamId)
    .execute();
  return rows.map(({ user_id: userId }) => userId);
}
