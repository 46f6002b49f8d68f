import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { type JoinedVersion, newestColumns } from '../auth/keyring/sealed-versions.ts';
import type { Schema } from '../store/schema.ts';

/** What the value of a variable is sealed as. */
export const variableValueKind = 'variable-value';

export type OperationValueRow = Selectable<Schema['operation_values']>;

export async function putOperationValue(
  db: Kysely<Schema>,
  row: Insertable<Schema['operation_values']>,
): Promise<void> {
  await db.insertInto('operation_values').values(row).execute();
}

/** The sealed value of an operation, if it is still kept, with the record of its newest version. */
export function findOperationValue(
  db: Kysely<Schema>,
  tenant: string,
  ownerId: string,
): Promise<(OperationValueRow & JoinedVersion) | undefined> {
  return db
    .selectFrom('operation_values')
    .leftJoin('sealed_versions', (join) =>
      join
        .onRef('sealed_versions.tenant', '=', 'operation_values.tenant')
        .onRef('sealed_versions.user_id', '=', 'operation_values.owner_id')
        .on('sealed_versions.kind', '=', variableValueKind),
    )
    .selectAll('operation_values')
    .select(newestColumns)
    .where('operation_values.tenant', '=', tenant)
    .where('operation_values.owner_id', '=', ownerId)
    .executeTakeFirst();
}

export async function deleteOperationValue(
  db: Kysely<Schema>,
  tenant: string,
  ownerId: string,
): Promise<void> {
  await db
    .deleteFrom('operation_values')
    .where('tenant', '=', tenant)
    .where('owner_id', '=', ownerId)
    .execute();
}

/** The values of one person's operations, or of a tenant's. */
export function findOperationValuesOf(
  db: Kysely<Schema>,
  tenant: string,
  userId: string | undefined,
): Promise<Pick<OperationValueRow, 'tenant' | 'owner_id'>[]> {
  let query = db.selectFrom('operation_values').select(['tenant', 'owner_id']).where('tenant', '=', tenant);
  if (userId !== undefined) query = query.where(sql<boolean>`split_part(owner_id, '/', 1) = ${userId}`);
  return query.execute();
}

/**
 * Values that nobody needs any more: of what ended without success before `ended`; of what succeeded before `newest`;
 * and of what was overtaken by another success on the same variable before `overtaken`.
 */
export async function findIdleOperationValues(
  db: Kysely<Schema>,
  before: { readonly ended: Date; readonly newest: Date; readonly overtaken: Date },
): Promise<Pick<OperationValueRow, 'tenant' | 'owner_id'>[]> {
  const { rows } = await sql<Pick<OperationValueRow, 'tenant' | 'owner_id'>>`
    select v.tenant, v.owner_id from operation_values v join operations o on o.id = v.operation_id
     where (o.state not in ('proposed', 'approved', 'executing', 'succeeded') and o.moved_at < ${before.ended})
        or (o.state = 'succeeded' and (o.moved_at < ${before.newest} or exists (
             select 1 from operations later
              where later.tenant = o.tenant and later.path = o.path and later.value_mac is not null
                and later.state = 'succeeded' and later.moved_at > o.moved_at
                and later.moved_at < ${before.overtaken})))
     order by v.tenant, v.owner_id limit 1000`.execute(db);
  return rows;
}
