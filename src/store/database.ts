import { type Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { UserError } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { openEmbedded } from './embedded.ts';
import { createLocks, type WithLock } from './locks.ts';
import { openPostgres } from './postgres.ts';
import type { Schema } from './schema.ts';
import { migrationProvider } from './schema.ts';

/** The engine below, for what does not go through Kysely: the job queue. */
export type Engine =
  | { readonly kind: 'embedded'; readonly pglite: import('@electric-sql/pglite').PGlite }
  | { readonly kind: 'postgres'; readonly url: Secret };

export interface Database {
  readonly engine: 'embedded' | 'postgres';
  readonly native: Engine;
  readonly db: Kysely<Schema>;
  /** Brings the tables to the state this code expects. Any number of processes may do so at once. */
  migrate(): Promise<void>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Runs work that no other process of this database may run at the same time under the same name. */
  readonly withLock: WithLock;
  /** Waits for what is under way, then closes. */
  close(): Promise<void>;
}

/**
 * Opens PostgreSQL where a URL is given, else the embedded database in `dataDir`: the same SQL on both (DESIGN §9).
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
    if (status === 'Success') log.info({ migration: migrationName }, 'the database was changed');
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

// Asked at every start: the migrator's own look at all tables takes 150 ms in the embedded database.
async function isUpToDate(db: Kysely<Schema>): Promise<boolean> {
  const { rows: tables } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db);
  if (!tables[0]?.there) return false;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const wanted = Object.keys(await migrationProvider.getMigrations()).toSorted();
  return rows.map(({ name }) => name).join() === wanted.join();
}
