import { sql } from 'kysely';
import { UserError } from '../errors.ts';
import type { Db } from './schema.ts';

const queueSchema = 'pgboss';

async function readNames(db: Db): Promise<{ user: string; database: string; schema: string }> {
  const { rows } = await sql<{ user: string; database: string; schema: string }>`
    select quote_ident(current_user) as user, quote_ident(current_database()) as database,
      quote_ident(coalesce(current_schema(), 'public')) as schema`.execute(db);
  return rows[0] ?? { user: '', database: '', schema: 'public' };
}

/**
 * Checks that the user of this session may do with the tables what the bot does. @throws UserError with the GRANT to run.
 */
export async function checkRights(db: Db): Promise<void> {
  // By the catalog, since the schema itself may be closed to this user.
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
    `The database user ${user} may not use the bot's tables: ${first.table}${more.length > 0 ? ` and ${more.length} more` : ''}.`,
    [
      'Run this as the user that owns them:',
      `  grant usage on ${schemas} to ${user};`,
      `  grant select, insert, update, delete on all tables in ${schemas} to ${user};`,
      `  alter default privileges in ${schemas} grant select, insert, update, delete on tables to ${user};`,
    ].join('\n'),
  );
}

/** Runs what creates or changes tables. @throws UserError with the GRANT to run, where the user may not. */
export async function withCreateRights<T>(db: Db, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isPrivilegeError(error)) throw error;
    const { user, database, schema } = await readNames(db);
    throw new UserError(
      `The database user ${user} may not create or change the bot's tables.`,
      [
        'Run npm run migrate with the user that owns the database; or run this as that user, and try again:',
        `  grant create on database ${database} to ${user};`,
        `  grant usage, create on schema ${schema} to ${user};`,
      ].join('\n'),
    );
  }
}

function isPrivilegeError(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return code === '42501' || (cause !== undefined && isPrivilegeError(cause));
}
