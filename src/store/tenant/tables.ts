import { type RawBuilder, sql } from 'kysely';
import { findTables, type Table, tableRef } from '../move/tables.ts';
import type { Db } from '../schema.ts';

/** A table with rows of tenants, and the condition that selects those of one. */
export interface TenantTable extends Table {
  readonly of: (tenant: string) => RawBuilder<boolean>;
}

/** Tables whose rows are of no tenant, with the reason. Every other one has a tenant or a foreign key to one that has. */
export const tablesOfNoTenant: Readonly<Record<string, string>> = {
  'public.deliveries': 'ids of events that Slack gave, without names, for a day',
  'public.keyring_keys': 'keys of the deployment',
  'public.keyring_members': 'processes of the deployment',
};

/** The tables with rows of tenants, parents before children: by their column `tenant`, or that of a parent; and jobs. */
export async function findTenantTables(db: Db): Promise<TenantTable[]> {
  const found: TenantTable[] = [];
  for (const table of await findTables(db)) {
    const of = selectTenant(table, found);
    if (of) found.push({ ...table, of });
  }
  return found;
}

function selectTenant(table: Table, found: readonly TenantTable[]): TenantTable['of'] | undefined {
  if (table.name === 'pgboss.job') return selectJobs(found);
  if (table.columns.some(([name]) => name === 'tenant'))
    return (tenant) => sql`${tableRef(table)}.tenant = ${tenant}`;
  for (const { table: name, columns } of table.parents) {
    const parent = found.find((one) => one.name === name);
    if (!parent) continue;
    const join = columns.map(
      ([own, theirs]) => sql`${tableRef(table)}.${sql.ref(own)} = ${tableRef(parent)}.${sql.ref(theirs)}`,
    );
    return (tenant) =>
      sql`exists (select 1 from ${tableRef(parent)} where ${sql.join([...join, parent.of(tenant)], sql` and `)})`;
  }
  return undefined;
}

/** Jobs that were enqueued for a tenant, or whose data name it or an id of its rows. */
function selectJobs(found: readonly TenantTable[]): TenantTable['of'] {
  const identified = found.flatMap((table) => {
    const [key, ...more] = table.key;
    return key?.hasCollation && more.length === 0 && key.name !== 'tenant' ? [{ table, key: key.name }] : [];
  });
  return (tenant) => {
    const ids = identified.map(
      ({ table, key }) =>
        sql`select ${sql.ref(key)} from ${tableRef(table)} where ${table.of(tenant)} and ${sql.ref(key)} = given.value`,
    );
    // In an organisation a job may also name the workspace, which may be a tenant of its own.
    return sql`(job.group_id = ${tenant}
      or coalesce(job.data ->> 'tenant', job.data ->> 'enterpriseId', job.data ->> 'teamId') = ${tenant}
      or exists (
        select 1 from jsonb_each_text(case jsonb_typeof(job.data) when 'object' then job.data else '{}' end) given
         where exists (${sql.join(ids, sql` union all `)})))`;
  };
}

/** How many rows of a tenant are in each table that has some. */
export async function countTenantRows(
  db: Db,
  tables: readonly TenantTable[],
  tenant: string,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const table of tables) {
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${tableRef(table)} where ${table.of(tenant)}`.execute(db);
    if (rows[0]?.count) counts.set(table.name, rows[0].count);
  }
  return counts;
}

/** The tenants with rows in a table of their own, in order. */
export async function findTenants(db: Db, tables: readonly TenantTable[]): Promise<string[]> {
  const own = tables.filter(({ columns }) => columns.some(([name]) => name === 'tenant'));
  const { rows } = await sql<{ tenant: string }>`
    ${sql.join(
      own.map((table) => sql`select tenant from ${tableRef(table)}`),
      sql` union `,
    )} order by 1`.execute(db);
  return rows.map(({ tenant }) => tenant);
}
