import type { Kysely } from 'kysely';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Schema } from '../../store/schema.ts';
import { countRows, openRow, undefinedIfConflict } from '../keys/sealed-rows.ts';
import { readKeyId, SealError, type Sealer } from '../keys/sealing.ts';
import { advanceVersion, isAuthentic, signVersionOf } from '../keys/versions.ts';
import {
  findRowsNotUnder,
  findVersionsToSign,
  replaceSealed,
  type SealedRow,
  type SealedTable,
  sealedTables,
} from './sealed-tables.ts';
import { type Slot, signVersion } from './sealed-versions.ts';

export interface Rewrapped {
  /** Now under the primary key. */
  readonly moved: number;
  /** Changed by people meanwhile, who sealed them anew. */
  readonly overtaken: number;
  /** Whose rows do not open, as `tenant/user`: they were left as they are. */
  readonly broken: readonly string[];
}

const batch = 100;

/**
 * Puts everything under the primary key while people work: each row by compare-and-set on what was read, so that a key
 * that somebody links at the same moment stays. Stopped half-way it goes on where it was, since only rows that are not
 * under the primary key are read.
 */
export async function rewrap(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  now: () => Date;
  progress: (line: string) => void;
}): Promise<Rewrapped> {
  const { db, sealer, now, progress } = options;
  const total = { moved: 0, overtaken: 0, broken: [] as string[] };
  const count = (outcome: Outcome, slot: Slot): void => {
    if (outcome === 'moved') total.moved += 1;
    else if (outcome === 'overtaken') total.overtaken += 1;
    else total.broken.push(`${slot.tenant}/${slot.userId}`);
  };

  for (const table of sealedTables) {
    let done = 0;
    await inBatches(
      (after) => findRowsNotUnder(db, table, sealer.keyId, after, batch),
      async (row) => count(await moveRow(db, sealer, table, row, now), row),
      (rows) => {
        done += rows;
        progress(`${countRows(table.name, done)} looked at`);
      },
    );
  }
  let done = 0;
  await inBatches(
    (after) => findVersionsToSign(db, { notUnder: sealer.keyId }, after, batch),
    async (record) => {
      if (!isReadable(sealer, record)) return count('broken', record);
      const signed = await signVersion(db, record, signVersionOf(sealer, record, record.version), record.mac);
      count(signed ? 'moved' : 'overtaken', record);
    },
    (rows) => {
      done += rows;
      progress(`${countRows('sealed_versions', done)} looked at`);
    },
  );
  return { ...total, broken: [...new Set(total.broken)] };
}

type Outcome = 'moved' | 'overtaken' | 'broken';

async function moveRow(
  db: Kysely<Schema>,
  sealer: Sealer,
  table: SealedTable,
  row: SealedRow,
  now: () => Date,
): Promise<Outcome> {
  try {
    const { secret, context } = await openRow(sealer, row);
    if (row.version !== 0) {
      const sealed = await sealer.seal(secret, context);
      const next = { sealed, keyId: readKeyId(sealed), version: row.version };
      return (await replaceSealed(db, table, row, next)) ? 'moved' : 'overtaken';
    }
    // From before versions: it gets its first one, together with its record.
    const moved = await undefinedIfConflict(db, async (trx) => {
      const version = await advanceVersion(trx, sealer, row, now());
      const sealed = await sealer.seal(secret, { ...context, version });
      return replaceSealed(trx, table, row, { sealed, keyId: readKeyId(sealed), version });
    });
    return moved ? 'moved' : 'overtaken';
  } catch (error) {
    if (error instanceof SealError) return 'broken';
    throw error;
  }
}

function isReadable(sealer: Sealer, record: Parameters<typeof isAuthentic>[2] & Slot): boolean {
  try {
    return isAuthentic(sealer, record, record);
  } catch (error) {
    if (error instanceof SealError) return false;
    throw error;
  }
}

async function inBatches<Row extends Slot>(
  read: (after: Slot | undefined) => Promise<Row[]>,
  each: (row: Row) => Promise<void>,
  progress: (rows: number) => void,
): Promise<void> {
  let after: Slot | undefined;
  for (;;) {
    const rows = await read(after);
    if (rows.length === 0) return;
    for (const row of rows) {
      await each(row);
      after = row;
    }
    progress(rows.length);
    // In the embedded database nothing else runs between queries otherwise (DESIGN §9).
    await yieldToEventLoop();
  }
}
