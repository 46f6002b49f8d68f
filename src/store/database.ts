import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Pool } from 'pg';
import { UserError } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { openPostgres } from './postgres.ts';
import { type Db, definedTables, migrationProvider, type Trx } from './schema.ts';

export interface Database {
  readonly engine: 'embedded' | 'postgres';
  readonly db: Db;
  /** Connections of the job queue, which does not use Kysely. */
  readonly pool: Pool;
  /** Over the connections of `pool`, for which no command waits. */
  readonly backgroundDb: Db;
  /** Resolves when the embedded engine has ended without being asked to: nothing can be read or stored any more. */
  readonly ended?: Promise<Error> | undefined;
  readonly dump?: (path: string) => Promise<void>;
  /** Creates the tables that this version needs. @throws UserError with the GRANT to run, where one is missing. */
  migrate(): Promise<void>;
  readonly poolUse: () => { readonly inUse: number; readonly waiting: number };
  /** @throws UserError with the address where a server does not answer, or takes no writes. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens PostgreSQL, or the embedded database in `dataDir`. `isPatient`: a statement may take minutes. @throws UserError */
export async function openDatabase(options: {
  databaseUrl?: Secret | undefined;
  dataDir: string;
  log: Log;
  isPatient?: boolean;
}): Promise<Database> {
  const { databaseUrl, dataDir, log, isPatient } = options;
  const { explain, silenceMs, ...opened } = databaseUrl
    ? await openPostgres(databaseUrl, log, isPatient)
    : await openEmbedded(dataDir, log);
  const { db, pool, backgroundDb } = opened;
  let closing: Promise<void> | undefined;
  return {
    ...opened,
    async migrate() {
      if (opened.engine === 'postgres') await checkRights(db);
      const state = await findSchemaState(db);
      if (state === 'newer') throw explainSchema(state);
      if (state !== 'current') await withCreateRights(db, () => migrate(backgroundDb, log));
    },
    async ping() {
      try {
        const client = await pool.connect();
        const question = { text: assertWritable, query_timeout: silenceMs };
        await client.query(question).finally(() => client.release());
      } catch (error) {
        throw explain?.(error) ?? error;
      }
    },
    close: () => (closing ??= opened.close()),
  };
}

const assertWritable = `do $$ begin
  if current_setting('transaction_read_only') = 'on' then
    raise read_only_sql_transaction using message = 'the database takes no writes';
  end if;
end $$`;

async function migrate(db: Db, log: Log): Promise<void> {
  const migrator = new Migrator({ db, provider: migrationProvider });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error === undefined) {
    for (const { migrationName } of results) log.info({ migration: migrationName }, 'migration applied');
    return;
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

type OtherSchema = Exclude<Awaited<ReturnType<typeof findSchemaState>>, 'current'>;

export const otherSchemas: Readonly<Record<OtherSchema, readonly [is: string, fix: string]>> = {
  empty: ['not set up yet', 'Check DATABASE_URL and DATA_DIR; npm run migrate sets it up.'],
  older: ['from an older version of the bot', 'npm run migrate upgrades it, and so does the next start.'],
  newer: ['from a newer version of the bot', 'Use that version or a later one, or restore a backup.'],
};

function explainSchema(state: OtherSchema): UserError {
  const [is, fix] = otherSchemas[state];
  return new UserError(`The database is ${is}.`, fix);
}

/** @throws UserError where the tables are not of this version. */
export async function assertCurrentSchema(db: Db): Promise<void> {
  const state = await findSchemaState(db);
  if (state !== 'current') throw explainSchema(state);
}

const movedTables = [...definedTables.keys(), 'pgboss.queue', 'pgboss.schedule', 'pgboss.job'];

/** Stores what cannot be learnt again, such as Slack's answer: a deadlock or a restart of the database is waited for. */
export async function storeWithRetries<T>(store: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await store();
    } catch (error) {
      if (attempt >= storeAttempts || signal.aborted) throw error;
      await setTimeout(250 * 2 ** attempt);
    }
  }
}

const storeAttempts = 6;

/** The bot's tables that this database has, and those of its queue that hold work, parents before children. */
export async function findExistingTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    select name as table from unnest(${movedTables}::text[]) with ordinality as known (name, place)
     where to_regclass(name) is not null order by place`.execute(db);
  return rows.map(({ table }) => table);
}

export async function takeLock(trx: Trx, name: string, mode: '' | '_shared' = ''): Promise<void> {
  await sql`select pg_advisory_xact_lock${sql.raw(mode)}(hashtextextended(${`cdn-chatops/${name}`}, 0))`.execute(
    trx,
  );
}

/** True for one caller with this id among all processes. Ids are kept for a day, or until they are released. */
export async function claimOnce(db: Db | Trx, id: string, at: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('deliveries')
    .values({ id, seen_at: at })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function releaseClaim(db: Db, id: string): Promise<void> {
  await db.deleteFrom('deliveries').where('id', '=', id).execute();
}

const queueSchema = 'pgboss';

async function readNames(db: Db): Promise<{ user: string; database: string; schema: string }> {
  const { rows } = await sql<{ user: string; database: string; schema: string }>`
    select quote_ident(current_user) as user, quote_ident(current_database()) as database,
      quote_ident(coalesce(current_schema(), 'public')) as schema`.execute(db);
  return rows[0] ?? { user: '', database: '', schema: 'public' };
}

/** Checks that this user may do with the tables what the bot does. @throws UserError with the GRANT to run. */
export async function checkRights(db: Db): Promise<void> {
  const { rows } = await sql<{ table: string }>`
    select n.nspname || '.' || c.relname as table
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname in (current_schema(), ${queueSchema})
       and not (has_schema_privilege(n.oid, 'usage')
         and has_table_privilege(c.oid, 'select') and has_table_privilege(c.oid, 'insert')
         and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete'))
     order by 1`.execute(db);
  const [first, ...more] = rows;
  if (!first) return;
  const { user, schema } = await readNames(db);
  const schemas = `schema ${schema}, ${queueSchema}`;
  throw new UserError(
    `The database user ${user} may not use the bot’s tables: ${first.table}${more.length > 0 ? ` and ${more.length} more` : ''}.`,
    [
      'Run this as the user that owns them:',
      `  grant usage on ${schemas} to ${user};`,
      `  grant select, insert, update, delete on all tables in ${schemas} to ${user};`,
      `  alter default privileges in ${schemas} grant select, insert, update, delete on tables to ${user};`,
    ].join('\n'),
  );
}

export async function withCreateRights<T>(db: Db, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isPrivilegeError(error) ? await describeMissingCreate(db) : error;
  }
}

/** @throws UserError with the GRANT to run, where this user may not create tables. */
export async function checkCreateRights(db: Db): Promise<void> {
  const { rows } = await sql<{ may: boolean }>`
    select has_database_privilege(current_database(), 'create')
      and has_schema_privilege(coalesce(current_schema(), 'public'), 'create') as may`.execute(db);
  if (!rows[0]?.may) throw await describeMissingCreate(db);
}

async function describeMissingCreate(db: Db): Promise<UserError> {
  const { user, database, schema } = await readNames(db);
  return new UserError(
    `The database user ${user} may not create or change the bot’s tables.`,
    [
      'Run npm run migrate with the user that owns the database; or run this as that user, and try again:',
      `  grant create on database ${database} to ${user};`,
      `  grant usage, create on schema ${schema} to ${user};`,
    ].join('\n'),
  );
}

function isPrivilegeError(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return code === '42501' || (cause !== undefined && isPrivilegeError(cause));
}
