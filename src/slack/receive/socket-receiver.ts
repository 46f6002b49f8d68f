import type { App, Logger, Receiver } from '@slack/bolt';
import { SocketModeClient } from '@slack/socket-mode';
import { UserError } from '../../errors.ts';
import { type Secret, withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { readSlackError } from '../installations.ts';
import type { Egress } from '../send/egress.ts';

// One connection loses every command between Slack's `disconnect` and the next `hello`; two that are replaced one at a
// time lose none. Slack allows ten for each app.
const connections = 2;
const firstRetryMs = 250;
const maxRetryMs = 30_000;
const helloMs = 10_000;

export interface SocketReceiver extends Receiver {
  /** The number of connections that Slack can deliver to now. */
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
 * Passes Socket Mode deliveries to Bolt over two connections. A closed one is replaced at once; the library's own
 * reconnection waits for seconds first. `start` resolves when one connection is ready, and rejects when Slack refuses
 * the token.
 */
export function createSocketReceiver(options: {
  appToken: Secret;
  apiUrl: string;
  egress: Pick<Egress, 'acknowledgement'>;
  logger: Logger;
  log: Log;
  fetch?: typeof globalThis.fetch | undefined;
}): SocketReceiver {
  const { egress, log } = options;
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
    let acknowledged = false;
    const ack = async (response?: unknown): Promise<void> => {
      if (acknowledged) return;
      acknowledged = true;
      await event.ack(egress.acknowledgement(response));
    };
    const delivery = {
      body: event.body,
      ack,
      ...(event.retry_num === undefined ? {} : { retryNum: event.retry_num }),
      ...(event.retry_reason === undefined ? {} : { retryReason: event.retry_reason }),
    };
    void withSecrets(async () => app?.processEvent(delivery))
      .catch((error: unknown) => log.error({ error }, 'a delivery failed outside its listener'))
      .finally(() => void ack().catch(() => undefined));
  };

  const rateLimited = (client: SocketModeClient, envelopeId: string): void => {
    log.warn({}, 'Slack drops events (app_rate_limited): too many within an hour');
    // Acknowledges the frame, or Slack repeats it. `send` is not in the library's types.
    const { send } = client as unknown as { send: (id: string) => Promise<void> };
    send.call(client, envelopeId).catch(() => undefined);
  };

  /** Opens a connection; `leaving` settles when Slack is about to close it or it is gone. */
  const connect = async (): Promise<Connection> => {
    const client = makeClient();
    const leaving = new Promise<void>((resolve) => {
      client.once('disconnected', () => {
        live.delete(client);
        resolve();
      });
      intercept(client, { disconnect: resolve, rateLimited: (id) => rateLimited(client, id) });
    });
    await waitForHello(client);
    live.add(client);
    return { leaving, close: () => client.disconnect() };
  };

  /** Keeps one connection open as long as the receiver runs: the next one is ready before the last is closed. */
  const keepConnected = async (first?: Connection): Promise<void> => {
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
        log.warn({ error, failures, connected: live.size }, 'Slack connection failed, retrying');
        await pause(Math.min(maxRetryMs, firstRetryMs * 2 ** failures), stopping.signal);
      }
    }
  };

  return {
    connected: () => live.size,
    init: (bolt) => {
      app = bolt;
    },
    async start() {
      const first = await connect().catch((error: unknown) => {
        throw refusal(error, options.apiUrl);
      });
      void first.leaving.then(() => keepConnected(first));
      for (let others = 1; others < connections; others += 1) void keepConnected();
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled([...live].map(async (client) => client.disconnect()));
    },
  };
}

/**
 * Reads frames before the library, for two kinds that it handles badly: it closes at once when Slack announces a
 * disconnect, although commands are still on their way; and it throws unhandled on `app_rate_limited`, which has no
 * inner event.
 */
function intercept(
  client: SocketModeClient,
  on: { disconnect: () => void; rateLimited: (envelopeId: string) => void },
): void {
  const library = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: boolean) => {
    const frame = typeof data === 'string' ? parseSpecialFrame(data) : undefined;
    if (frame?.type === 'disconnect') on.disconnect();
    else if (frame?.type === 'app_rate_limited' || frame?.payload?.type === 'app_rate_limited')
      on.rateLimited(frame.envelope_id ?? '');
    else for (const listener of library) (listener as (...args: unknown[]) => void)(data, isBinary);
  });
}

interface Frame {
  readonly type?: unknown;
  readonly envelope_id?: string;
  readonly payload?: { readonly type?: unknown } | null;
}

/** A parsed frame if it may be of these kinds; the library parses all others. */
function parseSpecialFrame(text: string): Frame | undefined {
  if (!text.includes('"disconnect"') && !text.includes('"app_rate_limited"')) return undefined;
  try {
    const frame: unknown = JSON.parse(text);
    return typeof frame === 'object' && frame !== null ? frame : undefined;
  } catch {
    return undefined;
  }
}

/** Starts the connection and waits for Slack's `hello`, which the library would wait for without end. */
async function waitForHello(client: SocketModeClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Slack sent no hello in time')), helloMs);
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

function refusal(error: unknown, apiUrl: string): UserError {
  const code = readSlackError(error);
  return code
    ? new UserError(
        `Slack refused SLACK_APP_TOKEN (${code}).`,
        'Make one with the scope connections:write: api.slack.com/apps → your app → Basic Information → App-Level Tokens.',
      )
    : new UserError(
        `No Socket Mode connection to Slack at ${new URL(apiUrl).host}.`,
        'Check the network and SLACK_API_URL.',
      );
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
