import { setTimeout } from 'node:timers/promises';
import { SocketModeClient } from '@slack/socket-mode';
import type { Logger } from '@slack/web-api';
import { UserError } from '../../errors.ts';
import { parseJson } from '../../lib/canonical-json.ts';
import { takeWebSocketFailure } from '../../lib/network-failure.ts';
import { findProxyDispatcher } from '../../lib/proxy.ts';
import type { Secret } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { explainRefusedToken } from '../installations.ts';
import { throttleLog } from '../web/limits.ts';
import type { Deliver } from './deliver.ts';

// Two connections, replaced in turn, lose no command between Slack's `disconnect` and the next `hello`.
const connections = 2;
const firstRetryMs = 250;
const maxRetryMs = 30_000;
const helloMs = 10_000;

interface Connection {
  readonly client: SocketModeClient;
  /** Settles with the reason when Slack closes it, or is about to. */
  readonly leaving: Promise<string>;
}

/** After some connections in a row that end sooner, the next ones wait. */
const briefMs = 10_000;
const mostBrief = 3;

/** `start` resolves when one connection is ready, and rejects when Slack refuses the token. */
export function createSocketReceiver(options: {
  appToken: Secret;
  apiUrl: string;
  deliver: Deliver;
  logger: Logger;
  log: Log;
  fetch?: typeof globalThis.fetch | undefined;
}) {
  const { apiUrl, log } = options;
  const { warn } = throttleLog(log, () => new Date());
  /** Open connections, by the time when they opened. */
  const live = new Map<SocketModeClient, number>();
  const stopping = new AbortController();
  let problem: string | undefined;

  const explain = (error: unknown): UserError =>
    error instanceof UserError
      ? error
      : explainRefusedToken(
          'SLACK_APP_TOKEN',
          'Make one with the scope connections:write: api.slack.com/apps → your app → Basic Information → App-Level Tokens.',
          { error, apiUrl },
        );

  // What fails is not acknowledged, so that Slack sends it again.
  const take = ({ body, ack }: SlackEvent): Promise<void> =>
    options.deliver(body, ack, { transport: 'socket', sentAt: readSentAt(body) }).catch(() => undefined);

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
    client.on('slack_event', (event: SlackEvent) => void take(event));
    const announced = new Promise<string>((resolve) => intercept(client, resolve, warn));
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

  /** Logged once for each reason; /readyz says it all the while. */
  const report = (found: string, fields: object): void => {
    if (found !== problem) log.warn({ ...fields, problem: found }, 'Slack connection failed, retrying');
    problem = found;
  };

  /** The next connection is ready before the last is closed. */
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
        report(`Slack closes connections at once (${reason})`, { reason });
      } catch (error) {
        failures += 1;
        report(explain(error).message, { error, connected: live.size });
      }
      const waitMs = Math.min(maxRetryMs, firstRetryMs * 2 ** failures);
      await setTimeout(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  return {
    /** Connections that answered a ping lately: an open socket may be cut without notice. */
    connected: (): number =>
      [...live].filter(([client, at]) => Date.now() - findLastPong(client, at) < silentMs).length,
    problem: () => problem,
    async start(): Promise<void> {
      const first = await connect().catch((error: unknown) => {
        throw explain(error);
      });
      void keepConnected(first);
      for (let others = 1; others < connections; others += 1) void keepConnected();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.allSettled([...live.keys()].map(async (client) => client.disconnect()));
    },
  };
}

const silentMs = 15_000;

/** When the latest ping was answered, else `opened`. Not in the library's types. */
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

/** In ms. A slash command has none. */
function readSentAt({ actions, action_ts: at, event_time: since }: Record<string, unknown>) {
  const [action]: unknown[] = Array.isArray(actions) ? actions : [];
  const pressed = (action as { readonly action_ts?: unknown } | undefined)?.action_ts;
  const seconds = Number(pressed ?? at ?? since);
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}

/** On `disconnect` the library closes while commands are on their way; on `app_rate_limited` it throws unhandled. */
function intercept(
  client: SocketModeClient,
  onDisconnect: (reason: string) => void,
  warn: Log['warn'],
): void {
  const library = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (data: unknown, isBinary: boolean) => {
    const frame = parseSpecialFrame(data);
    if (frame?.type === 'disconnect') return onDisconnect(frame.reason ?? 'no reason');
    if (frame?.type !== 'app_rate_limited' && frame?.payload?.type !== 'app_rate_limited') {
      for (const listener of library) Reflect.apply(listener, client, [data, isBinary]);
      return;
    }
    warn({}, 'Slack drops events (app_rate_limited): too many within an hour');
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

function parseSpecialFrame(data: unknown): Frame | null | undefined {
  const isSpecial = typeof data === 'string' && /"(?:disconnect|app_rate_limited)"/u.test(data);
  return isSpecial ? (parseJson(data) as Frame | null | undefined) : undefined;
}

/** Waits for Slack's `hello`, unlike the library with a limit. @throws the cause, which the library hides. */
async function waitForHello(client: SocketModeClient, announced: Promise<string>): Promise<void> {
  let address: string | undefined;
  client.once('authenticated', ({ url }: { readonly url?: string }) => {
    address = url;
  });
  const late = setTimeout(helloMs, undefined, { ref: false }).then(() => {
    throw withCode('ETIMEDOUT');
  });
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
