import { type RawBuilder, sql } from 'kysely';
import { UserError } from '../errors.ts';
import { version } from '../lib/version.ts';
import type { Database } from './database.ts';
import { appendLines, writeSnapshot } from './move.ts';
import { type Db, definedTables, type Trx } from './schema.ts';

type Condition = (tenant: string) => RawBuilder<boolean>;

type Counts = ReadonlyMap<string, number>;

const jobs = 'pgboss.job';

const secretColumns = ['sealed', 'mac', 'value_mac', 'token_hash'];

/** The tables with rows of tenants and the condition on each, parents before children; and the jobs that were enqueued for one. */
export function findTenantTables(): ReadonlyMap<string, Condition> {
  const found = new Map<string, Condition>();
  for (const [table, columns] of definedTables) {
    const parent = findParent(table);
    const ofParent = parent && found.get(parent.table);
    if ('tenant' in columns) found.set(table, (tenant) => sql`${sql.ref(table)}.tenant = ${tenant}`);
    else if (parent && ofParent)
      found.set(
        table,
        (tenant) => sql`exists (select 1 from ${sql.table(parent.table)}
          where id = ${sql.ref(`${table}.${parent.column}`)} and ${ofParent(tenant)})`,
      );
  }
  return found.set(jobs, (tenant) => sql`job.group_id = ${tenant}`);
}

function findParent(table: string): { readonly table: string; readonly column: string } | undefined {
  for (const [column, definition] of Object.entries(definedTables.get(table) ?? {})) {
    const [, parent] = /\breferences (\w+)/u.exec(definition) ?? [];
    if (parent !== undefined) return { table: parent, column };
  }
  return undefined;
}

export async function countTenantRows(db: Db, tenant: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const [table, of] of findTenantTables()) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where ${of(tenant)}`.execute(db);
    if (rows[0]?.count) counts.set(table, rows[0].count);
  }
  return counts;
}

export async function findTenants(db: Db): Promise<string[]> {
  const own = [...definedTables].filter(([, columns]) => 'tenant' in columns);
  const { rows } = await sql<{ tenant: string }>`
    ${sql.join(
      own.map(([table]) => sql`select tenant from ${sql.table(table)}`),
      sql` union `,
    )} order by 1`.execute(db);
  return rows.map(({ tenant }) => tenant);
}

/** Writes what is stored of a tenant into a file of JSON lines, without sealed values. @throws UserError */
export function exportTenant({ db }: Database, tenant: string, path: string): Promise<Counts> {
  return writeSnapshot(db, path, async (trx, append) => {
    const tables = findTenantTables();
    const counts = await countTenantRows(trx, tenant);
    const rows = Object.fromEntries(counts);
    await append(`${JSON.stringify({ tenant, made: new Date().toISOString(), bot: version, rows })}\n`);
    for (const table of counts.keys()) {
      const of = tables.get(table)?.(tenant);
      const row = sql`to_jsonb(${sql.ref(table.replace('pgboss.', ''))})`;
      const isSealed = 'sealed' in (definedTables.get(table) ?? {});
      const secret = sql`, 'secret', 'a sealed value is stored; it is not in this file'`;
      await appendLines(
        trx,
        append,
        sql`select json_build_object('table', ${sql.lit(table)}, 'row', ${row} - ${secretColumns}::text[]
            ${isSealed ? secret : sql``})::text as line from ${sql.table(table)} where ${of}`,
      );
    }
    return counts;
  });
}

/**
 * Deletes every row of a tenant, its secrets first. `before` and `after` run in the transaction of the rest. @throws UserError
 * where rows are locked, or the user does not own the tables.
 */
export async function eraseTenant<T>(
  db: Db,
  tenant: string,
  before: (trx: Trx) => Promise<T>,
  after: (trx: Trx, erased: Counts, found: T) => Promise<void>,
): Promise<Counts> {
  const tables = [...findTenantTables()].reverse();
  const erased = new Map<string, number>();
  const deleteFrom = async (trx: Trx, isMeant: (table: string) => boolean): Promise<void> => {
    for (const [table, of] of tables.filter(([name]) => isMeant(name))) {
      const { numAffectedRows = 0n } = await sql`
        delete from ${sql.table(table)} where ${of(tenant)}`.execute(trx);
      if (numAffectedRows > 0n) erased.set(table, (erased.get(table) ?? 0) + Number(numAffectedRows));
    }
  };
  const run = (work: (trx: Trx) => Promise<void>, soFar: string): Promise<void> =>
    db
      .transaction()
      .execute(async (trx) => {
        await sql`set local lock_timeout = '30s'`.execute(trx);
        await work(trx);
      })
      .catch((error: unknown) => explainRefusal(error, soFar));

  await run((trx) => deleteFrom(trx, isSecret), 'Nothing is erased.');
  const guarded = await findGuardedTables(db);
  // Their parents, too: a row is deleted after those that refer to it.
  const late = new Set([...guarded, ...guarded.map((table) => findParent(table)?.table)]);
  await run(async (trx) => {
    await deleteFrom(trx, (table) => !late.has(table));
    // The tables' owner sets the triggers aside until the commit. Locked last, as the bot does.
    for (const table of guarded) await sql`alter table ${sql.table(table)} disable trigger user`.execute(trx);
    const found = await before(trx);
    await deleteFrom(trx, (table) => late.has(table));
    for (const table of guarded) await sql`alter table ${sql.table(table)} enable trigger user`.execute(trx);
    await after(trx, erased, found);
  }, 'Keys and tokens are erased.');
  return erased;
}

function isSecret(table: string): boolean {
  const columns = definedTables.get(table) ?? {};
  return 'sealed' in columns || 'token_hash' in columns;
}

async function findGuardedTables(db: Db): Promise<string[]> {
  const { rows } = await sql<{ table: string }>`
    select distinct tgrelid::regclass::text as table from pg_trigger where not tgisinternal`.execute(db);
  return rows.map(({ table }) => table).filter((table) => definedTables.has(table));
}

// deadlock_detected, lock_not_available, insufficient_privilege
const refusals: Readonly<Record<string, readonly [problem: string, nextStep: string]>> = {
  '40P01': ['The running bot is using these rows just now.', 'Run the same command again in a moment.'],
  '55P03': ['The running bot is using these tables just now.', 'Run the same command again in a moment.'],
  '42501': [
    'The user of DATABASE_URL does not own the tables, so it cannot set their triggers aside.',
    'Run the same command with the user that runs npm run migrate.',
  ],
};

function explainRefusal(error: unknown, soFar: string): never {
  const [problem, nextStep] = refusals[String((error as { code?: unknown }).code)] ?? [];
  throw problem === undefined ? error : new UserError(`${problem} ${soFar}`, nextStep);
}
