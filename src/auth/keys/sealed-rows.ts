import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import type { Secret } from '../../secrets/secret.ts';
import type { Schema } from '../../store/schema.ts';
import { readKeyId, type SealContext, SealError, type Sealer } from './sealing.ts';

// Every sealed row has a version, and `sealed_versions` holds the newest one of each slot, authenticated under the
// keyring. An older copy of a row that is put back does not match it and does not open.

/**
 * A table whose rows are sealed under keys of the keyring. Each subject exports a description of its tables; the app
 * passes the list of all of them to rotation, the check at start, and the status.
 */
export interface SealedTable {
  readonly name:
    | 'linked_keys'
    | 'installations'
    | 'installation_users'
    | 'operation_values'
    | 'audit_signing_keys';
  /** What its rows are sealed as; part of what they are bound to. */
  readonly kind: string;
  /** The column that names the owner within the tenant; undefined where a row belongs to the tenant itself. */
  readonly owner: 'user_id' | 'owner_id' | undefined;
  readonly noun: readonly [one: string, many: string];
}

/** A place that holds one sealed value at a time. `userId` is empty where it belongs to the tenant itself. */
export interface Slot {
  readonly tenant: string;
  readonly userId: string;
  readonly kind: string;
}

/** The newest version of a slot, with what authenticates it. */
export interface NewestVersion {
  readonly version: number;
  readonly keyId: string;
  readonly mac: string;
}

/** Expects a selected row with the column of `newestVersion`. */
export interface VersionedRow {
  readonly sealed: string;
  readonly version: number;
  readonly newest: NewestVersion | null;
}

/** The columns of a row that hold a sealed value. */
export interface SealedColumns {
  readonly sealed: string;
  readonly key_id: string;
  readonly version: number;
}

/** A column for a query of a sealed table: the record of the newest version of each row's slot. */
export function newestVersion(table: SealedTable) {
  return sql<NewestVersion | null>`(
    select json_build_object('version', newest.version, 'keyId', newest.key_id, 'mac', newest.mac)
      from sealed_versions newest
     where newest.tenant = ${sql.ref(`${table.name}.tenant`)} and newest.user_id = ${ownerColumn(table)}
       and newest.kind = ${table.kind})`.as('newest');
}

/** The owner within the tenant, as `sealed_versions` names it. */
export function ownerColumn({ name, owner }: SealedTable): RawBuilder<unknown> {
  return owner === undefined ? sql`''::text` : sql.ref(`${name}.${owner}`);
}

/** Seals a value as the newest of its slot; every older one becomes void. */
export async function sealRow(
  trx: Transaction<Schema>,
  sealer: Sealer,
  secret: Secret,
  context: SealContext,
  now: Date,
): Promise<SealedColumns> {
  const version = await advanceVersion(trx, sealer, slotOf(context), now);
  const sealed = await sealer.seal(secret, { ...context, version });
  return { sealed, key_id: readKeyId(sealed), version };
}

/** @throws SealError `replayed` where the row is not the newest of its slot or its record is not authentic. */
export async function openRow(sealer: Sealer, row: VersionedRow, context: SealContext): Promise<Secret> {
  const { sealed, version, newest } = row;
  if (newest?.version !== version || !isAuthentic(sealer, slotOf(context), newest)) {
    throw new SealError(
      'replayed',
      'A stored value does not match the record of its newest version: an older copy was put back.',
    );
  }
  return sealer.open(sealed, { ...context, version });
}

/**
 * Makes every version of a slot void and returns a new one; where nothing is sealed for it, the slot stays empty for
 * good. Others that want the same slot wait for the end of the transaction. Versions begin at the clock's milliseconds,
 * so that none is given twice even if a record was turned back.
 */
export async function advanceVersion(
  trx: Transaction<Schema>,
  sealer: Sealer,
  slot: Slot,
  now: Date,
): Promise<number> {
  const { version } = await trx
    .insertInto('sealed_versions')
    .values({
      tenant: slot.tenant,
      user_id: slot.userId,
      kind: slot.kind,
      version: now.getTime(),
      key_id: '',
      mac: '',
    })
    .onConflict((conflict) =>
      conflict.columns(['tenant', 'user_id', 'kind']).doUpdateSet({
        version: sql<number>`greatest(excluded.version, sealed_versions.version + 1)`,
        mac: '',
      }),
    )
    .returning('version')
    .executeTakeFirstOrThrow();
  await signVersion(trx, sealer, slot, version);
  return version;
}

/** Signs a version under the primary key; false = it is no longer the one whose `previousMac` was read. */
export async function signVersion(
  db: Kysely<Schema>,
  sealer: Sealer,
  slot: Slot,
  version: number,
  previousMac = '',
): Promise<boolean> {
  const { keyId, mac } = sealer.sign(versionParts(slot, version));
  const { numUpdatedRows } = await db
    .updateTable('sealed_versions')
    .set({ key_id: keyId, mac })
    .where('tenant', '=', slot.tenant)
    .where('user_id', '=', slot.userId)
    .where('kind', '=', slot.kind)
    .where('version', '=', version)
    .where('mac', '=', previousMac)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Whether the bot wrote this record. @throws SealError `unknown_key` */
export function isAuthentic(sealer: Sealer, slot: Slot, newest: NewestVersion): boolean {
  return sealer.verify(versionParts(slot, newest.version), newest);
}

/** The slot of a context: within an organisation the workspace is not part of it. */
export function slotOf({ enterprise, team, user, kind }: SealContext): Slot {
  return { tenant: enterprise === '' ? team : enterprise, userId: user, kind };
}

function versionParts({ tenant, userId, kind }: Slot, version: number): (string | number)[] {
  return ['cdn-chatops version v1', kind, tenant, userId, version];
}
