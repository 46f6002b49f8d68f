import { type Kysely, sql, type Transaction } from 'kysely';
import type { Schema } from '../../store/schema.ts';

/**
 * A place that holds one sealed row at a time. `userId` is empty where it belongs to the tenant itself; where a person
 * has several it also names which.
 */
export interface Slot {
  readonly tenant: string;
  readonly userId: string;
  readonly kind: string;
}

/** The newest version of a place, with what authenticates it. */
export interface NewestVersion {
  readonly version: number;
  readonly keyId: string;
  readonly mac: string;
}

/**
 * The next version of a place, at least `least` and higher than every one before. Others that want the same place wait
 * for the end of the transaction. To be followed by `signVersion`.
 */
export async function takeVersion(trx: Transaction<Schema>, slot: Slot, least: number): Promise<number> {
  const { version } = await trx
    .insertInto('sealed_versions')
    .values({
      tenant: slot.tenant,
      user_id: slot.userId,
      kind: slot.kind,
      version: least,
      key_id: '',
      mac: '',
    })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant', 'user_id', 'kind'])
        .doUpdateSet({ version: sql<number>`greatest(excluded.version, sealed_versions.version + 1)` }),
    )
    .returning('version')
    .executeTakeFirstOrThrow();
  return version;
}

/** Writes what authenticates a version; false = it is no longer the one that `expected` was read of. */
export async function signVersion(
  db: Kysely<Schema>,
  slot: Slot,
  signed: NewestVersion,
  expected?: string,
): Promise<boolean> {
  let query = db
    .updateTable('sealed_versions')
    .set({ key_id: signed.keyId, mac: signed.mac })
    .where('tenant', '=', slot.tenant)
    .where('user_id', '=', slot.userId)
    .where('kind', '=', slot.kind)
    .where('version', '=', signed.version);
  if (expected !== undefined) query = query.where('mac', '=', expected);
  const { numUpdatedRows } = await query.executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The columns that a join with `sealed_versions` adds to a row. */
export interface JoinedVersion {
  newest_version: number | null;
  newest_key_id: string | null;
  newest_mac: string | null;
}

/** What such a join found. */
export function selectNewestVersion(row: JoinedVersion): NewestVersion | undefined {
  const { newest_version: version, newest_key_id: keyId, newest_mac: mac } = row;
  return version === null || keyId === null || mac === null ? undefined : { version, keyId, mac };
}

/** Selects the joined columns under the names of `JoinedVersion`. */
export const newestColumns = [
  'sealed_versions.version as newest_version',
  'sealed_versions.key_id as newest_key_id',
  'sealed_versions.mac as newest_mac',
] as const;
