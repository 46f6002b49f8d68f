import { setTimeout } from 'node:timers/promises';
import type { Client, Notification, Pool } from 'pg';
import type { ConstructorOptions } from 'pg-boss';
import type { Engine } from '../database.ts';

type QueueDatabase = NonNullable<ConstructorOptions['db']>;

/** The queue's way to either engine, over a pool whose connections end where the database takes no writes any more. */
export function connectQueue(engine: Engine): QueueDatabase {
  const { pool } = engine;
  return {
    async executeSql(text, values = []) {
      const client = await pool.connect();
      try {
        // Several statements at once have no values, and a result each.
        const results = [await (values.length > 0 ? client.query(text, values) : client.query(text))].flat();
        return { rows: results.flatMap(({ rows }) => rows) };
      } catch (error) {
        // Of several statements the first may have begun a transaction: others must not get into it.
        if (client.getTransactionStatus() !== 'I') await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    listen: (channel, onNotification, onReconnect) =>
      engine.kind === 'embedded'
        ? listenInSession(pool, { channel, onNotification, onReconnect })
        : listenApart(engine.listener, { channel, onNotification, onReconnect }),
  };
}

interface Listening {
  readonly channel: string;
  readonly onNotification: (payload: string) => void;
  readonly onReconnect: () => void;
}

/** In the one session of the embedded engine. */
async function listenInSession(pool: Pool, { channel, onNotification, onReconnect }: Listening) {
  const client = await pool.connect();
  const hear = ({ channel: other, payload = '' }: Notification): void => {
    if (other === channel) onNotification(payload);
  };
  client.on('notification', hear);
  await client.query(`listen ${client.escapeIdentifier(channel)}`).finally(() => client.release());
  onReconnect();
  return {
    async close() {
      client.off('notification', hear);
      await pool.query(`unlisten ${client.escapeIdentifier(channel)}`);
    },
  };
}

const reconnectMs = 1_000;

/** On a connection for it alone, opened anew when it ends. Meanwhile due jobs are found by looking. */
async function listenApart(create: () => Client, { channel, onNotification, onReconnect }: Listening) {
  let current: Client | undefined;
  const closing = new AbortController();
  /** Resolves, once it listens, with its end. */
  const open = async (): Promise<{ readonly ended: Promise<unknown> }> => {
    const client = create();
    const ended = new Promise((resolve) => client.once('end', resolve));
    client.on('error', () => undefined);
    client.on('notification', ({ payload = '' }) => onNotification(payload));
    current = client;
    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    onReconnect();
    return { ended };
  };
  const keepOpen = async (first: { readonly ended: Promise<unknown> }): Promise<void> => {
    let listening: typeof first | undefined = first;
    while (!closing.signal.aborted) {
      await listening?.ended;
      await setTimeout(reconnectMs, undefined, { ref: false });
      listening = closing.signal.aborted ? undefined : await open().catch(() => undefined);
    }
    await current?.end();
  };
  void keepOpen(await open());
  return {
    async close() {
      closing.abort();
      await current?.end();
    },
  };
}
