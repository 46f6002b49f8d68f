import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { UserError } from '../../errors.ts';
import type { Database } from '../database.ts';
import { type Db, migrationProvider, type Trx } from '../schema.ts';
import { type Header, readMove, type TableEnd, type TableHead } from './format.ts';
import { createRowWriter, prepareSession, readRows, setSequence } from './rows.ts';
import { findQueueVersion, findSchemaVersion, findTables, type Table, tableRef } from './tables.ts';

/**
 * Puts what a file holds into an empty database, in one transaction: all of it or nothing. The tables are made as they were
 * where the file comes from, filled, read again and compared, and then brought to this version.
 *
 * @throws UserError where the file is damaged or of another version, and where the database is not empty.
 */
export async function importDatabase({ db }: Database, path: string): Promise<Header> {
  // The whole file first: nothing is begun with one that was cut off.
  const header = await readMove(path);
  await refuseOtherVersion(header);
  const importing = db.transaction().execute(async (trx) => {
    await prepareSession(trx);
    await refuseFilled(trx, header);
    await migrate(trx, header.schema);
    await makeQueue(trx, header);
    const tables = await findTables(trx);
    const ends = await fillTables(trx, tables, path);
    await compareTables(trx, tables, ends);
    await migrate(trx);
  });
  await importing.catch(explainFailure);
  return header;
}

// insufficient_privilege, and the class of what has run out: disk, memory, connections.
const ofTheServer = /^(?:42501|53...)$/u;

function explainFailure(error: unknown): never {
  const { cause = error } = error as Error;
  const { code, message } = cause as { code?: unknown; message?: string };
  if (error instanceof UserError || !ofTheServer.test(String(code))) throw error;
  throw new UserError(
    `The database refused the import: ${message} (${String(code)}).`,
    'Nothing was imported. Give its user the right to make tables and schemas, and the server room, and try again.',
  );
}

async function refuseOtherVersion({ schema, bot }: Header): Promise<void> {
  if (schema in (await migrationProvider.getMigrations())) return;
  throw new UserError(
    `The file was written by version ${bot} of the bot, and its tables (${schema}) are newer than this version.`,
    'Import it with that version or a later one. Nothing was changed.',
  );
}

async function refuseFilled(db: Db, { schema }: Header): Promise<void> {
  const there: string[] = [];
  for (const table of await findTables(db)) {
    const { rows } = await sql<{ rows: number }>`select count(*) as rows from ${tableRef(table)}`.execute(db);
    if (rows[0]?.rows) there.push(`  ${table.name}: ${rows[0].rows.toLocaleString('en-US')}`);
  }
  const nextStep =
    'Give an empty one: create a new database, or set DATA_DIR to a new directory. Nothing was changed.';
  if (there.length > 0)
    throw new UserError(`The database is not empty. Rows in it:\n${there.join('\n')}`, nextStep);
  const made = await findSchemaVersion(db);
  if (made !== undefined && made !== schema) {
    throw new UserError(
      `The database holds no rows, but its tables are of ${made}, and those of the file of ${schema}.`,
      nextStep,
    );
  }
}

/** To this migration; without one to the newest. In the caller's transaction. */
async function migrate(trx: Trx, target?: string): Promise<void> {
  const migrator = new Migrator({ db: trx, provider: migrationProvider });
  const { error } = await (target === undefined ? migrator.migrateToLatest() : migrator.migrateTo(target));
  if (error !== undefined) throw new Error('The tables could not be made', { cause: error });
}

/** The queue's own tables, as pg-boss makes them at its first start. */
async function makeQueue(trx: Trx, { queue, bot }: Header): Promise<void> {
  if (queue === null) return;
  if ((await findQueueVersion(trx)) === null) {
    const { getConstructionPlans } = await import('pg-boss');
    const [, statements] = /^\s*begin;(.*)commit;\s*$/isu.exec(getConstructionPlans()) ?? [];
    // It would end the transaction of the import.
    if (statements === undefined) throw new Error('The plan of the job queue is no transaction');
    await sql.raw(statements).execute(trx);
    await prepareSession(trx);
  }
  const made = await findQueueVersion(trx);
  if (made === queue) return;
  throw new UserError(
    `The jobs in the file are of version ${queue} of the queue's tables, and this version makes version ${made}.`,
    `Import with version ${bot} of the bot, which wrote the file, and start this version there. Nothing was changed.`,
  );
}

async function fillTables(
  trx: Trx,
  tables: readonly Table[],
  path: string,
): Promise<Map<TableHead, TableEnd>> {
  const ends = new Map<TableHead, TableEnd>();
  let filling: { head: TableHead; table: Table; writer: ReturnType<typeof createRowWriter> } | undefined;
  await readMove(path, {
    async head(head) {
      const table = matchTable(tables, head);
      filling = { head, table, writer: createRowWriter(trx, table) };
    },
    async row(line) {
      await filling?.writer.add(line);
    },
    async end(end) {
      if (!filling) return;
      await filling.writer.flush();
      for (const name of filling.table.sequences) {
        const sequence = end.sequences[name];
        if (sequence) await setSequence(trx, name, sequence);
      }
      ends.set(filling.head, end);
    },
  });
  return ends;
}

/** The table with its columns in the order of the file. */
function matchTable(tables: readonly Table[], { table: name, columns }: TableHead): Table {
  const table = tables.find((one) => one.name === name);
  const known = new Set(table?.columns.map((column) => column.join(' ')));
  if (!table || columns.length !== known.size || !columns.every((column) => known.has(column.join(' '))))
    throw new UserError(
      `The table ${name} of the file is not as this version makes it.`,
      'Import with the version of the bot that wrote the file. Nothing was changed.',
    );
  return { ...table, columns };
}

/** Reads everything again. @throws Error where it is not what the file holds. */
async function compareTables(
  trx: Trx,
  tables: readonly Table[],
  ends: ReadonlyMap<TableHead, TableEnd>,
): Promise<void> {
  for (const [head, end] of ends) {
    const rows = readRows(trx, matchTable(tables, head));
    let next = await rows.next();
    while (next.done !== true) next = await rows.next();
    if (next.value.rows !== end.rows || next.value.sha256 !== end.sha256)
      throw new Error(`The table ${head.table} does not hold what the file does; nothing was imported`);
  }
}
