import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import { UserError } from '../../errors.ts';
import type { Schema } from '../../store/schema.ts';
import { describeUse, openRow } from '../keys/sealed-rows.ts';
import { createSealer, SealError } from '../keys/sealing.ts';
import type { Keyring, KeyringKey } from './keyring.ts';
import { findCheckValues, rememberCheckValue } from './queries.ts';
import { countKeyUse, findRowsUnder, sealedTables } from './sealed-tables.ts';

const guide = 'docs/operating.md, “Lost keyring”, says what to do where it is gone for good.';

/**
 * Whether this keyring opens what the database holds: to be asked before anything is served or sealed. Remembers a
 * check value for each key that is new here.
 *
 * @throws UserError with key ids and counts, where rows are sealed under a key that is not there, or where a key id
 * stands for another key than the one that sealed rows here.
 */
export async function checkKeyring(db: Kysely<Schema>, keyring: Keyring): Promise<void> {
  const use = await countKeyUse(db);
  const missing = [...new Set(use.map(({ keyId }) => keyId))].filter((id) => !keyring.find(id));
  if (missing.length > 0) {
    const lines = missing.map((id) => `  - ${id}: ${describeUse(use, id)}`);
    throw new UserError(
      `The keyring lacks what the database was sealed with:\n${lines.join('\n')}`,
      `Put ${missing.length === 1 ? 'that key' : 'those keys'} back into the keyring, from your backup. Nothing was changed. ${guide}`,
    );
  }
  const known = await findCheckValues(db);
  for (const id of keyring.ids) {
    const key = keyring.find(id);
    if (!key) continue;
    const own = checkValueOf(key);
    let expected = known.get(id);
    if (expected === undefined) {
      if (!(await opensItsRows(db, keyring, id))) throw otherKey(id);
      expected = await rememberCheckValue(db, id, own);
    }
    if (!equal(own, expected)) throw otherKey(id);
  }
}

function otherKey(id: string): UserError {
  return new UserError(
    `The keyring's key ${id} is not the key that this database knows as ${id}.`,
    `Put the right key back under that id, from your backup; give a new key an id of its own. Nothing was changed. ${guide}`,
  );
}

function checkValueOf({ macKey, id }: KeyringKey): string {
  return createHmac('sha256', macKey).update(`cdn-chatops key check\0${id}`).digest('hex');
}

function equal(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

// One altered row must not stop a start, so a few are tried: one that opens proves the key.
const probes = 5;

async function opensItsRows(db: Kysely<Schema>, keyring: Keyring, id: string): Promise<boolean> {
  const sealer = createSealer(keyring);
  let tried = 0;
  for (const table of sealedTables) {
    for (const row of await findRowsUnder(db, table, id, probes)) {
      tried += 1;
      try {
        await openRow(sealer, row);
        return true;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
      }
    }
  }
  return tried === 0;
}
