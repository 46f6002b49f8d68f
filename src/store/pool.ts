import type { Duplex } from 'node:stream';
import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg, { type ClientBase, type Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Log } from '../telemetry/log.ts';
import { addQuerySpan, isTracing } from '../telemetry/tracing.ts';
import type { Db, Schema } from './schema.ts';

/** Parsers by type id, in place of the driver's. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  // int8: a number while it is exact, beyond that a bigint.
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

/** Shared by the pools of a database: connections from before this moment lead to a server that no longer takes writes. */
export interface Primary {
  since: number;
  checking?: Promise<void> | undefined;
}

const warningMs = 1_000;
// Statements of people and of jobs take milliseconds.
const silentMs = 3_000;
// read_only_sql_transaction: a standby, or a primary that was one before a failover.
const readOnly = '25006';

/**
 * A pool of connections, without those to a server that no longer takes writes or is gone. `setup`: a session's first
 * statements, where it is one of a server.
 */
export function createPool(
  config: PoolConfig,
  log: Log,
  { primary = { since: 0 }, setup }: { readonly primary?: Primary; readonly setup?: string } = {},
): Pool {
  const sessions = new WeakMap<object, number>();
  const onConnect = async (client: ClientBase): Promise<void> => {
    const results = [await client.query<{ pid: number }>(`${setup} select pg_backend_pid() as pid`)].flat();
    sessions.set(client, results.at(-1)?.rows[0]?.pid ?? 0);
  };
  // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, its types do not say so
  const pool = new pg.Pool({ ...config, types, ...(setup !== undefined && { onConnect }) });
  const connectedAt = new WeakMap<PoolClient, number>();
  const replaceAll = (reason: string): void => {
    const now = performance.now();
    if (now - primary.since > warningMs) log.warn({}, `${reason}; opening new connections`);
    primary.since = now;
  };
  const onFailure = (error: unknown): void => {
    if ((error as { code?: unknown }).code === readOnly) replaceAll('the database takes no writes');
  };
  const isStale = (client: PoolClient): boolean => (connectedAt.get(client) ?? 0) <= primary.since;
  const examine = async (session: number): Promise<void> => {
    if (await isGone(session, config)) replaceAll('the server of a database connection is gone');
    primary.checking = undefined;
  };
  const onSilence = async (client: PoolClient): Promise<void> => {
    const session = sessions.get(client);
    if (!isStale(client) && session !== undefined) {
      // Whoever waits meanwhile waits for the same answer.
      primary.checking ??= examine(session);
      await primary.checking;
    }
    if (!isStale(client)) return;
    // Its statements fail at once. The member is not in the driver's types.
    (client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy();
  };
  // A server that restarts breaks idle connections; without a listener that ends the process.
  pool.on('error', (error) => log.warn({ error }, 'database connection broke; the next query opens another'));
  pool.on('connect', (client) => {
    connectedAt.set(client, performance.now());
    // The pool listens only while a connection is idle, so one inside a transaction needs its own listener.
    client.on('error', () => undefined);
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    Object.assign(client, {
      query(...given: unknown[]) {
        const result = query(...given);
        // What the driver asks for itself has a callback.
        if (!(result instanceof Promise)) return result;
        const timer = setInterval(() => void onSilence(client), silentMs).unref();
        result.catch(onFailure).finally(() => clearInterval(timer));
        return result;
      },
    });
  });
  const connect = pool.connect.bind(pool);
  const connectFresh = async (): Promise<PoolClient> => {
    const client = await connect();
    if (isStale(client)) {
      client.release(true);
      return connectFresh();
    }
    const release = client.release.bind(client);
    client.release = (broken) => release(broken ?? isStale(client));
    return client;
  };
  return Object.assign(pool, {
    connect: (callback?: Parameters<typeof connect>[0]) => (callback ? connect(callback) : connectFresh()),
  });
}

/** Whether new connections lead to a server that does not have this session: a host that died says nothing on the old ones. */
async function isGone(session: number, config: PoolConfig): Promise<boolean> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: silentMs, query_timeout: silentMs });
  // It may break while it is closed.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('select pid from pg_stat_activity where pid = $1', [session]);
    return rows.length === 0;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
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
