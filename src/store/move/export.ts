import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { UserError } from '../../errors.ts';
import { version } from '../../lib/version.ts';
import { type Database, findSchemaState } from '../database.ts';
import type { Trx } from '../schema.ts';
import { writeSnapshot } from './file.ts';
import { formatVersion, type Header, writeLine } from './format.ts';
import { readRows, readSequences } from './rows.ts';
import { findQueueVersion, findSchemaVersion, findTables, type Table, tableRef } from './tables.ts';

/**
 * Writes everything that the database holds into a file, as it is at one moment: rows as they are sealed, jobs, the audit.
 *
 * @throws UserError where the database is empty or of a later version, and as `writeSnapshot`.
 */
export async function exportDatabase({ db, engine }: Database, path: string): Promise<Header> {
  const schema = await findSchemaVersion(db);
  if (schema === undefined)
    throw new UserError(
      'The database is empty: there is nothing to export.',
      'Set DATABASE_URL or DATA_DIR as the bot has them.',
    );
  if ((await findSchemaState(db)) === 'newer') {
    throw new UserError(
      `The database was written by a newer version of the bot (${schema}).`,
      'Export with that version or a later one.',
    );
  }
  return writeSnapshot(db, path, async (trx, append) => {
    const tables = await findTables(trx);
    const counts: Header['tables'] = [];
    for (const table of tables) counts.push(await countRows(trx, table));
    const header: Header = {
      format: 'cdn-chatops database',
      version: formatVersion,
      bot: version,
      made: new Date().toISOString(),
      engine,
      schema,
      queue: await findQueueVersion(trx),
      tables: counts,
    };
    await writeTables(trx, tables, header, append);
    return header;
  });
}

async function writeTables(
  trx: Trx,
  tables: readonly Table[],
  header: Header,
  append: (text: string) => Promise<void>,
): Promise<void> {
  const hash = createHash('sha256');
  const write = async (text: string): Promise<void> => {
    hash.update(text);
    await append(text);
  };
  await write(writeLine(header));
  let total = 0;
  for (const table of tables) {
    const { name, columns } = table;
    await write(writeLine({ table: name, columns: columns.map(([column, type]) => [column, type]) }));
    const rows = readRows(trx, table);
    let next = await rows.next();
    for (; next.done !== true; next = await rows.next()) await write(next.value);
    // After the rows: a sequence is of no snapshot, and must not be behind them.
    const sequences = await readSequences(trx, table);
    await write(writeLine({ endOf: name, ...next.value, sequences }));
    total += next.value.rows;
  }
  await append(writeLine({ endOf: 'file', rows: total, sha256: hash.digest('hex') }));
}

async function countRows(trx: Trx, table: Table): Promise<Header['tables'][number]> {
  const { rows } = await sql<{ rows: number }>`select count(*) as rows from ${tableRef(table)}`.execute(trx);
  return { name: table.name, rows: rows[0]?.rows ?? 0 };
}
