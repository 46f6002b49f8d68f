import { createHash } from 'node:crypto';
import pg, { type Pool, type PoolClient, type PoolConfig } from 'pg';
import type { Log } from '../telemetry/log.ts';

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
}

/** A pool of connections on which repeated statements are prepared once. */
export function createPool(config: PoolConfig, log: Log, primary: Primary = { since: 0 }): Pool {
  const pool = new pg.Pool({ ...config, types });
  const nameOf = createNames();
  const connectedAt = new WeakMap<PoolClient, number>();
  const onReadOnly = (): void => {
    const now = performance.now();
    if (now - primary.since > warningMs) log.warn({}, 'the database takes no writes; connecting anew');
    primary.since = now;
  };
  // A server that restarts breaks idle connections; without a listener that ends the process.
  pool.on('error', (error) => log.warn({ error }, 'database connection broke; the next query opens another'));
  pool.on('connect', (client) => {
    connectedAt.set(client, performance.now());
    // The pool listens only while a connection is idle, so one inside a transaction needs its own listener.
    client.on('error', () => undefined);
    watchQueries(client, nameOf, onReadOnly);
  });
  const isStale = (client: PoolClient): boolean => (connectedAt.get(client) ?? 0) <= primary.since;
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

const warningMs = 1_000;

/** Closes a pool behind all that wait for a connection: the pool itself would leave them waiting. */
export async function endPool(pool: Pool): Promise<void> {
  while (pool.waitingCount > 0) {
    const client = await pool.connect().catch(() => undefined);
    if (!client) break;
    client.release();
  }
  await pool.end();
}

// A connection keeps what is prepared: about 20 kB each. The bot has fewer statements than this, but for lists of
// changing length, which are a statement for each length.
const mostPrepared = 300;
const mostSeenOnce = 1_000;

/** The name under which a statement is prepared, from its second use on. `renew`: what is prepared under it is outdated. */
interface Names {
  (text: string): string | undefined;
  renew(text: string): void;
}

function createNames(): Names {
  const seenOnce = new Set<string>();
  const names = new Map<string, string>();
  let renewed = 0;
  // The name says what the statement is: a pooler may hand this connection to another process.
  const add = (text: string): string => {
    const name = `${createHash('sha256').update(text).digest('base64url').slice(0, 22)}_${renewed}`;
    names.set(text, name);
    return name;
  };
  const nameOf = (text: string): string | undefined => {
    const name = names.get(text);
    if (name !== undefined || names.size >= mostPrepared) return name;
    if (seenOnce.delete(text)) return add(text);
    if (seenOnce.size >= mostSeenOnce) seenOnce.clear();
    seenOnce.add(text);
    return undefined;
  };
  const renew = (text: string): void => {
    renewed += 1;
    add(text);
  };
  return Object.assign(nameOf, { renew });
}

/**
 * Gives names to the statements of a connection, and notices a server that takes no writes. Parsing and planning is most of what
 * a small statement costs: in the embedded engine four fifths.
 */
function watchQueries(client: PoolClient, nameOf: Names, onReadOnly: () => void): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  const run = async (...given: unknown[]): Promise<unknown> => {
    try {
      return await query(...given);
    } catch (error) {
      if (readCode(error) === readOnly) onReadOnly();
      throw error;
    }
  };
  const runNamed = async (text: string, values: unknown[]): Promise<unknown> => {
    const name = nameOf(text);
    if (name === undefined) return run(text, values);
    try {
      return await run({ name, text, values });
    } catch (error) {
      if (readCode(error) !== changedResult) throw error;
      nameOf.renew(text);
      if (client.getTransactionStatus() !== 'I') throw error;
      return run(text, values);
    }
  };
  Object.assign(client, {
    query: (...given: unknown[]) => {
      const [text, values] = given;
      // What the driver asks for itself has a callback.
      if (typeof text !== 'string' || typeof given.at(-1) === 'function') return query(...given);
      return Array.isArray(values) ? runNamed(text, values) : run(text);
    },
  });
}

// read_only_sql_transaction: a standby, or a primary that was one before a failover.
const readOnly = '25006';
// “cached plan must not change result type”: a migration of another process changed the table.
const changedResult = '0A000';

function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
