import { sql } from 'kysely';
import { type Db, tableNames } from '../schema.ts';

/** A table as the database describes it. Identifiers in it may go into SQL. */
export interface Table {
  /** With its schema: `public.digests`. */
  readonly name: string;
  /** Name and type, without generated ones. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** The primary key; else every column. */
  readonly key: readonly { readonly name: string; readonly hasCollation: boolean }[];
  /** The tables that its foreign keys point to, with the columns on both sides. */
  readonly parents: readonly {
    readonly table: string;
    readonly columns: readonly (readonly [own: string, theirs: string])[];
  }[];
  /** Sequences of identity columns. */
  readonly sequences: readonly string[];
  /** It has triggers that refuse changes. */
  readonly isGuarded: boolean;
}

// The queue makes these anew, and they hold nothing that a job depends on: its version, the running instances,
// statistics, warnings and its own pending index builds.
const leftOut = ['version', 'instance', 'queue_stats', 'warning', 'bam'];

/** Every table of the bot and its queue that is in this database, parents before children. */
export async function findTables(db: Db): Promise<Table[]> {
  const { rows } = await sql<Table>`
    select format('%I.%I', n.nspname, c.relname) as name,
      (select json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) order by a.attnum)
         from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select json_agg(json_build_object('name', a.attname, 'hasCollation', a.attcollation <> 0)
                       order by array_position(i.indkey::int2[], a.attnum), a.attnum)
         from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and (i.indexrelid is null or a.attnum = any(i.indkey::int2[]))) as key,
      coalesce((select json_agg(json_build_object(
           'table', format('%I.%I', pn.nspname, p.relname),
           'columns', (select json_agg(json_build_array(own.attname, theirs.attname) order by pair.place)
              from unnest(f.conkey, f.confkey) with ordinality as pair(own, theirs, place)
              join pg_attribute own on own.attrelid = f.conrelid and own.attnum = pair.own
              join pg_attribute theirs on theirs.attrelid = f.confrelid and theirs.attnum = pair.theirs))
           order by f.conname)
         from pg_constraint f join pg_class p on p.oid = f.confrelid join pg_namespace pn on pn.oid = p.relnamespace
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid), '[]') as parents,
      coalesce((select json_agg(pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname)
                                order by a.attnum)
         from pg_attribute a where a.attrelid = c.oid and a.attidentity <> ''), '[]') as sequences,
      exists (select 1 from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal) as "isGuarded"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition
      and ((n.nspname = current_schema() and c.relname = any(${tableNames}))
        or (n.nspname = 'pgboss' and c.relname <> all(${leftOut})))
    order by n.nspname = 'pgboss', c.relname`.execute(db);
  return sortParentsFirst(rows);
}

function sortParentsFirst(tables: readonly Table[]): Table[] {
  const sorted = new Set<Table>();
  const add = (table: Table): void => {
    if (sorted.has(table)) return;
    for (const parent of table.parents)
      for (const other of tables) if (other.name === parent.table) add(other);
    sorted.add(table);
  };
  for (const table of tables) add(table);
  return [...sorted];
}

/** A table's name for a query. */
export function tableRef({ name }: Pick<Table, 'name'>) {
  // Quoted by the database where that is needed.
  return sql.raw(name);
}

/** The newest migration in this database; undefined = it has no tables. */
export async function findSchemaVersion(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{ there: boolean }>`
    select to_regclass('kysely_migration') is not null as there`.execute(db);
  if (!rows[0]?.there) return undefined;
  const newest = await sql<{ name: string | null }>`select max(name) as name from kysely_migration`.execute(
    db,
  );
  return newest.rows[0]?.name ?? undefined;
}

/** The version of the queue's tables; null = it has none. */
export async function findQueueVersion(db: Db): Promise<number | null> {
  const { rows } = await sql<{ there: boolean }>`
    select to_regclass('pgboss.version') is not null as there`.execute(db);
  if (!rows[0]?.there) return null;
  const found = await sql<{ version: number }>`select version from pgboss.version`.execute(db);
  return found.rows[0]?.version ?? null;
}
