import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolConfig } from 'pg';
import { UserError } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { readBytes, readDay, readInteger, typeIds } from './parsers.ts';
import type { Schema } from './schema.ts';

export interface Postgres {
  readonly db: Kysely<Schema>;
  /** One connection without a limit on statements: changing tables may take minutes, and wait for another process. */
  readonly withoutLimits: <T>(run: (db: Kysely<Schema>) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

// Small servers allow 20 to 100 connections in all, and every process of the bot has a pool.
const mostConnections = 10;
// A person waits for each of these queries; the longest is milliseconds.
const statementTimeoutMs = 15_000;

/**
 * A pool of connections to a PostgreSQL server.
 *
 * @throws UserError when the server cannot be reached or refuses, in words that never hold the address's password.
 */
export async function openPostgres(databaseUrl: Secret, log: Log): Promise<Postgres> {
  const { default: pg } = await import('pg');
  const parsers = new Map<number, (text: string) => unknown>([
    [typeIds.int8, readInteger],
    [typeIds.bytea, readBytes],
    [typeIds.date, readDay],
  ]);
  const common: PoolConfig = {
    connectionString: databaseUrl.reveal(),
    application_name: 'cdn-chatops',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    types: {
      getTypeParser: (id: number, format?: string) =>
        (format === 'binary' ? undefined : parsers.get(id)) ?? pg.types.getTypeParser(id, format as 'text'),
    },
  };
  const broken = (error: Error): void =>
    log.warn({ error }, 'a database connection broke; the next query opens another');
  const makePool = (more: PoolConfig): Pool => {
    const pool = new pg.Pool({ ...common, ...more });
    // A server that restarts breaks connections that nobody waits for; without a listener that ends the process.
    pool.on('error', broken);
    // The pool listens only while a connection is idle, so one inside a transaction needs its own listener.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  };

  const address = describe(databaseUrl.reveal());
  let pool: Pool;
  try {
    pool = makePool({
      max: mostConnections,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 60_000,
    });
    await pool.query('select 1');
  } catch (error) {
    throw unreachable(error, address);
  }
  return {
    db: new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }),
    async withoutLimits(run) {
      const single = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: makePool({ max: 1 }) }) });
      try {
        return await run(single);
      } finally {
        await single.destroy();
      }
    },
    close: () => pool.end(),
  };
}

/** Where the server is, without who and with which password. */
function describe(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'the address in DATABASE_URL';
  const { hostname, port, pathname } = new URL(databaseUrl);
  return `${hostname || 'this machine'}:${port || '5432'}${pathname}`;
}

const settings = 'Check DATABASE_URL, or leave it out to use the embedded database.';
const refusals: Record<string, (address: string) => UserError> = {
  ECONNREFUSED: (at) => new UserError(`No database answers at ${at} (connection refused).`, settings),
  ENOTFOUND: (at) => new UserError(`The database's host is not known: ${at}.`, settings),
  EAI_AGAIN: (at) => new UserError(`The database's host is not known now: ${at}.`, settings),
  ENOENT: (at) => new UserError(`There is no database socket for ${at}.`, settings),
  '28P01': (at) =>
    new UserError(`The database at ${at} refuses the user or password in DATABASE_URL.`, settings),
  '28000': (at) => new UserError(`The database at ${at} refuses the user in DATABASE_URL.`, settings),
  '3D000': (at) =>
    new UserError(`The server has no such database: ${at}.`, 'Create it, or correct DATABASE_URL.'),
  '53300': (at) =>
    new UserError(`The database at ${at} has no connection left.`, 'Raise max_connections there.'),
  ERR_INVALID_URL: () =>
    new UserError(
      'DATABASE_URL cannot be read as an address.',
      'Special characters in the password must be percent-encoded.',
    ),
};

// The driver's own error is not kept as a cause: where an address cannot be parsed, it holds the address.
function unreachable(error: unknown, address: string): UserError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const refusal = refusals[code];
  return (
    refusal?.(address) ??
    new UserError(`The database at ${address} cannot be used (${code || 'no answer'}).`, settings)
  );
}
