import type { Insertable, Kysely, Transaction } from 'kysely';
import type { Schema } from '../store/schema.ts';
import { type JoinedVersion, newestColumns } from './keyring/sealed-versions.ts';

/** What an installation and a person's own tokens in it are sealed as. */
export const installationKind = 'installation';
export const installationUserKind = 'installation-user';

/** A sealed value with its version and the record of the newest one. */
export type SealedRow = JoinedVersion & { readonly sealed: string; readonly version: number };

/** Stores what an installation granted; an older one of the same workspace or organisation is replaced. */
export async function putInstallation(
  trx: Transaction<Schema>,
  row: Insertable<Schema['installations']>,
): Promise<void> {
  const { tenant: _tenant, ...rest } = row;
  await trx
    .insertInto('installations')
    .values(row)
    .onConflict((conflict) => conflict.column('tenant').doUpdateSet(rest))
    .execute();
}

/** Stores the tokens that one person granted there; older ones are replaced. */
export async function putInstallationUser(
  trx: Transaction<Schema>,
  row: Insertable<Schema['installation_users']>,
): Promise<void> {
  const { tenant: _tenant, user_id: _user, ...rest } = row;
  await trx
    .insertInto('installation_users')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant', 'user_id']).doUpdateSet(rest))
    .execute();
}

/** The sealed installation of a workspace or organisation, if there is one. */
export function findInstallation(db: Kysely<Schema>, tenant: string): Promise<SealedRow | undefined> {
  return db
    .selectFrom('installations')
    .leftJoin('sealed_versions', (join) =>
      join
        .onRef('sealed_versions.tenant', '=', 'installations.tenant')
        .on('sealed_versions.user_id', '=', '')
        .on('sealed_versions.kind', '=', installationKind),
    )
    .select(['installations.sealed', 'installations.version', ...newestColumns])
    .where('installations.tenant', '=', tenant)
    .executeTakeFirst();
}

/** The sealed tokens that one person granted there, if any. */
export function findInstallationUser(
  db: Kysely<Schema>,
  tenant: string,
  userId: string,
): Promise<SealedRow | undefined> {
  return db
    .selectFrom('installation_users')
    .leftJoin('sealed_versions', (join) =>
      join
        .onRef('sealed_versions.tenant', '=', 'installation_users.tenant')
        .onRef('sealed_versions.user_id', '=', 'installation_users.user_id')
        .on('sealed_versions.kind', '=', installationUserKind),
    )
    .select(['installation_users.sealed', 'installation_users.version', ...newestColumns])
    .where('installation_users.tenant', '=', tenant)
    .where('installation_users.user_id', '=', userId)
    .executeTakeFirst();
}

/** Who granted tokens there, in order. */
export async function findInstallationUsers(db: Kysely<Schema>, tenant: string): Promise<string[]> {
  const rows = await db
    .selectFrom('installation_users')
    .select('user_id')
    .where('tenant', '=', tenant)
    .orderBy('user_id')
    .execute();
  return rows.map((row) => row.user_id);
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
