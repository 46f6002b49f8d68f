import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { variableValueKind } from '../../operations/values.ts';
import type { Schema } from '../../store/schema.ts';
import { auditKeyKind } from '../audit/checkpoint-queries.ts';
import { installationKind, installationUserKind } from '../installation-queries.ts';
import { linkedKeyKind } from '../keys/linked-keys.ts';
import type { NewestVersion, Slot } from './sealed-versions.ts';

/** A table whose rows are sealed under keys of the keyring. */
export interface SealedTable {
  readonly name:
    | 'linked_keys'
    | 'installations'
    | 'installation_users'
    | 'operation_values'
    | 'audit_signing_keys';
  readonly kind: string;
  /** The column that says whose a row is; undefined where it belongs to the tenant itself. */
  readonly owner: 'user_id' | 'owner_id' | undefined;
}

/** All of them. What is sealed in a new table is named here, so that rotation, start and status know it. */
export const sealedTables: readonly SealedTable[] = [
  { name: 'linked_keys', kind: linkedKeyKind, owner: 'user_id' },
  { name: 'installations', kind: installationKind, owner: undefined },
  { name: 'installation_users', kind: installationUserKind, owner: 'user_id' },
  { name: 'operation_values', kind: variableValueKind, owner: 'owner_id' },
  { name: 'audit_signing_keys', kind: auditKeyKind, owner: undefined },
];

export interface SealedRow extends Slot {
  readonly sealed: string;
  readonly version: number;
}

/** How many rows of a table are under one key. */
export interface KeyUse {
  readonly table: SealedTable['name'] | 'sealed_versions';
  readonly keyId: string;
  readonly rows: number;
}

/** Counts what is sealed or signed, by table and key. */
export async function countKeyUse(db: Kysely<Schema>): Promise<KeyUse[]> {
  const names = [...sealedTables.map(({ name }) => name), 'sealed_versions' as const];
  const counts = names.map(
    (name) =>
      sql`select ${sql.lit(name)} as table, key_id, count(*) as rows from ${sql.table(name)} group by 2`,
  );
  const { rows } = await sql<{ table: KeyUse['table']; key_id: string; rows: number }>`
    ${sql.join(counts, sql` union all `)} order by 2, 1`.execute(db);
  return rows.map(({ table, key_id: keyId, rows: count }) => ({ table, keyId, rows: count }));
}

/** Rows that are not under this key, or are from before versions; in order of their places, after the given one. */
export function findRowsNotUnder(
  db: Kysely<Schema>,
  table: SealedTable,
  keyId: string,
  after: Slot | undefined,
  most: number,
): Promise<SealedRow[]> {
  const outside = sql<boolean>`(key_id <> ${keyId} or version = 0)`;
  return selectRows(db, table, outside, after, most);
}

/** Rows that are under this key. */
export function findRowsUnder(
  db: Kysely<Schema>,
  table: SealedTable,
  keyId: string,
  most: number,
): Promise<SealedRow[]> {
  return selectRows(db, table, sql<boolean>`key_id = ${keyId}`, undefined, most);
}

async function selectRows(
  db: Kysely<Schema>,
  table: SealedTable,
  which: RawBuilder<boolean>,
  after: Slot | undefined,
  most: number,
): Promise<SealedRow[]> {
  const user = userColumn(table);
  const beyond = after ? sql`and (tenant, ${user}) > (${after.tenant}, ${after.userId})` : sql``;
  const { rows } = await sql<{ tenant: string; user_id: string; sealed: string; version: number }>`
    select tenant, ${user} as user_id, sealed, version from ${sql.table(table.name)}
     where ${which} ${beyond} order by tenant, ${user} limit ${most}`.execute(db);
  return rows.map(({ tenant, user_id: userId, sealed, version }) => ({
    tenant,
    userId,
    kind: table.kind,
    sealed,
    version,
  }));
}

/** Puts the same value under another key; false = the row is no longer the one that was read. */
export async function replaceSealed(
  db: Kysely<Schema>,
  table: SealedTable,
  row: SealedRow,
  next: { readonly sealed: string; readonly keyId: string; readonly version: number },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update ${sql.table(table.name)}
       set sealed = ${next.sealed}, key_id = ${next.keyId}, version = ${next.version}
     where tenant = ${row.tenant} and ${userColumn(table)} = ${row.userId}
       and sealed = ${row.sealed}`.execute(db);
  return numAffectedRows === 1n;
}

/** Destroys a row, where it is still the one that was read. */
export async function destroySealed(
  trx: Transaction<Schema>,
  table: SealedTable,
  row: SealedRow,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table.name)}
     where tenant = ${row.tenant} and ${userColumn(table)} = ${row.userId}
       and sealed = ${row.sealed}`.execute(trx);
  return numAffectedRows === 1n;
}

/** Records of versions, signed under other keys than this one (or under `under`), after the given place. */
export async function findVersionsToSign(
  db: Kysely<Schema>,
  which: { readonly notUnder: string } | { readonly under: string },
  after: Slot | undefined,
  most: number,
): Promise<(Slot & NewestVersion)[]> {
  let query = db.selectFrom('sealed_versions').selectAll();
  query =
    'under' in which ? query.where('key_id', '=', which.under) : query.where('key_id', '<>', which.notUnder);
  if (after)
    query = query.where(
      sql<boolean>`(tenant, user_id, kind) > (${after.tenant}, ${after.userId}, ${after.kind})`,
    );
  const rows = await query.orderBy('tenant').orderBy('user_id').orderBy('kind').limit(most).execute();
  return rows.map(({ tenant, user_id: userId, kind, version, key_id: keyId, mac }) => ({
    tenant,
    userId,
    kind,
    version,
    keyId,
    mac,
  }));
}

function userColumn({ owner }: SealedTable): RawBuilder<unknown> {
  return owner === undefined ? sql`''::text` : sql.ref(owner);
}
