import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { UserError } from '../errors.ts';
import type { Db, Trx } from './schema.ts';

// Few enough that rows of 100 kB stay small in memory.
const rowsAtOnce = 200;

/**
 * Writes a snapshot of the database to a file. The file gets its name when it is complete and on the disk, mode
 * 0600; a failure leaves nothing. @throws UserError where the file exists, or cannot be written.
 */
export async function writeSnapshot<T>(
  db: Db,
  path: string,
  write: (trx: Trx, append: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  if (await stat(path).catch(() => undefined))
    throw new UserError(`The file ${path} exists already.`, 'Give another name, or remove it first.');
  const unfinished = `${path}.part`;
  try {
    await rm(unfinished, { force: true });
    let result: T;
    {
      await using file = await open(unfinished, 'wx', 0o600);
      const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
      result = await snapshot.execute(async (trx) => {
        await prepareSession(trx);
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
      'Nothing was left there. Give a place with room that you may write to.',
    );
  }
}

const problems: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full.',
  EDQUOT: 'Your quota is used up.',
  EFBIG: 'It is larger than the system allows.',
  ENOENT: 'There is no such directory.',
};

/** Values as text are the same on both engines, and no query has a time limit, until the end of the transaction. */
export async function prepareSession(trx: Trx): Promise<void> {
  for (const setting of [
    "timezone = 'UTC'",
    'statement_timeout = 0',
    'idle_in_transaction_session_timeout = 0',
  ])
    await sql.raw(`set local ${setting}`).execute(trx);
}

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
