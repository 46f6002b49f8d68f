import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import pg, { type ClientBase, type Pool, type PoolClient, type PoolConfig } from 'pg';
import { UserError } from '../errors.ts';
import type { Secret } from '../secrets/secret.ts';
import type { Log } from '../telemetry/log.ts';
import type { Schema } from './schema.ts';

// Every process has these two pools. Two of them fit into PgBouncer's default of 20, and small servers allow no more.
const maxConnections = 5;
const maxQueue = 3;
const connectTimeoutMs = 5_000;
const checkMs = 6_000;
const statementTimeoutMs = 5_000;
const silenceMs = 7_000;

/** Pools of connections to a server. @throws UserError where it cannot be used; the message never holds the password. */
export async function openPostgres(databaseUrl: Secret, log: Log, isPatient = false) {
  const common: PoolConfig = {
    connectionString: databaseUrl.reveal(),
    application_name: 'cdn-chatops',
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
  };
  const address = describeAddress(databaseUrl.reveal());
  const pools: Pool[] = [];
  const primary = { since: 0, clients: new Map<PoolClient, number>() };
  const create = (config: PoolConfig, options = {}): Pool => {
    const pool = createPool({ ...common, ...config }, log, { primary, ...options });
    pools.push(pool);
    return pool;
  };
  const close = async (): Promise<void> => void (await Promise.all(pools.map(endPool)));
  try {
    // Not as parameters of the start: PgBouncer knows none of them.
    const setup = `set statement_timeout = ${statementTimeoutMs}; set idle_in_transaction_session_timeout = 60000`;
    const pool = isPatient
      ? create({ max: maxConnections })
      : create({ max: maxConnections, query_timeout: silenceMs }, { setup });
    const late = setTimeout(checkMs, undefined, { ref: false });
    await Promise.race([checkServer(pool, address), late.then(() => Promise.reject(withCode('no session')))]);
    // The queue has its own connections: people do not wait for jobs.
    const unlimited = create({ max: maxQueue });
    return {
      engine: 'postgres' as const,
      pool: unlimited,
      db: new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) }),
      poolUse: () => countConnections(pool),
      silenceMs,
      backgroundDb: new Kysely<Schema>({ dialect: new PostgresDialect({ pool: unlimited }) }),
      explain: (error: unknown) => toUserError(error, address),
      close,
    };
  } catch (error) {
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

/** Whether a pooler gives two clients each other's session: prepared statements would get lost. */
async function isTransactionPool(pool: Pool): Promise<boolean> {
  const clients = await Promise.all([pool.connect(), pool.connect()]).catch((error: Error) => {
    throw error.message.includes('timeout') ? withCode('no session') : error;
  });
  const findSessions = async (): Promise<unknown[]> => {
    const found: unknown[] = [];
    // The later one first: a pooler takes what was used last, or what was not used for longest.
    for (const client of clients.toReversed()) {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      found.unshift(rows[0]?.pid);
    }
    return found;
  };
  try {
    // Several starts at once can meet the same sessions by chance.
    for (let round = 0; round < 5; round += 1) {
      for (const client of clients) await client.query('begin');
      const during = await findSessions();
      for (const client of clients) await client.query('commit');
      const after = await findSessions();
      if (during.join() !== after.join()) return true;
    }
    return false;
  } finally {
    for (const client of clients) client.release();
  }
}

function describeAddress(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'the address in DATABASE_URL';
  const { hostname, port, pathname } = new URL(databaseUrl);
  return `${hostname || 'this machine'}:${port || '5432'}${pathname}`;
}

const refusals: Readonly<Record<string, readonly [problem: string, nextStep?: string]>> = {
  ECONNREFUSED: ['No database answers at {address} (connection refused).'],
  ENOTFOUND: ['The database’s host cannot be found: {address}.'],
  EAI_AGAIN: ['The database’s host cannot be found at the moment: {address}.'],
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
    'A process takes up to 8: raise default_pool_size there, or use the address of PostgreSQL itself.',
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

const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  // int8: a number while it is exact.
  20(text) {
    const value = Number(text);
    return Number.isSafeInteger(value) ? value : BigInt(text);
  },
  // date: as a moment, a day would begin in the time zone of the machine that reads it.
  1082: (text) => text,
};

const types = {
  getTypeParser: (id: number, format?: string) =>
    (format === 'binary' ? undefined : parsers[id]) ?? pg.types.getTypeParser(id, format as 'text'),
};

/** Shared by the pools: connections from before `since` lead to a server that takes no writes or is gone. */
interface Primary {
  since: number;
  readonly clients: Map<PoolClient, number>;
}

const warningMs = 1_000;

/** A pool without connections to a lost server. `setup`: the first statements of each session. */
export function createPool(
  config: PoolConfig,
  log: Log,
  { primary = { since: 0, clients: new Map() }, setup }: { primary?: Primary; setup?: string } = {},
): Pool {
  const onConnect = async (client: ClientBase): Promise<void> => void (await client.query(setup ?? ''));
  // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, its types do not say so
  const pool = new pg.Pool({ ...config, types, ...(setup !== undefined && { onConnect }) });
  const isStale = (client: PoolClient): boolean => (primary.clients.get(client) ?? 0) <= primary.since;
  const replaceAll = (reason: string, since: number): void => {
    if (since - primary.since > warningMs) log.warn({}, `${reason}; opening new connections`);
    primary.since = Math.max(primary.since, since);
  };
  const onFailure = (error: { readonly code?: unknown; readonly message?: unknown }): void => {
    // read_only_sql_transaction: a standby, or a primary that was one before a failover.
    if (error.code === '25006') replaceAll('the database takes no writes', performance.now());
    if (error.message !== silence) return;
    replaceAll('the server of a database connection is gone', performance.now() - silenceMs);
    // What waits on them fails at once. The member is not in the driver's types.
    for (const client of [...primary.clients.keys()].filter(isStale))
      (client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy();
  };
  // A server that restarts breaks idle connections; without a listener that ends the process.
  pool.on('error', (error) => log.warn({ error }, 'database connection broke; the next query opens another'));
  pool.on('remove', (client) => primary.clients.delete(client));
  pool.on('connect', (client) => {
    primary.clients.set(client, performance.now());
    // The pool listens only while a connection is idle, so one inside a transaction needs its own listener.
    client.on('error', () => undefined);
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    Object.assign(client, {
      query(...given: unknown[]) {
        const result = query(...given);
        if (result instanceof Promise) result.catch(onFailure);
        return result;
      },
    });
  });
  const connect = pool.connect.bind(pool);
  const connectFresh = async (): Promise<PoolClient> => {
    const client = await connect();
    if (!isStale(client)) return client;
    client.release(true);
    return connectFresh();
  };
  return Object.assign(pool, {
    connect: (callback?: Parameters<typeof connect>[0]) => (callback ? connect(callback) : connectFresh()),
  });
}

const silence = 'Query read timeout';

export function countConnections(pool: Pool): { readonly inUse: number; readonly waiting: number } {
  return { inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount };
}

/** Closes a pool behind all that wait for a connection: the pool itself would leave them waiting. */
export async function endPool(pool: Pool): Promise<void> {
  while (pool.waitingCount > 0) {
    const client = await pool.connect().catch(() => undefined);
    if (!client) break;
    client.release();
  }
  await pool.end();
}
