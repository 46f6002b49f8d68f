import { Client } from 'pg';

/** Rows of each table by `schema.table`, counted. */
export async function countRows(databaseUrl: string): Promise<ReadonlyMap<string, number>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    const counts = new Map<string, number>();
    for (const { name } of tables) {
      const { rows } = await client.query<{ count: string }>(`select count(*) from ${name}`);
      counts.set(name, Number(rows[0]?.count));
    }
    return counts;
  } finally {
    await client.end();
  }
}
