import { join } from 'node:path';
import type { Log } from '../../telemetry/log.ts';
import { createKysely, createPool, endPool } from '../pool.ts';
import { startDatabaseThread } from './connection.ts';
import { createDatabase, createDirectory, lockDirectory } from './directory.ts';
import { startMaintenance } from './maintenance.ts';

/**
 * Opens the embedded PostgreSQL in `dataDir`, for this process alone. It runs in a separate thread, and the driver speaks
 * to it as to a server, so that values, errors and transactions are the same on both engines. @throws UserError when
 * another process uses the directory, or it cannot be written.
 */
export async function openEmbedded(dataDir: string, log: Log) {
  createDirectory(dataDir);
  const release = lockDirectory(dataDir);
  try {
    const directory = createDatabase(dataDir);
    const { promise: ended, resolve: end } = Promise.withResolvers<Error>();
    const thread = await startDatabaseThread(directory, (error) => {
      log.error({ error }, 'the embedded database ended; the bot must be started again');
      end(error);
    });
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
    // With the one session taken nothing else is under way.
    const dump = async (path: string): Promise<void> => {
      const client = await pool.connect();
      await thread.dump(path).finally(() => client.release());
    };
    const stopMaintenance = startMaintenance({ pool, dump, directory: join(dataDir, 'backups'), log });
    return {
      engine: 'embedded' as const,
      pool,
      dump,
      ended,
      poolUse: () => ({ inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
      unlimited: undefined,
      explain: undefined,
      db: createKysely(pool),
      async close(): Promise<void> {
        await stopMaintenance();
        await endPool(pool);
        await thread.close();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
