import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { UserError } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { openEmbedded } from './embedded.ts';
import { openPostgres } from './postgres.ts';
import type { Schema } from './schema.ts';
import { migrationProvider } from './schema.ts';

/** The engine itself, for the job queue, which does not use Kysely. */
export type Engine =
  | { readonly kind: 'embedded'; readonly pglite: import('@electric-sql/pglite').PGlite }
  | { readonly kind: 'postgres'; readonly url: Secret };

export type WithLock = <T>(name: string, run: () => Promise<T>) => Promise<T>;

export interface Database {
  readonly engine: 'embedded' | 'postgres';
  readonly native: Engine;
  readonly db: Kysely<Schema>;
  /** Creates the tables that this version needs. Any number of processes may do so at once. */
  migrate(): Promise<void>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Runs work under a lock: no other process of this database runs work under the same name meanwhile. */
  readonly withLock: WithLock;
  /** Waits for queries that run, then closes. */
  close(): Promise<void>;
}

/**
 * Opens PostgreSQL where a URL is given, else the embedded database in `dataDir`: the same SQL on both.
 *
 * @throws UserError when it cannot be reached, or when another process uses `dataDir`.
 */
export async function openDatabase(options: {
  databaseUrl?: Secret | undefined;
  dataDir: string;
  log: Log;
}): Promise<Database> {
  const { databaseUrl, dataDir, log } = options;
  if (databaseUrl) {
    const { db, withoutLimits, close } = await openPostgres(databaseUrl, log);
    const native: Engine = { kind: 'postgres', url: databaseUrl };
    return assemble(native, db, () => withoutLimits((unlimited) => migrate(unlimited, log)), close);
  }
  const { pglite, db, close } = await openEmbedded(dataDir, log);
  return assemble({ kind: 'embedded', pglite }, db, () => migrate(db, log), close);
}

function assemble(
  native: Engine,
  db: Kysely<Schema>,
  migrate: () => Promise<void>,
  close: () => Promise<void>,
): Database {
  let closing: Promise<void> | undefined;
  return {
    engine: native.kind,
    native,
    db,
    migrate,
    async ping() {
      await sql`select 1`.execute(db);
    },
    withLock: createLocks(native.kind, db),
    close: () => (closing ??= close()),
  };
}

async function migrate(db: Kysely<Schema>, log: Log): Promise<void> {
  if (await isUpToDate(db)) return;
  const migrator = new Migrator({ db, provider: migrationProvider });
  const { error, results = [] } = await migrator.migrateToLatest();
  for (const { migrationName, status } of results) {
    if (status === 'Success') log.info({ migration: migrationName }, 'migration applied');
  }
  if (error === undefined) return;
  if (error instanceof Error && error.message.includes('corrupted migrations')) {
    throw new UserError(
      'The database was written by a newer version of the bot.',
      'Run that version or a later one, or restore a backup from before it.',
    );
  }
  throw new Error('The database could not be changed to this version', { cause: error });
}

/** Whether a database that may be of an older version has this table. */
export async function hasTable(db: Kysely<Schema>, name: keyof Schema): Promise<boolean> {
  const { rows } = await sql<{ there: boolean }>`select to_regclass(${name}) is not null as there`.execute(
    db,
  );
  return rows[0]?.there === true;
}

// Checked first at every start: the migrator itself takes 150 ms in the embedded database.
async function isUpToDate(db: Kysely<Schema>): Promise<boolean> {
  const { rows: tables } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db);
  if (!tables[0]?.there) return false;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const wanted = Object.keys(await migrationProvider.getMigrations()).toSorted();
  return rows.map(({ name }) => name).join() === wanted.join();
}

// Each holder on PostgreSQL keeps one connection of the pool while its work needs others.
const maxHolders = 3;

/**
 * Locks by name that end with their process, among all processes of a database. Work under a lock may use `db` freely.
 */
function createLocks(engine: 'embedded' | 'postgres', db: Kysely<Schema>): WithLock {
  const last = new Map<string, Promise<unknown>>();
  const inOrder = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
    const before = last.get(name);
    const { promise: mine, resolve: done } = Promise.withResolvers<void>();
    last.set(name, mine);
    try {
      await before;
      return await run();
    } finally {
      if (last.get(name) === mine) last.delete(name);
      done();
    }
  };
  if (engine === 'embedded') return inOrder;

  let holders = 0;
  const waiting: (() => void)[] = [];
  return (name, run) =>
    inOrder(name, async () => {
      if (holders >= maxHolders) await new Promise<void>((resolve) => waiting.push(resolve));
      else holders += 1;
      try {
        return await db.transaction().execute(async (trx) => {
          // Another process may hold it for longer than a statement may take otherwise.
          await sql`set local statement_timeout = '60s'`.execute(trx);
          await sql`select pg_advisory_xact_lock(hashtextextended(${`cdn-chatops/${name}`}, 0))`.execute(trx);
          return run();
        });
      } finally {
        const next = waiting.shift();
        if (next) next();
        else holders -= 1;
      }
    });
}
