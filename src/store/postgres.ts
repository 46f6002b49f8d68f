import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import type { Pool, PoolConfig } from 'pg';
import { UserError } from '../errors.ts';
import { createFairQueue, tenantScope } from '../lib/fair-queue.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { createKysely } from './kysely.ts';
import { createPool, endPool } from './pool.ts';
import type { Schema } from './schema.ts';

// Small servers allow 20 to 100 connections in all, and every process of the bot has these two pools and the queue's.
const maxConnections = 8;
const maxUnlimited = 3;
const connectTimeoutMs = 5_000;
// A person waits for each of these queries; the longest takes milliseconds.
const statementTimeoutMs = 15_000;

/**
 * A pool of connections to a PostgreSQL server.
 *
 * @throws UserError when the server cannot be reached or refuses; its message never holds the password.
 */
export async function openPostgres(databaseUrl: Secret, log: Log) {
  const common: PoolConfig = {
    connectionString: databaseUrl.reveal(),
    application_name: 'cdn-chatops',
    keepAlive: true,
  };
  const create = (more: PoolConfig): Pool => createPool({ ...common, ...more }, log);

  try {
    const pool = create({
      max: maxConnections,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: 60_000,
    });
    await pool.query('select 1');
    const unlimited = create({ max: maxUnlimited, connectionTimeoutMillis: 60_000 });
    const shared = shareConnections(pool);
    return {
      native: { kind: 'postgres' as const, url: databaseUrl },
      db: createKysely(shared),
      poolUse: () => ({
        inUse: pool.totalCount - pool.idleCount,
        waiting: shared.waiting() + pool.waitingCount,
      }),
      // Without a statement timeout: a migration may take minutes, and wait for another process.
      unlimited: new Kysely<Schema>({ dialect: new PostgresDialect({ pool: unlimited }) }),
      async close(): Promise<void> {
        await Promise.all([endPool(pool), endPool(unlimited)]);
      },
    };
  } catch (error) {
    throw toUserError(error, describeAddress(databaseUrl.reveal()));
  }
}

/**
 * Connections of the pool, shared by tenants: the slow queries of one leave some for the others. Whoever waits for longer
 * than the pool lets them is refused as by the pool.
 */
function shareConnections(pool: Pool): PostgresPool & { readonly waiting: () => number } {
  const queue = createFairQueue({ max: maxConnections });
  const startAll = (): void => {
    while (queue.startNext());
  };
  const take = (tenant: string): Promise<() => void> =>
    new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(new Error('no database connection was free in time'));
      }, connectTimeoutMs);
      queue.add({ tenant }, (end) => {
        clearTimeout(timer);
        const release = (): void => {
          end();
          startAll();
        };
        if (isLate) queueMicrotask(release);
        else resolve(release);
      });
      startAll();
    });
  return {
    waiting: () => queue.waiting(),
    options: pool.options,
    async connect() {
      const end = await take(tenantScope.getStore() ?? '');
      const client = await pool.connect().catch((error: unknown) => {
        end();
        throw error;
      });
      const release = client.release.bind(client);
      client.release = (broken) => {
        end();
        release(broken);
      };
      return client;
    },
    end: () => endPool(pool),
  };
}

/** The server's address without user and password. */
function describeAddress(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'the address in DATABASE_URL';
  const { hostname, port, pathname } = new URL(databaseUrl);
  return `${hostname || 'this machine'}:${port || '5432'}${pathname}`;
}

/** By the code of the driver or the server: the problem, and the next step where it is not to check the address. */
const refusals: Readonly<Record<string, readonly [problem: string, nextStep?: string]>> = {
  ECONNREFUSED: ['No database answers at {address} (connection refused).'],
  ENOTFOUND: ["The database's host cannot be found: {address}."],
  EAI_AGAIN: ["The database's host cannot be found at the moment: {address}."],
  ENOENT: ['There is no database socket for {address}.'],
  '28P01': ['The database at {address} refuses the user or password in DATABASE_URL.'],
  '28000': ['The database at {address} refuses the user in DATABASE_URL.'],
  '3D000': ['The server has no such database: {address}.', 'Create it, or correct DATABASE_URL.'],
  '53300': ['The database at {address} has no connection left.', 'Raise max_connections there.'],
  ERR_INVALID_URL: [
    'DATABASE_URL cannot be read as an address.',
    'Special characters in the password must be percent-encoded.',
  ],
};

// The driver's own error is not kept as a cause: where an address cannot be parsed, it holds the address.
function toUserError(error: unknown, address: string): UserError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
  const [problem, nextStep = 'Check DATABASE_URL, or leave it out to use the embedded database.'] = refusals[
    code
  ] ?? [`The database at {address} cannot be used (${code}).`];
  return new UserError(
    problem.replace('{address}', () => address),
    nextStep,
  );
}
