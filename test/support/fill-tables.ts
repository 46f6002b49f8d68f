import { sql } from 'kysely';
import type { Database } from '../../src/store/database.ts';
import { findTables, type Table, tableRef } from '../../src/store/move/tables.ts';

/** A text that is easily spoilt on its way. */
const awkward = 'a "quoted" \\ line\nanother\u2028 ünï 🐇 {1,2} NULL';

/**
 * A row of a tenant in every table of the bot, those to come too: of the columns as the database describes them. What is
 * chained or checked is left to its own functions: `audit_records`.
 */
export async function fillTables({ db }: Database, tenant: string): Promise<void> {
  const tables = (await findTables(db)).filter(
    ({ name }) => name.startsWith('public.') && name !== 'public.audit_records',
  );
  const find = (name: string): Table => {
    const table = tables.find((one) => one.name === name);
    if (!table) throw new Error(`there is no ${name}`);
    return table;
  };
  const valueOf = (table: Table, column: string, type: string): string => {
    for (const parent of table.parents)
      for (const [own, theirs] of parent.columns)
        if (own === column) return valueOf(find(parent.table), theirs, type);
    if (column === 'tenant') return tenant;
    if (type === 'text') return `${table.name}.${column} of ${tenant}: ${awkward}`;
    if (type === 'timestamp with time zone') return '2026-11-21 08:00:00.123457+05:30';
    if (type === 'jsonb') return JSON.stringify({ of: tenant, exact: 1.5, list: [null, awkward] });
    if (type === 'bigint') return '9007199254740993';
    if (type === 'integer') return '7';
    if (type === 'boolean') return 'true';
    if (type === 'bytea') return '\\x00ff10';
    throw new Error(`write a value of the type ${type} here`);
  };
  for (const table of tables) {
    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_attribute where attrelid = ${table.name}::regclass and attidentity = 'a'`.execute(
      db,
    );
    const columns = table.columns.filter(([name]) => rows.every((identity) => identity.name !== name));
    await sql`insert into ${tableRef(table)} (${sql.join(columns.map(([name]) => sql.ref(name)))})
      values (${sql.join(columns.map(([name, type]) => sql`${valueOf(table, name, type)}::${sql.raw(type)}`))})`.execute(
      db,
    );
  }
}
