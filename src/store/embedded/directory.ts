import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { UserError } from '../../errors.ts';
import { baselineOnly } from './connection.ts';

// A lock ends with its object, so a collected one would free the directory.
const locks = new Set<DatabaseSync>();

/**
 * Makes this process the only one that works in a directory, before anything in it is opened: the embedded database
 * does not notice a second process, and one of the two would lose its rows. SQLite's file lock works on every system and
 * ends with the process, so nothing is left after a kill.
 *
 * @throws UserError when another process holds it.
 */
export function lockDirectory(directory: string): () => void {
  const lock = new DatabaseSync(join(directory, 'lock'));
  try {
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    lock.close();
    // SQLITE_BUSY
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

/** Makes `dataDir` where it is missing. @throws UserError when it cannot be written. */
export async function createDirectory(dataDir: string): Promise<void> {
  await checkWritable(dataDir, async () => {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK);
  });
}

/** The directory of the database's files, made where there are none. @throws UserError when it cannot be written. */
export async function createDatabase(dataDir: string): Promise<string> {
  const directory = join(dataDir, 'database');
  await checkWritable(dataDir, async () => {
    await createFiles(directory);
    await chmod(directory, 0o700);
  });
  return directory;
}

/**
 * Creates the files of an empty database, unless they exist. The directory gets its name when it is complete, so a killed
 * process leaves nothing that the next start would take for a database.
 */
async function createFiles(directory: string): Promise<void> {
  const files = await readdir(directory).catch(() => []);
  if (files.length > 0) return;
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  // In a process of its own, whose memory ends with it.
  const flags = [...baselineOnly, '--max-semi-space-size=2', '--input-type=module'];
  await promisify(execFile)(process.execPath, [...flags, '-e', creation, unfinished], {
    cwd: import.meta.dirname,
    // It needs nothing of this process's environment, which holds tokens.
    env: {},
  });
  await rename(unfinished, directory);
}

const creation = `
  import { PGlite } from '@electric-sql/pglite';
  const database = await PGlite.create(process.argv[1]);
  await database.close();
`;

// DATA_DIR itself may be mounted or shared, so its mode is left alone; only the files in it belong to the bot.
async function checkWritable(dataDir: string, make: () => Promise<void>): Promise<void> {
  try {
    await make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string' || !code.startsWith('E')) throw error;
    throw new UserError(
      `The data directory ${dataDir} cannot be written (${code}).`,
      'Set DATA_DIR to a directory that the bot owns, or DATABASE_URL to use PostgreSQL.',
    );
  }
}
