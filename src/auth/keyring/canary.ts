import { randomBytes } from 'node:crypto';
import { Secret } from '../../secrets/secret.ts';
import type { Db } from '../../store/schema.ts';
import { createSealer, SealError } from '../keys/sealing.ts';
import type { Keyring } from './keyring.ts';

// One value of no meaning, sealed under the primary key of the process that last started or changed its keys. A process
// that cannot open it cannot open what people link there either.

const slot = { tenant: 'deployment', userId: '', kind: 'canary' };

/** Leaves a value sealed under the primary key, in place of one that is sealed under another key. */
export async function storeCanary(db: Db, keyring: Keyring): Promise<void> {
  const sealed = await createSealer(keyring).seal(new Secret(randomBytes(8).toString('hex')), slot);
  const { id } = keyring.primary;
  await db.transaction().execute(async (trx) => {
    const keys = trx.updateTable('keyring_keys');
    await keys.set({ canary: null }).where('key_id', '!=', id).where('canary', 'is not', null).execute();
    await keys.set({ canary: sealed }).where('key_id', '=', id).where('canary', 'is', null).execute();
  });
}

/** The problem in words if this keyring does not open the value; undefined if it does. Rejects as the database does. */
export async function findCanaryProblem(db: Db, keyring: Keyring): Promise<string | undefined> {
  const row = await db
    .selectFrom('keyring_keys')
    .select(['key_id', 'canary'])
    .where('canary', 'is not', null)
    .executeTakeFirst();
  if (!row?.canary) return undefined;
  try {
    await createSealer(keyring).open(row.canary, slot);
    return undefined;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return error.code === 'unknown_key'
      ? `the keyring lacks ${row.key_id}, under which another process seals: add it here (docs/operating.md, “Rotation”)`
      : `the keyring’s ${row.key_id} does not open what was sealed under it (docs/operating.md, “Restore”)`;
  }
}
