import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import { addQuerySpan, isTracing } from '../telemetry/spans.ts';
import type { Db, Schema } from './schema.ts';

/** Queries over a pool. Where tracing is on, each statement is a span: measuring them costs a little. */
export function createKysely(pool: PostgresPool): Db {
  const dialect = new PostgresDialect({ pool });
  if (!isTracing()) return new Kysely<Schema>({ dialect });
  return new Kysely<Schema>({
    dialect,
    log: ({ level, query, queryDurationMillis }) =>
      addQuerySpan(query.sql, queryDurationMillis / 1000, level === 'error'),
  });
}
