import type { Insertable, Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** Stores what an installation granted; an older one of the same workspace or organisation is replaced. */
export async function putInstallation(
  db: Kysely<Schema>,
  row: Insertable<Schema['installations']>,
  user: Insertable<Schema['installation_users']> | undefined,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { tenant, ...rest } = row;
    await trx
      .insertInto('installations')
      .values(row)
      .onConflict((conflict) => conflict.column('tenant').doUpdateSet(rest))
      .execute();
    if (!user) return;
    const { tenant: _tenant, user_id: _user, ...granted } = user;
    await trx
      .insertInto('installation_users')
      .values({ ...user, tenant })
      .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet(granted))
      .execute();
  });
}

/** The sealed installation of a workspace or organisation, if there is one. */
export async function findInstallation(db: Kysely<Schema>, tenant: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('installations')
    .select('sealed')
    .where('tenant', '=', tenant)
    .executeTakeFirst();
  return row?.sealed;
}

/** The sealed tokens that one person granted there, if any. */
export async function findInstallationUser(
  db: Kysely<Schema>,
  tenant: string,
  userId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('installation_users')
    .select('sealed')
    .where('tenant', '=', tenant)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.sealed;
}

/** Destroys an installation with all tokens that people granted there; false = there was none. */
export async function deleteInstallation(db: Kysely<Schema>, tenant: string): Promise<boolean> {
  const result = await db.deleteFrom('installations').where('tenant', '=', tenant).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Destroys the tokens that one person granted; false = there were none. */
export async function deleteInstallationUser(
  db: Kysely<Schema>,
  tenant: string,
  userId: string,
): Promise<boolean> {
  const result = await db
    .deleteFrom('installation_users')
    .where('tenant', '=', tenant)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}
