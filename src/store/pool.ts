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

/** A pool of connections on which statements that come again are prepared once. */
export function createPool(config: PoolConfig, log: Log): Pool {
  const pool = new pg.Pool({ ...config, types });
  const nameOf = createNames();
  // A server that restarts breaks idle connections; without a listener that ends the process.
  pool.on('error', (error) => log.warn({ error }, 'database connection broke; the next query opens another'));
  pool.on('connect', (client) => {
    // The pool listens only while a connection is idle, so one inside a transaction needs its own listener.
    client.on('error', () => undefined);
    prepareRepeated(client, nameOf);
  });
  return pool;
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
  let count = 0;
  const add = (text: string): string => {
    const name = `s${(count += 1)}`;
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
  return Object.assign(nameOf, { renew: add });
}

/**
 * Gives names to the statements of a connection. Parsing and planning is most of what a small statement costs: in the
 * embedded engine four fifths.
 */
function prepareRepeated(client: PoolClient, nameOf: Names): void {
  const query = client.query.bind(client);
  const named = async (text: string, values: unknown[]): Promise<unknown> => {
    const name = nameOf(text);
    if (name === undefined) return query(text, values);
    try {
      return await query({ name, text, values });
    } catch (error) {
      // “cached plan must not change result type”: a migration of another process changed the table.
      if ((error as { code?: unknown }).code !== '0A000') throw error;
      nameOf.renew(text);
      if (client.getTransactionStatus() !== 'I') throw error;
      return query(text, values);
    }
  };
  Object.assign(client, {
    query: (...about: unknown[]) =>
      isPlain(about) ? named(...about) : (query as (...about: unknown[]) => unknown)(...about),
  });
}

/** A text with its values, whose answer is a promise: not what the driver asks for itself, with a callback. */
function isPlain(about: readonly unknown[]): about is [string, unknown[]] {
  return about.length === 2 && typeof about[0] === 'string' && Array.isArray(about[1]);
}
