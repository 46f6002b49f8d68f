import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../errors.ts';

// A lock ends with its object, so a collected one would free the directory.
const locks = new Set<DatabaseSync>();

/**
 * Makes this process the only one that works in a directory: the embedded database does not notice a second one. SQLite's
 * file lock ends with its process. @throws UserError when another process holds it.
 */
export function lockDirectory(directory: string): () => void {
  const path = join(directory, 'lock');
  // SQLite would make it readable for everybody.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const lock = new DatabaseSync(path);
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== 5) throw error;
    throw new UserError(
      `Another process already uses the data directory ${directory}.`,
      'The embedded database serves one process: stop the other one, give this one a DATA_DIR of its own, ' +
        'or set DATABASE_URL to run several.',
    );
  }
  locks.add(lock);
  return () => {
    if (locks.delete(lock)) lock.close();
  };
}

// Synchronous, so that the thread of the database has begun before the caller loads the rest of the bot.

/** Makes `dataDir` where it is missing. @throws UserError when it cannot be written. */
export function createDirectory(dataDir: string): void {
  checkWritable(dataDir, () => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK);
  });
}

/** The directory of the database's files, made where there are none. @throws UserError when it cannot be written. */
export function createDatabase(dataDir: string): string {
  const directory = join(dataDir, 'database');
  checkWritable(dataDir, () => {
    createFiles(directory);
    chmodSync(directory, 0o700);
  });
  return directory;
}

/** Copies the files of an empty database, unless there are any. The directory gets its name when it is complete. */
function createFiles(directory: string): void {
  if (existsSync(directory) && readdirSync(directory).length > 0) return;
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(findEmptyDatabase(), unfinished, { recursive: true });
  renameSync(unfinished, directory);
}

/** What `npm run build` made, for this file in `src` and for the built one. @throws UserError when it did not. */
function findEmptyDatabase(): string {
  const found = join(dirname(findPackageJSON(import.meta.url) ?? ''), 'dist', 'database');
  if (existsSync(found)) return found;
  throw new UserError(
    `The files of an empty database are missing (${found}).`,
    'Make them with npm run build.',
  );
}

// DATA_DIR itself may be mounted or shared, so its mode is left alone; only the files in it belong to the bot.
function checkWritable(dataDir: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string' || !code.startsWith('E')) throw error;
    throw new UserError(
      `The data directory ${dataDir} cannot be written (${code}).`,
      'Set DATA_DIR to a directory that the bot owns, or DATABASE_URL to use PostgreSQL.',
    );
  }
}
