import type { Kysely, Transaction } from 'kysely';
import { yieldToEventLoop } from '../../lib/time.ts';
import type { Schema } from '../../store/schema.ts';
import type { Audit } from '../audit/audit.ts';
import {
  advanceVersion,
  isAuthentic,
  type NewestVersion,
  type SealedTable,
  type Slot,
  signVersion,
} from '../keys/sealed-rows.ts';
import { readKeyId, SealError, type Sealer } from '../keys/sealing.ts';
import {
  countRows,
  destroySealed,
  findRowsNotUnder,
  findRowsUnder,
  findVersions,
  openRowOfTenant,
  replaceSealed,
  type SealedRow,
  versionNoun,
} from './sealed-tables.ts';

export interface Rewrapped {
  /** Now under the primary key. */
  readonly moved: number;
  /** Changed by people meanwhile, who sealed them anew. */
  readonly overtaken: number;
  /** Rows that do not open, as `tenant/user`; they were left as they are. */
  readonly broken: readonly string[];
}

type Outcome = 'moved' | 'overtaken' | 'broken';

const batchSize = 100;

/**
 * Puts everything under the primary key while people work. Each row changes by compare-and-set on the value that was
 * read, so a key that a person links at the same moment stays. An interrupted run continues where it was, since only
 * rows that are not under the primary key are read.
 */
export async function rewrap(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  tables: readonly SealedTable[];
  progress: (line: string) => void;
}): Promise<Rewrapped> {
  const { db, sealer, tables, progress } = options;
  const total = { moved: 0, overtaken: 0, broken: [] as string[] };

  const moveAll = async <Row extends Slot>(
    noun: SealedTable['noun'],
    read: (after: Slot | undefined) => Promise<Row[]>,
    move: (row: Row) => Promise<Outcome>,
  ): Promise<void> => {
    let done = 0;
    let rows = await read(undefined);
    while (rows.length > 0) {
      for (const row of rows) {
        const outcome = await move(row);
        if (outcome === 'broken') total.broken.push(`${row.tenant}/${row.userId}`);
        else total[outcome] += 1;
      }
      done += rows.length;
      progress(`${countRows(noun, done)} looked at`);
      // In the embedded database nothing else runs between queries otherwise.
      await yieldToEventLoop();
      rows = await read(rows.at(-1));
    }
  };

  for (const table of tables) {
    await moveAll(
      table.noun,
      (after) => findRowsNotUnder(db, table, sealer.keyId, after, batchSize),
      (row) => moveRow(db, sealer, table, row),
    );
  }
  await moveAll(
    versionNoun,
    (after) => findVersions(db, 'not under', sealer.keyId, after, batchSize),
    (record) => moveVersion(db, sealer, record),
  );
  return { ...total, broken: [...new Set(total.broken)] };
}

async function moveRow(
  db: Kysely<Schema>,
  sealer: Sealer,
  table: SealedTable,
  row: SealedRow,
): Promise<Outcome> {
  try {
    const { secret, context } = await openRowOfTenant(sealer, row);
    const sealed = await sealer.seal(secret, context);
    const replaced = await replaceSealed(db, table, row, { sealed, keyId: readKeyId(sealed) });
    return replaced ? 'moved' : 'overtaken';
  } catch (error) {
    if (error instanceof SealError) return 'broken';
    throw error;
  }
}

async function moveVersion(
  db: Kysely<Schema>,
  sealer: Sealer,
  record: Slot & NewestVersion,
): Promise<Outcome> {
  try {
    if (!isAuthentic(sealer, record, record)) return 'broken';
  } catch (error) {
    if (error instanceof SealError) return 'broken';
    throw error;
  }
  return (await signVersion(db, sealer, record, record.version, record.mac)) ? 'moved' : 'overtaken';
}

/**
 * Destroys every row under a key that is lost, or that does not open under the one it names; returns how many. The
 * owner of one connects again.
 */
export async function destroyRowsByKey(options: {
  db: Kysely<Schema>;
  sealer: Sealer;
  tables: readonly SealedTable[];
  audit: Audit;
  now: () => Date;
  keyId: string;
}): Promise<number> {
  const { db, sealer, tables, audit, now, keyId } = options;
  let destroyed = 0;
  const destroy = async (trx: Transaction<Schema>, table: SealedTable, row: SealedRow): Promise<void> => {
    await advanceVersion(trx, sealer, row, now());
    if (!(await destroySealed(trx, table, row))) throw new Overtaken();
    if (table.name !== 'linked_keys') return;
    const { tenant, userId: subject } = row;
    const detail = { cause: 'encryption-key-lost' };
    await audit.record({ tenant, actor: 'system', event: 'key-destroyed', subject, detail }, { in: trx });
  };

  // Tokens of people before their installation, which takes the rest with it.
  for (const table of tables.toReversed()) {
    for (;;) {
      const rows = await findRowsUnder(db, table, keyId, batchSize);
      if (rows.length === 0) break;
      for (const row of rows) {
        // Rolled back where a person changed the row meanwhile: theirs stays.
        const step = db.transaction().execute((trx) => destroy(trx, table, row));
        destroyed += await step.then(
          () => 1,
          (error: unknown) => {
            if (error instanceof Overtaken) return 0;
            throw error;
          },
        );
      }
    }
  }
  // Records whose row is gone or under another key are signed anew, one higher, so that no older copy passes.
  for (;;) {
    const records = await findVersions(db, 'under', keyId, undefined, batchSize);
    if (records.length === 0) return destroyed;
    for (const record of records) {
      await db.transaction().execute((trx) => advanceVersion(trx, sealer, record, now()));
    }
  }
}

class Overtaken extends Error {}
