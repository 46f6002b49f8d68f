import { join } from 'node:path';
import { Kysely, PGliteAdapter, PostgresDialect } from 'kysely';
import type { Log } from '../../telemetry/log.ts';
import { createPool } from '../pool.ts';
import type { Schema } from '../schema.ts';
import { startDatabaseThread } from './connection.ts';
import { createDatabase, createDirectory, lockDirectory } from './directory.ts';
import { startMaintenance } from './maintenance.ts';

/**
 * Opens the embedded PostgreSQL in `dataDir`, for this process alone. It runs in a thread of its own, and the driver
 * speaks to it as to a server, so that values, errors and transactions are the same on both engines.
 *
 * @throws UserError when another process uses the directory, or it cannot be written.
 */
export async function openEmbedded(dataDir: string, log: Log) {
  await createDirectory(dataDir);
  const release = lockDirectory(dataDir);
  try {
    const directory = await createDatabase(dataDir);
    const thread = await startDatabaseThread(directory, (error) =>
      log.error({ error }, 'the embedded database ended; the bot must be started again'),
    );
    const pool = createPool(
      // One session: a transaction keeps it, and others wait for their turn.
      {
        stream: () => thread.connect(),
        ssl: false,
        user: 'postgres',
        database: 'postgres',
        max: 1,
        idleTimeoutMillis: 0,
      },
      log,
    );
    /** Runs work while nothing else uses the database. */
    const alone = async <T>(work: () => Promise<T>): Promise<T> => {
      const client = await pool.connect();
      try {
        return await work();
      } finally {
        client.release();
      }
    };
    const dump = (path: string): Promise<void> => alone(() => thread.dump(path));
    const stopMaintenance = startMaintenance({ pool, dump, directory: join(dataDir, 'backups'), log });
    return {
      native: { kind: 'embedded' as const, pool, dump },
      // No query has a time limit.
      unlimited: undefined,
      db: new Kysely<Schema>({ dialect: new EmbeddedDialect({ pool }) }),
      async close(): Promise<void> {
        await stopMaintenance();
        // Behind all that wait: the pool itself would leave them waiting.
        await alone(async () => undefined).catch(() => undefined);
        await pool.end();
        await thread.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

class EmbeddedDialect extends PostgresDialect {
  // With one session nothing can wait for a lock of another.
  override createAdapter(): PGliteAdapter {
    return new PGliteAdapter();
  }
}
