import { type RawBuilder, sql } from 'kysely';
import type { Secret } from '../../secrets/secret.ts';
import type { Db, Trx } from '../../store/schema.ts';
import { readKeyId, SealError, type Sealer, type Slot } from './sealing.ts';

// Every sealed row has a version, and `sealed_versions` holds the newest one of each slot: an older copy of a row that is
// put back does not match it and does not open.

/** A table whose rows are sealed under keys of the keyring. Each subject exports its own; the app has the list of all. */
export interface SealedTable {
  readonly name: 'linked_keys' | 'installations' | 'operation_values';
  readonly kind: string;
  /** The column that names the owner within the tenant; undefined where a row belongs to the tenant itself. */
  readonly owner: 'user_id' | 'owner_id' | undefined;
  readonly noun: readonly [one: string, many: string];
}

export interface VersionedRow {
  readonly sealed: string;
  readonly version: number;
  readonly newest: number | null;
}

export interface SealedColumns {
  readonly sealed: string;
  readonly key_id: string;
  readonly version: number;
}

type Owner = Pick<Slot, 'tenant' | 'userId'>;

/** A column for a query of a sealed table: the newest version of each row's slot. */
export function newestVersion(table: SealedTable) {
  return sql<number | null>`(
    select newest.version from sealed_versions newest
     where newest.tenant = ${sql.ref(`${table.name}.tenant`)} and newest.user_id = ${ownerColumn(table)}
       and newest.kind = ${table.kind})`.as('newest');
}

/** The owner within the tenant, as `sealed_versions` names it. */
export function ownerColumn({ name, owner }: SealedTable): RawBuilder<string> {
  return owner === undefined ? sql`''::text` : sql.ref(`${name}.${owner}`);
}

/** Seals a value as the newest of its slot; every older one becomes void. */
export async function sealRow(
  trx: Trx,
  sealer: Sealer,
  secret: Secret,
  slot: Slot,
  now: Date,
): Promise<SealedColumns> {
  const version = await advanceVersion(trx, slot, now);
  const sealed = await sealer.seal(secret, { ...slot, version });
  return { sealed, key_id: readKeyId(sealed), version };
}

/** @throws SealError `replayed` where the row is not the newest of its slot. */
export async function openRow(sealer: Sealer, row: VersionedRow, slot: Slot): Promise<Secret> {
  const { sealed, version, newest } = row;
  if (newest !== version)
    throw new SealError('replayed', 'A stored value is not the newest: an older copy was put back.');
  return sealer.open(sealed, { ...slot, version });
}

/** Opens the value of a slot of this table; undefined if the slot is empty. @throws SealError */
export async function openSlot(
  db: Db,
  sealer: Sealer,
  table: SealedTable,
  { tenant, userId }: Owner,
): Promise<Secret | undefined> {
  const { rows } = await sql<VersionedRow>`
    select sealed, version, ${newestVersion(table)} from ${sql.table(table.name)}
     where tenant = ${tenant} and ${ownerColumn(table)} = ${userId}`.execute(db);
  return rows[0] && openRow(sealer, rows[0], { tenant, userId, kind: table.kind });
}

/** Destroys the row of a slot and voids every copy of it; false if it is missing, or not `under` that key. */
export async function destroySlot(
  trx: Trx,
  table: SealedTable,
  { tenant, userId }: Owner,
  now: Date,
  under?: string,
): Promise<boolean> {
  // The version first, as everywhere, so that no two transactions wait for each other.
  await advanceVersion(trx, { tenant, userId, kind: table.kind }, now);
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table.name)} where tenant = ${tenant} and ${ownerColumn(table)} = ${userId}
       and ${under === undefined ? sql`true` : sql`key_id = ${under}`}`.execute(trx);
  return numAffectedRows > 0n;
}

/**
 * Makes every version of a slot void and returns a new one; others that want the slot wait for the end of the transaction.
 * Versions begin at the clock's milliseconds, so that none is given twice even if a record was turned back.
 */
async function advanceVersion(trx: Trx, { tenant, userId, kind }: Slot, now: Date): Promise<number> {
  const { version } = await trx
    .insertInto('sealed_versions')
    .values({ tenant, user_id: userId, kind, version: now.getTime() })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'user_id', 'kind'])
        .doUpdateSet({ version: sql<number>`greatest(excluded.version, sealed_versions.version + 1)` }),
    )
    .returning('version')
    .executeTakeFirstOrThrow();
  return version;
}
