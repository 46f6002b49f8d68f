import type { Insertable, Kysely, Selectable } from 'kysely';
import type { Schema } from '../../store/schema.ts';

export type PolicyRow = Selectable<Schema['policies']>;

/** The version that holds; undefined where no admin has said anything. */
export function findPolicy(db: Kysely<Schema>, tenant: string): Promise<PolicyRow | undefined> {
  return db
    .selectFrom('policies')
    .selectAll()
    .where('tenant', '=', tenant)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** One version, also an older one. */
export function findPolicyVersion(
  db: Kysely<Schema>,
  tenant: string,
  version: number,
): Promise<PolicyRow | undefined> {
  return db
    .selectFrom('policies')
    .selectAll()
    .where('tenant', '=', tenant)
    .where('version', '=', version)
    .executeTakeFirst();
}

/** Every tenant whose admins have said something. */
export async function findPolicyTenants(db: Kysely<Schema>): Promise<string[]> {
  const rows = await db.selectFrom('policies').select('tenant').distinct().orderBy('tenant').execute();
  return rows.map(({ tenant }) => tenant);
}

/** Adds the next version; false where somebody else has added it before. Which is next is for the caller to know. */
export async function addPolicy(db: Kysely<Schema>, row: Insertable<Schema['policies']>): Promise<boolean> {
  const result = await db
    .insertInto('policies')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant', 'version']).doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}
