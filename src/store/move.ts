import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { UserError } from '../errors.ts';
import { parseJson } from '../lib/canonical-json.ts';
import { version } from '../lib/version.ts';
import type { Log } from '../telemetry/log.ts';
import { assertCurrentSchema, type Database, findExistingTables } from './database.ts';
import { createQueue } from './queue.ts';
import type { Db, Trx } from './schema.ts';

// A file of lines: a header, for each table its head and a JSON object a row, then the SHA-256 of all before.

const format = 'cdn-chatops database';
const formatVersion = 2;

const header = z.object({
  format: z.literal(format),
  version: z.int(),
  bot: z.string(),
  made: z.string(),
  engine: z.enum(['embedded', 'postgres']),
});
const tableHead = z.object({ table: z.string(), rows: z.int() });

export type Moved = z.output<typeof header> & { readonly tables: number; readonly rows: number };

/** Writes a snapshot of everything in the database to a file, sealed values as they are. @throws UserError */
export async function exportDatabase({ db, engine }: Database, path: string): Promise<Moved> {
  await assertCurrentSchema(db);
  return writeSnapshot(db, path, async (trx, append) => {
    const hash = createHash('sha256');
    const write = async (text: string): Promise<void> => {
      hash.update(text);
      await append(text);
    };
    const made = new Date().toISOString();
    const head = { format, version: formatVersion, bot: version, made, engine } as const;
    await write(`${JSON.stringify(head)}\n`);
    const total = { tables: 0, rows: 0 };
    for (const table of await findExistingTables(trx)) {
      const rows = await countRows(trx, table);
      await write(`${JSON.stringify({ table, rows })}\n`);
      await appendLines(trx, write, sql`select row_to_json(one)::text as line from ${sql.raw(table)} one`);
      total.tables += 1;
      total.rows += rows;
    }
    await append(`${JSON.stringify({ sha256: hash.digest('hex') })}\n`);
    return { ...head, ...total };
  });
}

/** Fills an empty database from such a file: all of it, or no row. @throws UserError */
export async function importDatabase(database: Database, path: string, log: Log): Promise<Moved> {
  const head = await checkFile(path);
  await refuseFilled(database.db);
  await database.migrate();
  const queue = createQueue({ database, log, now: () => new Date() });
  await queue.start({ jobs: [], ports: {}, work: false });
  await queue.stop();
  const importing = database.db.transaction().execute(async (trx) => {
    const total = await fillTables(trx, path);
    await continueSequences(trx);
    return { ...head, ...total };
  });
  return importing.catch((error: { readonly code?: unknown; readonly message?: unknown }) => {
    if (error instanceof UserError || !String(error.code).startsWith('53')) throw error;
    throw new UserError(
      `The database refused the import: ${String(error.message)} (${String(error.code)}).`,
      'Nothing was imported. Free disk space on the server, then try again.',
    );
  });
}

async function* readLines(path: string): AsyncGenerator<string, void> {
  let rest = '';
  try {
    for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
      // Not `readline`, which also ends lines where a text holds U+2028.
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new UserError(`The file ${path} cannot be read (${code}).`, 'Check the path.');
  }
  if (rest !== '') yield rest;
}

async function checkFile(path: string) {
  const hash = createHash('sha256');
  let first: string | undefined;
  let last: string | undefined;
  for await (const line of readLines(path)) {
    if (last !== undefined) hash.update(last).update('\n');
    first ??= line;
    last = line;
  }
  const { data: head } = header.safeParse(parseJson(first ?? ''));
  if (!head)
    throw new UserError(`The file ${path} was not written by “npm run db -- export”.`, 'Check the path.');
  // Its tables, and those of the queue, may be others.
  if (head.version !== formatVersion || head.bot !== version)
    throw new UserError(
      `The file ${path} was written by version ${head.bot} of the bot, and this is version ${version}.`,
      `Import it with version ${head.bot}, and upgrade then. Nothing was changed.`,
    );
  if (last !== JSON.stringify({ sha256: hash.digest('hex') }))
    throw new UserError(
      `The file ${path} is damaged: it was cut off or altered.`,
      'Nothing was imported. Copy the file again, or export again.',
    );
  return head;
}

async function refuseFilled(db: Db): Promise<void> {
  const filled: string[] = [];
  for (const table of await findExistingTables(db)) {
    const rows = await countRows(db, table);
    if (rows > 0) filled.push(`  ${table}: ${rows.toLocaleString('en-US')}`);
  }
  if (filled.length > 0)
    throw new UserError(
      `The database is not empty. Rows in it:\n${filled.join('\n')}`,
      'Use an empty one: create a new database, or set DATA_DIR to a new directory. Nothing was changed.',
    );
}

const batchLength = 1_000_000;

async function fillTables(trx: Trx, path: string): Promise<{ tables: number; rows: number }> {
  const total = { tables: 0, rows: 0 };
  let filling = { table: '', rows: 0 };
  let batch: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const table = sql.raw(filling.table);
    await sql`insert into ${table} overriding system value
      select * from json_populate_recordset(null::${table}, ${`[${batch.join(',')}]`}::json)`.execute(trx);
    batch = [];
    length = 0;
  };
  const existing = await findExistingTables(trx);
  for await (const line of readLines(path)) {
    if (filling.rows > 0) {
      batch.push(line);
      length += line.length;
      filling.rows -= 1;
      if (filling.rows === 0 || length >= batchLength) await flush();
      continue;
    }
    const { data } = tableHead.safeParse(parseJson(line));
    if (!data) continue;
    if (!existing.includes(data.table))
      throw new Error(`There is no table ${data.table}; nothing was imported`);
    filling = data;
    total.tables += 1;
    total.rows += data.rows;
  }
  return total;
}

async function continueSequences(trx: Trx): Promise<void> {
  const { rows } = await sql<{ table: string; column: string }>`
    select table_name as table, column_name as column from information_schema.columns
     where is_identity = 'YES' and table_schema = current_schema()`.execute(trx);
  for (const { table, column } of rows)
    await sql`select setval(pg_get_serial_sequence(${table}, ${column}), coalesce(max(${sql.ref(column)}), 0) + 1, false)
      from ${sql.raw(table)}`.execute(trx);
}

async function countRows(db: Db, table: string): Promise<number> {
  const { rows } = await sql<{ rows: number }>`select count(*) as rows from ${sql.raw(table)}`.execute(db);
  return rows[0]?.rows ?? 0;
}

const rowsAtOnce = 200;

/** Writes a snapshot to a new file, mode 0600; a failure leaves nothing. @throws UserError where it cannot. */
export async function writeSnapshot<T>(
  db: Db,
  path: string,
  write: (trx: Trx, append: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  if (await stat(path).catch(() => undefined))
    throw new UserError(`The file ${path} exists already.`, 'Choose another name, or remove it first.');
  const unfinished = `${path}.part`;
  try {
    await rm(unfinished, { force: true });
    let result: T;
    {
      await using file = await open(unfinished, 'wx', 0o600);
      const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
      result = await snapshot.execute(async (trx) => {
        // Values as text are the same on both engines.
        await sql`set local timezone = 'UTC'`.execute(trx);
        return write(trx, (text) => file.appendFile(text));
      });
      await file.sync();
    }
    await rename(unfinished, path);
    await using folder = await open(dirname(path), 'r');
    await folder.sync();
    return result;
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    const { code, path: about, syscall } = error as NodeJS.ErrnoException;
    if (syscall !== 'write' && syscall !== 'fsync' && !about?.startsWith(dirname(path))) throw error;
    throw new UserError(
      `The file ${path} cannot be written (${code}). ${problems[code ?? ''] ?? ''}`.trim(),
      'Nothing was left there. Choose a writable place with enough room.',
    );
  }
}

const problems: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full.',
  EDQUOT: 'Your quota is used up.',
  EFBIG: 'It is larger than the system allows.',
  ENOENT: 'There is no such directory.',
};

export async function appendLines(
  trx: Trx,
  append: (text: string) => Promise<void>,
  query: RawBuilder<unknown>,
): Promise<void> {
  await sql`declare lines no scroll cursor for ${query}`.execute(trx);
  for (;;) {
    const { rows } = await sql<{ line: string }>`fetch forward ${sql.lit(rowsAtOnce)} from lines`.execute(
      trx,
    );
    if (rows.length === 0) break;
    await append(rows.map(({ line }) => `${line}\n`).join(''));
  }
  await sql`close lines`.execute(trx);
}
