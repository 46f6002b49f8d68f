import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { UserError } from '../errors.ts';
import type { Log } from '../log.ts';
import { lockDirectory } from './directory-lock.ts';
import { readBytes, readDay, readInteger, typeIds } from './parsers.ts';
import type { Schema } from './schema.ts';
import { startUpkeep } from './upkeep.ts';

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
  await makePrivate(dataDir, directory);
  const release = await lockDirectory(dataDir);
  try {
    const pglite = await start(directory);
    const upkeep = startUpkeep({ pglite, directory: join(dataDir, 'backups'), log });
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

// DATA_DIR itself may be a mounted or shared directory whose mode is not ours to change; what is in it is ours.
async function makePrivate(dataDir: string, directory: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(
      `The data directory ${dataDir} cannot be written (${code ?? 'unknown reason'}).`,
      'Set DATA_DIR to a directory that the bot owns, or DATABASE_URL to use PostgreSQL.',
    );
  }
}
