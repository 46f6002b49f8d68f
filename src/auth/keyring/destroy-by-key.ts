import type { Kysely } from 'kysely';
import type { Schema } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
import { linkedKeyKind } from '../keys/linked-keys.ts';
import { undefinedIfConflict } from '../keys/sealed-rows.ts';
import type { Sealer } from '../keys/sealing.ts';
import { advanceVersion } from '../keys/versions.ts';
import { destroySealed, findRowsUnder, findVersionsToSign, sealedTables } from './sealed-tables.ts';

const batch = 100;

/**
 * Destroys every row under a key that is lost, or that does not open under the one it names; says how many. Whoever
 * owned one connects again.
 */
export async function destroyRowsByKey(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  audit: Audit;
  now: () => Date;
  keyId: string;
}): Promise<number> {
  const { db, sealer, audit, now, keyId } = options;
  let destroyed = 0;
  // People's rows before their installation's: that takes the rest with it.
  for (const table of sealedTables.toReversed()) {
    for (;;) {
      const rows = await findRowsUnder(db, table, keyId, batch);
      if (rows.length === 0) break;
      for (const row of rows) {
        const gone = await undefinedIfConflict(db, async (trx) => {
          await advanceVersion(trx, sealer, row, now());
          if (!(await destroySealed(trx, table, row))) return false;
          if (row.kind === linkedKeyKind) {
            const { tenant, userId: subject } = row;
            const detail = { cause: 'encryption-key-lost' };
            await audit.record(
              { tenant, actor: 'system', event: 'key-destroyed', subject, detail },
              { in: trx },
            );
          }
          return true;
        });
        if (gone) destroyed += 1;
      }
    }
  }
  // Records whose row is gone or under another key: signed anew, one higher, so that no older copy passes.
  for (;;) {
    const records = await findVersionsToSign(db, { under: keyId }, undefined, batch);
    if (records.length === 0) return destroyed;
    for (const record of records) {
      await db.transaction().execute((trx) => advanceVersion(trx, sealer, record, now()));
    }
  }
}
