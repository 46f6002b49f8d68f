import { sql } from 'kysely';
import { version } from '../../lib/version.ts';
import type { Database } from '../database.ts';
import { writeSnapshot } from '../move/file.ts';
import { readCursor } from '../move/rows.ts';
import { countTenantRows, findTenantTables, type TenantTable } from './tables.ts';

/** Sealed values, and what authenticates them or stands for a secret: nobody reads them, and they open doors. */
const secret = ['sealed', 'mac', 'value_mac', 'token_hash'];
const since = ['linked_at', 'installed_at', 'made_at'];

/**
 * Writes what is stored of a tenant into a file, a line of JSON for each row, as it is at one moment. Of a sealed value it
 * says that there is one, and since when. Returns the rows by table.
 *
 * @throws UserError as `writeSnapshot`.
 */
export function exportTenant({ db }: Database, tenant: string, path: string): Promise<Map<string, number>> {
  return writeSnapshot(db, path, async (trx, append) => {
    const tables = await findTenantTables(trx);
    const counts = await countTenantRows(trx, tables, tenant);
    const rows = Object.fromEntries(counts);
    await append(`${JSON.stringify({ tenant, made: new Date().toISOString(), bot: version, rows })}\n`);
    for (const table of tables.filter(({ name }) => counts.has(name)))
      for await (const piece of readCursor(trx, table, writeRow(table), table.of(tenant)))
        await append(piece);
    return counts;
  });
}

function writeRow({ name, columns }: TenantTable) {
  const names = columns.map(([column]) => column);
  const readable = names.filter((column) => !secret.includes(column));
  const row = sql`(select row_to_json(one) from (select ${sql.join(readable.map((column) => sql.ref(column)))}) one)`;
  const at = since.find((column) => names.includes(column));
  const told =
    at === undefined
      ? sql`'a sealed value is stored; it is not in this file'`
      : sql`'sealed since ' || ${sql.ref(at)}::text || '; it is not in this file'`;
  return sql`json_build_object('table', ${sql.lit(name.replace(/^public\./, ''))}, 'row', ${row}${
    names.includes('sealed') ? sql`, 'secret', ${told}` : sql``
  })::text`;
}
