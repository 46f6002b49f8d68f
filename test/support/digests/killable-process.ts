import { type DatabaseConnection, type Driver, Kysely, PostgresDialect } from 'kysely';
import type { Pool } from 'pg';
import type { Schema } from '../../../src/store/schema.ts';

/** Where a process can die: wherever it waits for something. */
export type KillPoint = 'statement' | 'transaction' | 'commit' | 'outside';

/** One life of a process. */
export interface KillableProcess {
  /** The database as this process sees it. Of a transaction that it died in nothing stays. */
  readonly db: Kysely<Schema>;
  /** To be awaited before and after everything outside of the database. */
  readonly callOutside: () => Promise<void>;
  /** What becomes of a step: `dead` where the process did not live to see its end. */
  readonly untilKilled: <T>(step: Promise<T>) => Promise<T | 'dead'>;
}

/**
 * Begins a life; `dies` is asked at every point. Whoever died does nothing more, not even what stands in a `catch` or a
 * `finally`: the wait that they died in never ends.
 */
export function startKillableProcess(pool: Pool, dies: (point: KillPoint) => boolean): KillableProcess {
  const death = Promise.withResolvers<'dead'>();
  let isDead = false;
  const isOver = (point: KillPoint): boolean => {
    if (!isDead && dies(point)) {
      isDead = true;
      death.resolve('dead');
    }
    return isDead;
  };
  const dialect = new PostgresDialect({ pool });
  return {
    db: new Kysely<Schema>({
      dialect: {
        createAdapter: () => dialect.createAdapter(),
        createIntrospector: (db) => dialect.createIntrospector(db),
        createQueryCompiler: () => dialect.createQueryCompiler(),
        createDriver: () => killableDriver(dialect.createDriver(), isOver),
      },
    }),
    async callOutside() {
      if (isOver('outside')) await forever;
    },
    untilKilled: (step) => Promise.race([step, death.promise]),
  };
}

const forever = new Promise<never>(() => undefined);

class Killed extends Error {}

/** In a transaction death is thrown first: it is rolled back, as a server does, and others get on. */
function killableDriver(driver: Driver, isOver: (point: KillPoint) => boolean): Driver {
  const patched = new WeakSet<DatabaseConnection>();
  let inTransaction = false;
  return {
    init: () => driver.init(),
    destroy: () => driver.destroy(),
    releaseConnection: (connection) => driver.releaseConnection(connection),
    async acquireConnection() {
      if (isOver('statement')) await forever;
      const connection = await driver.acquireConnection();
      if (patched.has(connection)) return connection;
      patched.add(connection);
      const execute = connection.executeQuery.bind(connection);
      connection.executeQuery = async (...about) => {
        if (inTransaction && isOver('transaction')) throw new Killed();
        return execute(...about);
      };
      return connection;
    },
    async beginTransaction(connection, settings) {
      await driver.beginTransaction(connection, settings);
      inTransaction = true;
    },
    async commitTransaction(connection) {
      if (isOver('commit')) throw new Killed();
      await driver.commitTransaction(connection);
      inTransaction = false;
    },
    async rollbackTransaction(connection) {
      inTransaction = false;
      await driver.rollbackTransaction(connection);
    },
  };
}
