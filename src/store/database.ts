import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Pool } from 'pg';
import { UserError } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { openEmbedded } from './embedded/open.ts';
import { openPostgres } from './postgres.ts';
import { checkRights, withCreateRights } from './rights.ts';
import { type Db, definedTables, migrationProvider, type Trx } from './schema.ts';

export type WithLock = <T>(name: string, run: () => Promise<T>) => Promise<T>;

export interface Database {
  readonly engine: 'embedded' | 'postgres';
  readonly db: Db;
  /** Connections of the job queue, which does not use Kysely. */
  readonly pool: Pool;
  /** Resolves when the embedded engine has ended without being asked to: nothing can be read or stored any more. */
  readonly ended?: Promise<Error> | undefined;
  /** Writes a copy of the whole embedded database, compressed, to this path. */
  readonly dump?: (path: string) => Promise<void>;
  /**
   * Creates the tables that this version needs. Any number of processes may do so at once. @throws UserError with the GRANT
   * to run, where the user of the database has too few rights.
   */
  migrate(): Promise<void>;
  readonly poolUse: () => { readonly inUse: number; readonly waiting: number };
  /** @throws UserError with the address where a server does not answer, or takes no writes. */
  ping(): Promise<void>;
  /**
   * Runs work under a lock that ends with its process: no other process of this database runs work under the same name
   * meanwhile. The work may use `db` freely.
   */
  readonly withLock: WithLock;
  close(): Promise<void>;
}

/**
 * Opens PostgreSQL where a URL is given, else the embedded database in `dataDir`: the same SQL on both. @throws UserError
 * when it cannot be reached, or when another process uses `dataDir`.
 */
export async function openDatabase(options: {
  databaseUrl?: Secret | undefined;
  dataDir: string;
  log: Log;
}): Promise<Database> {
  const { databaseUrl, dataDir, log } = options;
  const { unlimited, explain, ...opened } = databaseUrl
    ? await openPostgres(databaseUrl, log)
    : await openEmbedded(dataDir, log);
  const { db } = opened;
  let closing: Promise<void> | undefined;
  return {
    ...opened,
    async migrate() {
      if (opened.engine === 'postgres') await checkRights(db);
      if ((await findSchemaState(db)) !== 'current')
        await withCreateRights(db, () => migrate(unlimited ?? db, log));
    },
    async ping() {
      await sql`do $$ begin
        if current_setting('transaction_read_only') = 'on' then
          raise read_only_sql_transaction using message = 'the database takes no writes';
        end if;
      end $$`
        .execute(db)
        .catch((error: unknown) => {
          throw explain?.(error) ?? error;
        });
    },
    withLock: createLocks(unlimited),
    close: () => (closing ??= opened.close()),
  };
}

async function migrate(db: Db, log: Log): Promise<void> {
  const migrator = new Migrator({ db, provider: migrationProvider });
  const { error, results = [] } = await migrator.migrateToLatest();
  // All of them are one transaction: with one that fails the others are rolled back.
  if (error === undefined) {
    for (const { migrationName } of results) log.info({ migration: migrationName }, 'migration applied');
    return;
  }
  if (error instanceof Error && error.message.includes('corrupted migrations')) {
    throw new UserError(
      'The database was written by a newer version of the bot.',
      'Run that version or a later one, or restore a backup from before it.',
    );
  }
  throw new Error('The database could not be changed to this version', { cause: error });
}

/** Whether the tables are of this version. One query: the migrator itself takes 150 ms in the embedded database. */
export async function findSchemaState(db: Db): Promise<'current' | 'older' | 'newer' | 'empty'> {
  const found = sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const { rows } = await found.catch((error: unknown) => {
    if ((error as { code?: unknown }).code === undefinedTable) return { rows: [] };
    throw error;
  });
  const applied = new Set(rows.map(({ name }) => name));
  const known = new Set(Object.keys(await migrationProvider.getMigrations()));
  if (applied.size === 0) return 'empty';
  if ([...applied].some((name) => !known.has(name))) return 'newer';
  return applied.size === known.size ? 'current' : 'older';
}

const undefinedTable = '42P01';

// The queue recreates its other tables, which hold nothing that a job depends on.
const movedTables = [...definedTables.keys(), 'pgboss.queue', 'pgboss.schedule', 'pgboss.job'];

/** The tables of the bot and those of its queue that hold work, as far as this database has them, parents before children. */
export async function findExistingTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    select name as table from unnest(${movedTables}::text[]) with ordinality as known (name, place)
     where to_regclass(name) is not null order by place`.execute(db);
  return rows.map(({ table }) => table);
}

export async function takeLock(trx: Trx, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`cdn-chatops/${name}`}, 0))`.execute(trx);
}

/** `pool` is of connections that only locks wait on; without one this process is the only one. */
function createLocks(pool: Db | undefined): WithLock {
  const last = new Map<string, Promise<unknown>>();
  // In this process one after the other, so that each name takes one connection.
  return (name, run) => {
    const lock = async () => {
      if (!pool) return run();
      return pool.transaction().execute(async (trx) => {
        // Another process may hold it for a while, but not forever.
        await sql`set local statement_timeout = '60s'`.execute(trx);
        await takeLock(trx, name);
        return run();
      });
    };
    const result = (last.get(name) ?? Promise.resolve()).then(lock, lock);
    last.set(name, result);
    const forget = (): void => {
      if (last.get(name) === result) last.delete(name);
    };
    result.then(forget, forget);
    return result;
  };
}
