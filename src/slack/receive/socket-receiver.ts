import { setTimeout } from 'node:timers/promises';
import type { App, Logger, Receiver } from '@slack/bolt';
import { SocketModeClient } from '@slack/socket-mode';
import { UserError } from '../../errors.ts';
import { takeWebSocketFailure } from '../../lib/network-failure.ts';
import { findProxyDispatcher } from '../../lib/proxy.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { explainRefusedToken } from '../installations.ts';
import type { Egress } from '../send/egress.ts';
import type { Arrival } from './bolt.ts';

// One connection loses every command between Slack's `disconnect` and the next `hello`; two that are replaced one at a
// time lose none. Slack allows ten for each app.
const connections = 2;
const firstRetryMs = 250;
const maxRetryMs = 30_000;
const helloMs = 10_000;

interface Connection {
  readonly client: SocketModeClient;
  /** Settles with Slack's reason when Slack is about to close it, or it is gone. */
  readonly leaving: Promise<string>;
}

/** A connection that ends sooner was closed at once: after some of them in a row the next ones wait. */
const briefMs = 10_000;
const mostBrief = 3;

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
}): Receiver & {
  /** The number of connections that answered a ping lately: an open socket alone may be cut without notice. */
  readonly connected: () => number;
  readonly problem: () => string | undefined;
} {
  const { apiUrl, egress, log } = options;
  /** The open connections, and since when. */
  const live = new Map<SocketModeClient, number>();
  const stopping = new AbortController();
  let app: App | undefined;
  let problem: string | undefined;

  const explain = (error: unknown): UserError =>
    error instanceof UserError
      ? error
      : explainRefusedToken(
          'SLACK_APP_TOKEN',
          'Make one with the scope connections:write: api.slack.com/apps → your app → Basic Information → App-Level Tokens.',
          { error, apiUrl },
        );

  const deliver = async ({ body, ack: send }: SlackEvent): Promise<void> => {
    let isAcknowledged = false;
    const ack = async (reply?: unknown): Promise<void> => {
      if (isAcknowledged) return;
      isAcknowledged = true;
      await send(egress.acknowledgement(reply));
    };
    const arrival: Arrival = { transport: 'socket', sentAt: readSentAt(body) };
    try {
      await app?.processEvent({ body, ack, customProperties: { ...arrival } });
    } catch (error) {
      log.error({ error }, 'a delivery failed outside its listener');
      return;
    }
    await ack().catch(() => undefined);
  };

  const connect = async (): Promise<Connection> => {
    // The library would connect its WebSocket directly.
    const dispatcher = findProxyDispatcher();
    const client = new SocketModeClient({
      appToken: options.appToken.reveal(),
      logger: options.logger,
      autoReconnectEnabled: false,
      ...(dispatcher ? { dispatcher } : {}),
      clientOptions: {
        slackApiUrl: apiUrl,
        timeout: 5_000,
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        ...(options.fetch ? { fetch: options.fetch } : {}),
      },
    });
    client.on('slack_event', (event: SlackEvent) => void deliver(event));
    const announced = new Promise<string>((resolve) => intercept(client, resolve, log));
    const closed = new Promise<string>((resolve) => {
      client.once('disconnected', () => {
        live.delete(client);
        resolve('the connection was closed');
      });
    });
    const leaving = Promise.race([announced, closed]);
    await waitForHello(client, announced);
    live.set(client, Date.now());
    return { client, leaving };
  };

  /** Keeps one connection open as long as the receiver runs: the next one is ready before the last is closed. */
  const keepConnected = async (current?: Connection): Promise<void> => {
    await current?.leaving;
    let last = current?.client;
    let failures = 0;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      try {
        const next = await connect();
        void last?.disconnect().catch(() => undefined);
        last = next.client;
        if (stopping.signal.aborted) return await last.disconnect();
        const lasts = globalThis.setTimeout(() => (problem = undefined), briefMs).unref();
        const reason = await next.leaving;
        clearTimeout(lasts);
        failures = performance.now() - startedAt < briefMs ? failures + 1 : 0;
        if (failures <= mostBrief) continue;
        problem = `Slack closes connections at once (${reason})`;
        if (failures === mostBrief + 1)
          log.warn({ reason }, 'Slack closes connections at once, reopening with pauses');
      } catch (error) {
        failures += 1;
        problem = explain(error).message;
        log.warn({ error, failures, connected: live.size, problem }, 'Slack connection failed, retrying');
      }
      const waitMs = Math.min(maxRetryMs, firstRetryMs * 2 ** failures);
      await setTimeout(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  return {
    connected: () =>
      [...live].filter(([client, at]) => Date.now() - findLastPong(client, at) < silentMs).length,
    problem: () => problem,
    init(bolt) {
      app = bolt;
    },
    async start() {
      const first = await connect().catch((error: unknown) => {
        throw explain(error);
      });
      void keepConnected(first);
      for (let others = 1; others < connections; others += 1) void keepConnected();
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled([...live.keys()].map(async (client) => client.disconnect()));
    },
  };
}

// The library pings every few seconds.
const silentMs = 15_000;

/** When the latest ping was answered, else `opened`. The member is not in the library's types. */
function findLastPong(client: SocketModeClient, opened: number): number {
  const { lastPongReceivedTimestamp: at } = (client.websocket ?? {}) as {
    lastPongReceivedTimestamp?: number;
  };
  return at ?? opened;
}

interface SlackEvent {
  readonly body: Record<string, unknown>;
  readonly ack: (response?: unknown) => Promise<void>;
}

/** Slack's own time of a delivery, in ms since the epoch. A slash command has none here. */
function readSentAt({ actions, action_ts: at, event_time: since }: Record<string, unknown>) {
  const [action]: unknown[] = Array.isArray(actions) ? actions : [];
  const pressed = (action as { readonly action_ts?: unknown } | undefined)?.action_ts;
  const seconds = Number(pressed ?? at ?? since);
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}

/**
 * Reads frames before the library, for two kinds that it handles badly: it closes at once when Slack announces a
 * disconnect, although commands are still on their way; and it throws unhandled on `app_rate_limited`, which has no
 * inner event.
 */
function intercept(client: SocketModeClient, onDisconnect: (reason: string) => void, log: Log): void {
  const library = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: boolean) => {
    const frame = parseSpecialFrame(data);
    if (frame?.type === 'disconnect') return onDisconnect(frame.reason ?? 'no reason');
    if (frame?.type !== 'app_rate_limited' && frame?.payload?.type !== 'app_rate_limited') {
      for (const listener of library) Reflect.apply(listener, client, [data, isBinary]);
      return;
    }
    log.warn({}, 'Slack drops events (app_rate_limited): too many within an hour');
    // Acknowledges the frame, or Slack repeats it. `send` is not in the library's types.
    const { send } = client as unknown as { send: (id: string) => Promise<void> };
    send.call(client, frame.envelope_id ?? '').catch(() => undefined);
  });
}

interface Frame {
  readonly type?: unknown;
  readonly reason?: string;
  readonly envelope_id?: string;
  readonly payload?: { readonly type?: unknown } | null;
}

/** A parsed frame if it may be of these kinds; the library parses all others. */
function parseSpecialFrame(data: unknown): Frame | undefined {
  if (typeof data !== 'string' || !/"(?:disconnect|app_rate_limited)"/u.test(data)) return undefined;
  try {
    return (JSON.parse(data) ?? undefined) as Frame | undefined;
  } catch {
    return undefined;
  }
}

/**
 * Starts the connection and waits for Slack's `hello`, which the library would wait for without end. @throws with the
 * cause, which the library hides where a WebSocket fails.
 */
async function waitForHello(client: SocketModeClient, announced: Promise<string>): Promise<void> {
  let address: string | undefined;
  client.once('authenticated', ({ url }: { readonly url?: string }) => {
    address = url;
  });
  const late = setTimeout(helloMs, undefined, { ref: false }).then(() => {
    throw withCode('ETIMEDOUT');
  });
  // `start` rejects without a reason where the WebSocket fails.
  const failed = new Promise<never>((_, reject) => void client.once('error', reject));
  const refused = announced.then((reason) => {
    throw new UserError(
      `Slack closes connections at once (${reason}).`,
      reason === 'link_disabled'
        ? 'Switch Socket Mode on: api.slack.com/apps → your app → Socket Mode.'
        : 'Slack allows ten connections of an app: stop other bots with this app token, or try again in a minute.',
    );
  });
  try {
    await Promise.race([client.start(), late, failed, refused]);
  } catch (error) {
    void client.disconnect().catch(() => undefined);
    if (address === undefined || error instanceof UserError) throw error;
    const isLate = (error as { readonly code?: unknown } | undefined)?.code === 'ETIMEDOUT';
    throw takeWebSocketFailure(address, withCode(isLate ? 'ETIMEDOUT' : 'ECONNRESET'));
  }
}

function withCode(code: string): Error {
  return Object.assign(new Error('Slack sent no hello'), { code });
}
