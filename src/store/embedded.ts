import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as waitForTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { UserError } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import { startMaintenance } from './maintenance.ts';
import { parsers } from './postgres.ts';
import type { Schema } from './schema.ts';

/**
 * Opens the embedded PostgreSQL in `dataDir`, for this process alone.
 *
 * @throws UserError when another process uses the directory, or it cannot be written.
 */
export async function openEmbedded(dataDir: string, log: Log) {
  const directory = join(dataDir, 'database');
  await checkWritable(dataDir, async () => {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK);
  });
  const release = lockDirectory(dataDir);
  try {
    await checkWritable(dataDir, async () => {
      await createDatabase(directory);
      await chmod(directory, 0o700);
    });
    const pglite = createYieldingPglite(await openPglite(directory));
    const stopMaintenance = startMaintenance({ pglite, directory: join(dataDir, 'backups'), log });
    return {
      native: { kind: 'embedded' as const, pglite },
      // No query has a time limit.
      unlimited: undefined,
      db: new Kysely<Schema>({ dialect: new PGliteDialect({ pglite }) }),
      async close(): Promise<void> {
        await stopMaintenance();
        if (!pglite.closed) await pglite.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

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

async function openPglite(directory: string): Promise<PGlite> {
  // Imported here: not needed with DATABASE_URL.
  const { PGlite } = await import('@electric-sql/pglite');
  return PGlite.create(directory, {
    startParams: [
      ...PGlite.defaultStartParams,
      // 128 MB by default, more than a small team's whole database.
      '-c',
      'shared_buffers=8MB',
      // The log is kept for crash recovery only; recycled files above this are disk space for nothing.
      '-c',
      'min_wal_size=32MB',
      '-c',
      'max_wal_size=64MB',
    ],
    parsers,
  });
}

/**
 * Creates the files of an empty database, unless they exist. The directory gets its name when it is complete, so a killed
 * process leaves nothing that the next start would take for a database.
 */
async function createDatabase(directory: string): Promise<void> {
  const files = await readdir(directory).catch(() => []);
  if (files.length > 0) return;
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  // In a process of its own: this takes 400 MB for a moment, of which this process would keep 120 MB.
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', creation, unfinished], {
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

// Upper bound, with one query, for which timers and deliveries of Slack wait.
const longestTurnMs = 8;

/**
 * The embedded database answers without ever leaving its thread, so a loop of queries, or a dozen jobs at once, would let
 * neither timers nor deliveries of Slack run. Queries wait for one turn of the event loop where it had none for a while,
 * also within a transaction, which keeps its lock meanwhile.
 */
function createYieldingPglite(pglite: PGlite): PGlite {
  const query = pglite.execProtocolStream.bind(pglite);
  let turnStarted: number | undefined;
  let nextTurn: Promise<void> | undefined;
  const startTurn = async (): Promise<void> => {
    await waitForTurn();
    turnStarted = undefined;
  };
  pglite.execProtocolStream = async (...about) => {
    if (turnStarted === undefined) {
      turnStarted = performance.now();
      nextTurn = startTurn();
    } else if (performance.now() - turnStarted > longestTurnMs) await nextTurn;
    return query(...about);
  };
  return pglite;
}
