import { sql } from 'kysely';
import { type Database, findExistingTables } from '../../src/store/database.ts';
import { definedTables } from '../../src/store/schema.ts';

/** A text that is easily spoilt on its way. */
const awkward = 'a "quoted" \\ line\nanother\u2028 ünï 🐇 {1,2} NULL';

const values: Readonly<Record<string, (tenant: string) => string>> = {
  timestamptz: () => '2026-11-21 08:00:00.123457+05:30',
  jsonb: (tenant) => JSON.stringify({ of: tenant, exact: 1.5, list: [null, awkward] }),
  bigint: () => '9007199254740993',
  integer: () => '7',
  boolean: () => 'true',
};

/**
 * A row of a tenant in every table of the bot, later ones included: of the columns as they are defined. What is chained or
 * checked is left to its own functions: `audit_records`.
 */
export async function fillTables({ db }: Database, tenant: string): Promise<void> {
  const existing = await findExistingTables(db);
  const valueOf = (table: string, column: string): string => {
    const definition = definedTables.get(table)?.[column] ?? '';
    if (column === 'tenant') return tenant;
    const [, parent] = /\breferences (\w+)/u.exec(definition) ?? [];
    if (parent !== undefined) return valueOf(parent, 'id');
    const [type = ''] = definition.split(' ');
    if (type === 'text') return `${column} of ${tenant}: ${awkward}`;
    const value = values[type];
    if (!value) throw new Error(`write a value of the type ${type} here`);
    return value(tenant);
  };
  for (const [table, columns] of definedTables) {
    if (table === 'audit_records' || !existing.includes(table)) continue;
    const given = Object.entries(columns).filter(([, definition]) => !definition.includes('generated'));
    await sql`insert into ${sql.table(table)} (${sql.join(given.map(([name]) => sql.ref(name)))})
      values (${sql.join(given.map(([name, definition]) => sql`${valueOf(table, name)}::${sql.raw(definition.split(' ')[0] ?? '')}`))})`.execute(
      db,
    );
  }
}
