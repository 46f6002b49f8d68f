import { createHmac } from 'node:crypto';
import { UserError } from '../../errors.ts';
import type { Db } from '../../store/schema.ts';
import type { SealedTable } from '../keys/sealed-rows.ts';
import { createSealer, SealError } from '../keys/sealing.ts';
import type { Keyring, KeyringKey } from './keyring.ts';
import { countKeyUse, describeUse, findRows, type KeyUse } from './sealed-tables.ts';

const guide = 'docs/operating.md, “Lost keyring”, says what to do where it is gone for good.';

/**
 * Checks that this keyring opens what the database holds. Call before anything is served or sealed. Stores a check
 * value, which only the same key gives, for each key that is new here.
 *
 * @throws UserError with key ids and counts, where rows are sealed under a key that is not there, or where a key id
 * stands for another key than the one that sealed rows here.
 */
export async function checkKeyring(db: Db, keyring: Keyring, tables: readonly SealedTable[]): Promise<void> {
  const use = await countKeyUse(db, tables);
  const missing = findMissingKeys(use, keyring);
  if (missing.length > 0) {
    const lines = missing.map((id) => `  - ${id}: ${describeUse(use, id)}`);
    throw new UserError(
      `The keyring lacks what the database was sealed with:\n${lines.join('\n')}`,
      `Put ${missing.length === 1 ? 'that key' : 'those keys'} back into the keyring, from your backup. Nothing was changed. ${guide}`,
    );
  }
  const rows = await db.selectFrom('keyring_keys').select(['key_id', 'check_value']).execute();
  const stored = new Map(rows.map((row) => [row.key_id, row.check_value]));
  for (const id of keyring.ids) {
    const key = keyring.find(id);
    if (!key) continue;
    const own = checkValueOf(key);
    const provesItself = stored.has(id) || (await opensItsRows(db, keyring, id, tables));
    if (provesItself && own === (stored.get(id) ?? (await storeCheckValue(db, id, own)))) continue;
    throw new UserError(
      `The keyring's key ${id} is not the key that this database knows as ${id}.`,
      `Put the right key back under that id, from your backup; give a new key an id of its own. Nothing was changed. ${guide}`,
    );
  }
}

/** The ids of keys that rows are sealed under and that the keyring lacks. */
export function findMissingKeys(use: readonly KeyUse[], keyring: Keyring): string[] {
  return [...new Set(use.map(({ keyId }) => keyId))].filter((id) => !keyring.find(id));
}

/** Forgets a key that is no longer used. */
export async function forgetCheckValue(db: Db, keyId: string): Promise<void> {
  await db.deleteFrom('keyring_keys').where('key_id', '=', keyId).execute();
}

/** Stores a key's check value, unless there is one; returns the stored one. */
async function storeCheckValue(db: Db, keyId: string, value: string): Promise<string> {
  const row = await db
    .insertInto('keyring_keys')
    .values({ key_id: keyId, check_value: value })
    // Changes nothing, but returns the row that is there.
    .onConflict((conflict) => conflict.column('key_id').doUpdateSet({ key_id: keyId }))
    .returning('check_value')
    .executeTakeFirstOrThrow();
  return row.check_value;
}

function checkValueOf({ macKey, id }: KeyringKey): string {
  return createHmac('sha256', macKey).update(`cdn-chatops key check\0${id}`).digest('hex');
}

// Rows tried per table: one altered row must not stop a start, and one that opens proves the key.
const probes = 5;

/** True, too, where there are none. */
async function opensItsRows(db: Db, keyring: Keyring, id: string, tables: readonly SealedTable[]) {
  const sealer = createSealer(keyring);
  let tried = 0;
  for (const table of tables) {
    for (const row of await findRows(db, table, 'under', id, { limit: probes })) {
      tried += 1;
      try {
        await sealer.open(row.value, row);
        return true;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
      }
    }
  }
  return tried === 0;
}
