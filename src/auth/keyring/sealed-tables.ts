import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import { type NewestVersion, ownerColumn, type SealedTable, type Slot } from '../keys/sealed-rows.ts';
import { type SealContext, SealError, type Sealer } from '../keys/sealing.ts';

// Reads and replaces sealed rows of any table, for rotation and the check at start.

export interface SealedRow extends Slot {
  readonly sealed: string;
  readonly version: number;
}

/** How many rows of a table are under one key. */
export interface KeyUse {
  readonly table: string;
  readonly noun: SealedTable['noun'];
  readonly keyId: string;
  readonly rows: number;
}

/** The records of versions are counted beside the tables. */
export const versionNoun = ['version record', 'version records'] as const;

/** Counts what is sealed or signed, by table and key. */
export async function countKeyUse(db: Kysely<Schema>, tables: readonly SealedTable[]): Promise<KeyUse[]> {
  const nouns = new Map<string, KeyUse['noun']>(tables.map(({ name, noun }) => [name, noun]));
  nouns.set('sealed_versions', versionNoun);
  const counts = [...nouns.keys()].map(
    (name) =>
      sql`select ${sql.lit(name)} as table, key_id, count(*) as rows from ${sql.table(name)} group by 2`,
  );
  const { rows } = await sql<{ table: string; key_id: string; rows: number }>`
    ${sql.join(counts, sql` union all `)} order by 2, 1`.execute(db);
  return rows.map(({ table, key_id: keyId, rows: count }) => ({
    table,
    noun: nouns.get(table) ?? versionNoun,
    keyId,
    rows: count,
  }));
}

/** `12 linked keys`. */
export function countRows([one, many]: KeyUse['noun'], rows: number): string {
  return `${rows.toLocaleString('en-US')} ${rows === 1 ? one : many}`;
}

/** `12 linked keys, 1 installation`: the rows under one key; undefined = none. */
export function describeUse(use: readonly KeyUse[], keyId: string): string | undefined {
  const counts = use.filter((one) => one.keyId === keyId && one.rows > 0);
  return counts.length === 0 ? undefined : counts.map(({ noun, rows }) => countRows(noun, rows)).join(', ');
}

/** Rows that are not under this key, in the order of their slots, after the given one. */
export function findRowsNotUnder(
  db: Kysely<Schema>,
  table: SealedTable,
  keyId: string,
  after: Slot | undefined,
  limit: number,
): Promise<SealedRow[]> {
  return selectRows(db, table, sql<boolean>`key_id <> ${keyId}`, after, limit);
}

export function findRowsUnder(
  db: Kysely<Schema>,
  table: SealedTable,
  keyId: string,
  limit: number,
): Promise<SealedRow[]> {
  return selectRows(db, table, sql<boolean>`key_id = ${keyId}`, undefined, limit);
}

async function selectRows(
  db: Kysely<Schema>,
  table: SealedTable,
  condition: RawBuilder<boolean>,
  after: Slot | undefined,
  limit: number,
): Promise<SealedRow[]> {
  const owner = ownerColumn(table);
  const beyond = after ? sql`and (tenant, ${owner}) > (${after.tenant}, ${after.userId})` : sql``;
  const { rows } = await sql<{ tenant: string; user_id: string; sealed: string; version: number }>`
    select tenant, ${owner} as user_id, sealed, version from ${sql.table(table.name)}
     where ${condition} ${beyond} order by tenant, ${owner} limit ${limit}`.execute(db);
  const { kind } = table;
  return rows.map(({ user_id: userId, ...row }) => ({ ...row, userId, kind }));
}

/**
 * Opens a row without knowing whether its tenant is an organisation or a workspace; the seal knows.
 *
 * @throws SealError
 */
export async function openRowOfTenant(
  sealer: Sealer,
  row: SealedRow,
): Promise<{ secret: Secret; context: SealContext }> {
  const place = { user: row.userId, kind: row.kind, version: row.version };
  const ofWorkspace: SealContext = { ...place, enterprise: '', team: row.tenant };
  const ofOrganisation: SealContext = { ...place, enterprise: row.tenant, team: '' };
  try {
    return { secret: await sealer.open(row.sealed, ofWorkspace), context: ofWorkspace };
  } catch (error) {
    if (!(error instanceof SealError) || error.code !== 'refused') throw error;
    return { secret: await sealer.open(row.sealed, ofOrganisation), context: ofOrganisation };
  }
}

/** Puts the same value under another key; false = the row changed since it was read. */
export async function replaceSealed(
  db: Kysely<Schema>,
  table: SealedTable,
  row: SealedRow,
  next: { readonly sealed: string; readonly keyId: string },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update ${sql.table(table.name)} set sealed = ${next.sealed}, key_id = ${next.keyId}
     where tenant = ${row.tenant} and ${ownerColumn(table)} = ${row.userId}
       and sealed = ${row.sealed}`.execute(db);
  return numAffectedRows === 1n;
}

/** Destroys a row; false = it changed since it was read. */
export async function destroySealed(
  trx: Transaction<Schema>,
  table: SealedTable,
  row: SealedRow,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table.name)}
     where tenant = ${row.tenant} and ${ownerColumn(table)} = ${row.userId}
       and sealed = ${row.sealed}`.execute(trx);
  return numAffectedRows === 1n;
}

/** Records of versions that are signed under this key, or under any other, after the given slot. */
export async function findVersions(
  db: Kysely<Schema>,
  which: 'under' | 'not under',
  keyId: string,
  after: Slot | undefined,
  limit: number,
): Promise<(Slot & NewestVersion)[]> {
  let query = db
    .selectFrom('sealed_versions')
    .select(['tenant', 'user_id as userId', 'kind', 'version', 'key_id as keyId', 'mac'])
    .where('key_id', which === 'under' ? '=' : '<>', keyId);
  if (after)
    query = query.where(
      sql<boolean>`(tenant, user_id, kind) > (${after.tenant}, ${after.userId}, ${after.kind})`,
    );
  return query.orderBy('tenant').orderBy('user_id').orderBy('kind').limit(limit).execute();
}
