import { setTimeout } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolConfig } from 'pg';
import { UserError } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import { createKysely, createPool, endPool } from './pool.ts';
import type { Schema } from './schema.ts';

// Every process has these three pools. Two of them fit into PgBouncer's default of 20, and small servers allow no more.
const maxConnections = 5;
const maxUnlimited = 2;
const maxQueue = 3;
const connectTimeoutMs = 5_000;
// A person waits for each of these queries; the longest takes milliseconds.
const statementTimeoutMs = 15_000;

/**
 * Pools of connections to a PostgreSQL server. @throws UserError when the server cannot be reached, refuses, or cannot be
 * used; its message never holds the password.
 */
export async function openPostgres(databaseUrl: Secret, log: Log) {
  const common: PoolConfig = {
    connectionString: databaseUrl.reveal(),
    application_name: 'cdn-chatops',
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
  };
  const address = describeAddress(databaseUrl.reveal());
  const pools: Pool[] = [];
  const primary = { since: 0 };
  const create = (max: number, setup?: string, more: PoolConfig = {}): Pool => {
    const pool = createPool({ ...common, max, ...more }, log, {
      primary,
      ...(setup !== undefined && { setup }),
    });
    pools.push(pool);
    return pool;
  };
  const close = async (): Promise<void> => void (await Promise.all(pools.map(endPool)));
  try {
    const pool = create(
      maxConnections,
      // Not as parameters of the start: PgBouncer knows none of them.
      `set statement_timeout = ${statementTimeoutMs}; set idle_in_transaction_session_timeout = 60000;`,
    );
    const late = setTimeout(2 * connectTimeoutMs, undefined, { ref: false });
    await Promise.race([checkServer(pool, address), late.then(() => Promise.reject(withCode('no session')))]);
    const unlimited = create(maxUnlimited, undefined, { connectionTimeoutMillis: 60_000 });
    return {
      engine: 'postgres' as const,
      // The queue has its own connections: people do not wait for jobs.
      pool: create(maxQueue, ''),
      db: createKysely(pool),
      poolUse: () => ({ inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
      // Without a statement timeout: a migration may take minutes, and wait for another process.
      unlimited: new Kysely<Schema>({ dialect: new PostgresDialect({ pool: unlimited }) }),
      explain: (error: unknown) => toUserError(error, address),
      close,
    };
  } catch (error) {
    // Not awaited: it waits for connections that a pooler keeps waiting.
    void close();
    throw error instanceof UserError ? error : toUserError(error, address);
  }
}

async function checkServer(pool: Pool, address: string): Promise<void> {
  const { rows } = await pool.query<{ encoding: string; readOnly: string }>(
    `select current_setting('server_encoding') as encoding, current_setting('transaction_read_only') as "readOnly"`,
  );
  const { encoding, readOnly } = rows[0] ?? { encoding: '', readOnly: '' };
  if (encoding !== 'UTF8')
    throw new UserError(
      `The database at ${address} stores text as ${encoding}, which cannot hold what people type.`,
      `Create one with: create database chatops encoding 'UTF8' template template0`,
    );
  if (readOnly === 'on') throw withCode('25006');
  if (await isTransactionPool(pool)) throw withCode('shared sessions');
}

/**
 * Whether two clients are given each other's session once their transactions have ended: statements that are prepared and
 * settings of a session would get lost, or into the hands of others.
 */
async function isTransactionPool(pool: Pool): Promise<boolean> {
  const clients = await Promise.all([pool.connect(), pool.connect()]).catch((error: Error) => {
    throw error.message.includes('timeout') ? withCode('no session') : error;
  });
  const findSessions = async (): Promise<unknown[]> => {
    const found: unknown[] = [];
    // One after the other, and the later one first: a pooler takes what was used last, or what was not used for longest.
    for (const client of clients.toReversed()) {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      found.unshift(rows[0]?.pid);
    }
    return found;
  };
  try {
    for (const client of clients) await client.query('begin');
    const during = await findSessions();
    for (const client of clients) await client.query('commit');
    const after = await findSessions();
    return during.join() !== after.join();
  } finally {
    for (const client of clients) client.release();
  }
}

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
  ETIMEDOUT: ['The database at {address} does not answer.'],
  ENOENT: ['There is no database socket for {address}.'],
  '25006': [
    'The database at {address} takes no writes: it is a standby, or set to read-only.',
    'Set DATABASE_URL to the address of the primary, or wait until a failover is over.',
  ],
  '28P01': ['The database at {address} refuses the user or password in DATABASE_URL.'],
  '28000': ['The database at {address} refuses the user in DATABASE_URL.'],
  '3D000': ['The server has no such database: {address}.', 'Create it, or correct DATABASE_URL.'],
  '53300': [
    'The database at {address} has no connection left.',
    'Raise max_connections there (PgBouncer: max_client_conn).',
  ],
  '57P03': ['The database at {address} is starting up or shutting down.', 'Try again in a moment.'],
  ERR_INVALID_URL: [
    'DATABASE_URL cannot be read as an address.',
    'Special characters in the password must be percent-encoded.',
  ],
  'shared sessions': [
    'DATABASE_URL ({address}) leads to a pooler that hands each transaction another connection, such as PgBouncer with pool_mode = transaction or statement.',
    'Set pool_mode = session for this database there, or use the address of PostgreSQL itself.',
  ],
  'no session': [
    'The pooler at {address} did not give the bot two connections at once.',
    'A process takes up to 10: raise default_pool_size there, or use the address of PostgreSQL itself.',
  ],
  file: [
    'A certificate or key that DATABASE_URL names is a file that cannot be read ({code}).',
    'Check sslrootcert, sslcert and sslkey there. A private CA can be named in NODE_EXTRA_CA_CERTS instead.',
  ],
  'no encryption': [
    'The database at {address} refuses connections without TLS.',
    'Add sslmode=verify-full to DATABASE_URL, or set PGSSLMODE=verify-full. For a private CA, name its file in NODE_EXTRA_CA_CERTS. To encrypt without checking the certificate (Heroku): no-verify.',
  ],
  'no TLS': [
    'The database at {address} offers no encrypted connections.',
    'Take sslmode out of DATABASE_URL and PGSSLMODE out of the environment, or turn on ssl there.',
  ],
  CERT_HAS_EXPIRED: [
    'The certificate of the database at {address} has expired.',
    "Renew it there, and check this machine's clock.",
  ],
  certificate: [
    'The certificate of the database at {address} cannot be verified ({code}).',
    'Name the file of its CA in NODE_EXTRA_CA_CERTS, and connect by a name that is in the certificate. To encrypt without checking it: sslmode=no-verify.',
  ],
};

function findRefusal({ code, message = '', syscall }: Failure): string {
  if (syscall === 'open') return 'file';
  if (/no encryption|SSL off|insecure|(?:SSL|TLS)[^.]* require|requires? (?:SSL|TLS)/iu.test(message))
    return 'no encryption';
  if (/statement pooling/u.test(message)) return 'shared sessions';
  // PgBouncer has one code for all of these, and the driver none for a password that is missing.
  if (/no such database/u.test(message)) return '3D000';
  if (/authentication failed|no such user|client password/u.test(message)) return '28P01';
  if (/no more connections/u.test(message)) return '53300';
  if (/does not support SSL/u.test(message)) return 'no TLS';
  if (/CERT(?!_HAS)|UNABLE_TO_(?:GET|VERIFY)/u.test(code ?? '')) return 'certificate';
  if (/timeout/u.test(message)) return 'ETIMEDOUT';
  return code ?? 'no answer';
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code });
}

// The driver's own error is not kept as a cause: where an address cannot be parsed, it holds the address.
function toUserError(error: unknown, address: string): UserError {
  const { code = 'no answer' } = error as Failure;
  const [problem, nextStep = 'Check DATABASE_URL, or leave it out to use the embedded database.'] = refusals[
    findRefusal(error as Failure)
  ] ?? ['The database at {address} cannot be used ({code}).'];
  return new UserError(
    problem.replace('{address}', () => address).replace('{code}', () => code),
    nextStep,
  );
}

interface Failure {
  readonly code?: string;
  readonly message?: string;
  readonly syscall?: string;
}
