import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { UserError } from '../errors.ts';
import type { Log } from '../telemetry/log.ts';
import { lockDirectory } from './directory-lock.ts';
import { startMaintenance } from './maintenance.ts';
import { readBytes, readDay, readInteger, typeIds } from './parsers.ts';
import type { Schema } from './schema.ts';
import { createYieldingPglite } from './yielding-pglite.ts';

export interface Embedded {
  readonly pglite: PGlite;
  readonly db: Kysely<Schema>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the embedded PostgreSQL in `dataDir`, for this process alone.
 *
 * @throws UserError when another process uses the directory, or it cannot be written.
 */
export async function openEmbedded(dataDir: string, log: Log): Promise<Embedded> {
  const directory = join(dataDir, 'database');
  await writable(dataDir, () => mkdir(dataDir, { recursive: true, mode: 0o700 }));
  const release = await lockDirectory(dataDir);
  try {
    await writable(dataDir, async () => {
      await create(directory);
      await chmod(directory, 0o700);
    });
    const pglite = createYieldingPglite(await start(directory));
    const upkeep = startMaintenance({ pglite, directory: join(dataDir, 'backups'), log });
    return {
      pglite,
      db: new Kysely<Schema>({ dialect: new PGliteDialect({ pglite }) }),
      async close() {
        await upkeep.stop();
        if (!pglite.closed) await pglite.close();
        await release();
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

async function start(directory: string): Promise<PGlite> {
  // Imported here, since with DATABASE_URL nothing of it is needed.
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
    parsers: {
      [typeIds.int8]: readInteger,
      [typeIds.bytea]: readBytes,
      [typeIds.date]: readDay,
    },
  });
}

/**
 * Makes the files of an empty database, where there are none. They get their name when they are complete, so a process
 * that is killed meanwhile leaves nothing that the next start would take for a database.
 */
async function create(directory: string): Promise<void> {
  if (
    await readdir(directory).then(
      (names) => names.length > 0,
      () => false,
    )
  )
    return;
  const unfinished = `${directory}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  // In a process of its own: making a database takes 400 MB for a moment, of which this one would keep 120 MB.
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', making, unfinished], {
    cwd: import.meta.dirname,
    // Nothing of this process's environment, tokens included, is needed there.
    env: {},
  });
  await rename(unfinished, directory);
}

const making = `
  import { PGlite } from '@electric-sql/pglite';
  const database = await PGlite.create(process.argv[1]);
  await database.close();
`;

// DATA_DIR itself may be a mounted or shared directory whose mode is not ours to change; what is in it is ours.
async function writable<T>(dataDir: string, make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string' || !code.startsWith('E')) throw error;
    throw new UserError(
      `The data directory ${dataDir} cannot be written (${code}).`,
      'Set DATA_DIR to a directory that the bot owns, or DATABASE_URL to use PostgreSQL.',
    );
  }
}
