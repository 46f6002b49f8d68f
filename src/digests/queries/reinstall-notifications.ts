import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import type { DigestRow } from './digests.ts';

type OwnerColumns = Pick<DigestRow, 'tenant' | 'enterprise_id' | 'team_id' | 'owner'>;

/**
 * Takes it on to tell whoever owns digests that stopped with their installation: those owners, once. Without a tenant of
 * all that have one again, or where the bot serves one workspace and keeps none.
 */
export async function claimReinstallNotifications(
  db: Kysely<Schema>,
  tenant: string | undefined,
): Promise<readonly OwnerColumns[]> {
  const isBack =
    tenant === undefined
      ? sql<SqlBool>`(exists (select from installations i where i.tenant = digests.tenant)
          or not exists (select from installations))`
      : sql<SqlBool>`tenant = ${tenant}`;
  const taken = await db
    .updateTable('digests')
    .set({ paused_told: 'asked' })
    .where('paused', '=', 'uninstalled')
    .where('deleted_at', 'is', null)
    // Null: from a version that told nobody.
    .where((where) => where.or([where('paused_told', 'is', null), where('paused_told', '=', 'no')]))
    .where(isBack)
    .returning(['tenant', 'enterprise_id', 'team_id', 'owner'])
    .execute();
  return [...new Map(taken.map((row) => [`${row.tenant}/${row.owner}`, row])).values()];
}

/** Those that their owner is to be told of, oldest first. */
export function findReinstalledDigests(
  db: Kysely<Schema>,
  { tenant, owner }: Pick<OwnerColumns, 'tenant' | 'owner'>,
): Promise<DigestRow[]> {
  return db
    .selectFrom('digests')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('owner', '=', owner)
    .where('paused', '=', 'uninstalled')
    .where('paused_told', '=', 'asked')
    .where('deleted_at', 'is', null)
    .orderBy('made_at')
    .orderBy('id')
    .execute();
}

/** Notes that they were told of (`yes`), or are still to be: together (`no`), or each in its channel (`each`). */
export async function settleReinstallNotifications(
  db: Kysely<Schema>,
  rows: readonly Pick<DigestRow, 'id'>[],
  told: 'yes' | 'no' | 'each',
): Promise<void> {
  await db
    .updateTable('digests')
    .set({ paused_told: told })
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .where('paused_told', '=', 'asked')
    .execute();
}
