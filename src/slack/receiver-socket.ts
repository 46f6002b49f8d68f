import type { App, Logger, Receiver } from '@slack/bolt';
import { SocketModeClient } from '@slack/socket-mode';
import type { Log } from '../log.ts';
import type { Secret } from '../secret.ts';

// One connection loses every command between Slack's `disconnect` and the next `hello`; two that are replaced
// one at a time lose none (measured, slack.md §2.2). Slack allows ten an app.
const connections = 2;
const firstRetryMs = 250;
const longestRetryMs = 30_000;
const greetingMs = 10_000;

export interface SocketReceiver extends Receiver {
  /** How many connections Slack can deliver to now. */
  readonly connected: () => number;
}

interface SlackEvent {
  readonly body: Record<string, unknown>;
  readonly ack: (response?: unknown) => Promise<void>;
  readonly retry_num?: number;
  readonly retry_reason?: string;
}

interface Connection {
  readonly leaving: Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Socket Mode into Bolt over two connections. A closed one is replaced at once: the library's own reconnection
 * waits for seconds first. `start` resolves when one connection is greeted, and rejects when Slack refuses the token.
 */
export function createSocketReceiver(options: {
  appToken: Secret;
  apiUrl: string;
  logger: Logger;
  log: Log;
  fetch?: typeof globalThis.fetch | undefined;
}): SocketReceiver {
  const { log } = options;
  const live = new Set<SocketModeClient>();
  const stopping = new AbortController();
  let app: App | undefined;

  const makeClient = (): SocketModeClient => {
    const client = new SocketModeClient({
      appToken: options.appToken.reveal(),
      logger: options.logger,
      autoReconnectEnabled: false,
      clientOptions: {
        slackApiUrl: options.apiUrl,
        timeout: 5_000,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        ...(options.fetch ? { fetch: options.fetch } : {}),
      },
    });
    client.on('slack_event', (event: SlackEvent) => deliver(event));
    return client;
  };

  const deliver = (event: SlackEvent): void => {
    // `app_rate_limited` arrives without an inner event and has no listener: a warning is all there is to do.
    if (event.body?.['type'] === 'app_rate_limited') log.warn({}, 'Slack holds back events: too many in an hour');
    let acknowledged = false;
    const ack = async (response?: unknown): Promise<void> => {
      if (acknowledged) return;
      acknowledged = true;
      await event.ack(response);
    };
    void app
      ?.processEvent({
        body: event.body,
        ack,
        ...(event.retry_num === undefined ? {} : { retryNum: event.retry_num }),
        ...(event.retry_reason === undefined ? {} : { retryReason: event.retry_reason }),
      })
      .catch((error: unknown) => log.error({ error }, 'a delivery failed outside its listener'))
      .finally(() => ack().catch(() => undefined));
  };

  /** One greeted connection; `leaving` settles when Slack is about to close it or it is gone. */
  const connect = async (): Promise<Connection> => {
    const client = makeClient();
    const leaving = new Promise<void>((resolve) => {
      client.once('disconnected', () => {
        live.delete(client);
        resolve();
      });
      onFarewell(client, resolve);
    });
    await greeted(client);
    live.add(client);
    return { leaving, close: () => client.disconnect() };
  };

  /** Keeps one connection for as long as the receiver runs: the next one is greeted before the last is closed. */
  const keep = async (first?: Connection): Promise<void> => {
    let current = first;
    let failures = 0;
    while (!stopping.signal.aborted) {
      try {
        const next = await connect();
        failures = 0;
        void current?.close().catch(() => undefined);
        current = next;
        if (stopping.signal.aborted) await next.close();
        else await next.leaving;
      } catch (error) {
        failures += 1;
        log.warn({ error, failures, connected: live.size }, 'Slack connection failed, trying again');
        await pause(Math.min(longestRetryMs, firstRetryMs * 2 ** failures), stopping.signal);
      }
    }
  };

  return {
    connected: () => live.size,
    init: (bolt) => {
      app = bolt;
    },
    async start() {
      const first = await connect();
      void first.leaving.then(() => keep(first));
      for (let others = 1; others < connections; others += 1) void keep();
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled([...live].map(async (client) => client.disconnect()));
    },
  };
}

/**
 * Calls back when Slack announces that it will close a connection, and keeps the announcement from the library:
 * it would close at once, while commands are still on their way over this connection.
 */
function onFarewell(client: SocketModeClient, farewell: () => void): void {
  const library = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: boolean) => {
    if (typeof data === 'string' && isFarewell(data)) farewell();
    else for (const listener of library) (listener as (...args: unknown[]) => void)(data, isBinary);
  });
}

/** Waits for Slack's `hello`: a connection that never says it would otherwise be waited for without end. */
async function greeted(client: SocketModeClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Slack did not greet the connection in time')), greetingMs);
  });
  try {
    await Promise.race([client.start(), late]);
  } catch (error) {
    void client.disconnect().catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function isFarewell(frame: string): boolean {
  if (!frame.includes('"disconnect"')) return false;
  try {
    const message: unknown = JSON.parse(frame);
    return typeof message === 'object' && message !== null && 'type' in message && message.type === 'disconnect';
  } catch {
    return false;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
