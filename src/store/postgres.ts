import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolConfig } from 'pg';
import { UserError } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import type { Schema } from './schema.ts';

export interface Postgres {
  readonly db: Kysely<Schema>;
  /** Runs on one connection without a statement timeout: a migration may take minutes, and wait for another process. */
  readonly withoutLimits: <T>(run: (db: Kysely<Schema>) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** Parsers by type id, for the types that the two engines would return differently. */
export const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  // int8: a number while it is exact, beyond that a bigint.
  20(text) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  },
  // bytea, in PostgreSQL's hexadecimal form `\\x00ff`.
  17: (text) => Buffer.from(text.slice(2), 'hex'),
  // date: as a moment, a day would begin in the time zone of the machine that reads it.
  1082: (text) => text,
};

// Small servers allow 20 to 100 connections in all, and every process of the bot has a pool.
const maxConnections = 10;
// A person waits for each of these queries; the longest takes milliseconds.
const statementTimeoutMs = 15_000;

/**
 * A pool of connections to a PostgreSQL server.
 *
 * @throws UserError when the server cannot be reached or refuses; its message never holds the password.
 */
export async function openPostgres(databaseUrl: Secret, log: Log): Promise<Postgres> {
  const { default: pg } = await import('pg');
  const common: PoolConfig = {
    connectionString: databaseUrl.reveal(),
    application_name: 'cdn-chatops',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    types: {
      getTypeParser: (id: number, format?: string) =>
        (format === 'binary' ? undefined : parsers[id]) ?? pg.types.getTypeParser(id, format as 'text'),
    },
  };
  const onBroken = (error: Error): void =>
    log.warn({ error }, 'database connection broke; the next query opens another');
  const createPool = (more: PoolConfig): Pool => {
    const pool = new pg.Pool({ ...common, ...more });
    // A server that restarts breaks idle connections; without a listener that ends the process.
    pool.on('error', onBroken);
    // The pool listens only while a connection is idle, so one inside a transaction needs its own listener.
    pool.on('connect', (client) => client.on('error', () => undefined));
    return pool;
  };

  const address = describeAddress(databaseUrl.reveal());
  let pool: Pool;
  try {
    pool = createPool({
      max: maxConnections,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 60_000,
    });
    await pool.query('select 1');
  } catch (error) {
    throw toUserError(error, address);
  }
  return {
    db: new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }),
    async withoutLimits(run) {
      const single = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: createPool({ max: 1 }) }) });
      try {
        return await run(single);
      } finally {
        await single.destroy();
      }
    },
    close: () => pool.end(),
  };
}

/** The server's address without user and password. */
function describeAddress(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'the address in DATABASE_URL';
  const { hostname, port, pathname } = new URL(databaseUrl);
  return `${hostname || 'this machine'}:${port || '5432'}${pathname}`;
}

const settings = 'Check DATABASE_URL, or leave it out to use the embedded database.';
const refusals: Record<string, (address: string) => UserError> = {
  ECONNREFUSED: (at) => new UserError(`No database answers at ${at} (connection refused).`, settings),
  ENOTFOUND: (at) => new UserError(`The database's host cannot be found: ${at}.`, settings),
  EAI_AGAIN: (at) => new UserError(`The database's host cannot be found at the moment: ${at}.`, settings),
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
function toUserError(error: unknown, address: string): UserError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const refusal = refusals[code];
  return (
    refusal?.(address) ??
    new UserError(`The database at ${address} cannot be used (${code || 'no answer'}).`, settings)
  );
}
