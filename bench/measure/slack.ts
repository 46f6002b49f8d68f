import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSocketSide, type SocketSide } from './socket-side.ts';

/**
 * A Slack that costs as little as possible, since it runs beside what is measured: it checks nothing (that is what
 * `simulator/slack` is for), answers every Web API method and counts what comes to a response_url.
 */
export interface BenchSlack {
  /** What a bot needs to reach it over HTTP or, with an app token, over Socket Mode. */
  readonly environment: (transport: 'http' | 'socket') => Record<string, string>;
  /** A signed `/cdn <text>`, ready to be written to a connection. */
  readonly slash: (text: string, options?: { user?: string; answers?: string }) => Buffer;
  /** A signed submission of a form: typed texts, chosen people. */
  readonly submit: (
    callbackId: string,
    values: Readonly<Record<string, string | readonly string[]>>,
    user?: string,
  ) => Buffer;
  /** A signed press of a button in a message of the bot. */
  readonly press: (actionId: string, value: string) => Buffer;
  /** A signed search in a menu of a form. */
  readonly suggest: (actionId: string, typed: string) => Buffer;
  /** The same command as an envelope's payload. */
  readonly slashPayload: (
    text: string,
    options?: { user?: string; answers?: string },
  ) => Record<string, string>;
  /** A response_url of its own, and what arrives at it. `onText` gets each answer's text as it arrives. */
  readonly answers: (onText?: (text: string) => void) => Answers;
  /** How many answers came to any response_url. */
  readonly answered: () => number;
  /** How often a Web API method was called. */
  readonly called: (method: string) => number;
  /** Resolves at the next call of a Web API method. */
  readonly nextCall: (method: string) => Promise<void>;
  readonly socket: SocketSide;
  readonly close: () => Promise<void>;
}

export interface Answers {
  readonly url: string;
  /** Resolves with the moment (performance.now()) of the n-th answer, from 1. */
  readonly at: (n: number) => Promise<number>;
}

const signingSecret = 'bench-signing-secret';
const person = 'U0BENCH00';

/** `uploadUrl`: where files are to be sent. */
export async function startSlack({ uploadUrl }: { uploadUrl?: string } = {}): Promise<BenchSlack> {
  const arrivals = new Map<string, (moment: number) => void>();
  const readers = new Map<string, (text: string) => void>();
  const calls = new Map<string, number>();
  const awaited = new Map<string, (() => void)[]>();
  let answered = 0;
  let base = '';
  const socket = createSocketSide(() => base);

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const [, area = '', name = ''] = (request.url ?? '').split('/');
    const read = readers.get(name);
    let body = '';
    if (read) request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    // The answer goes out when the request has come in whole, as a real server's does.
    request.resume().on('end', () => {
      if (area === 'answers') {
        answered += 1;
        read?.((JSON.parse(body) as { text?: string }).text ?? '');
        arrivals.get(name)?.(performance.now());
        response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 2 }).end('ok');
        return;
      }
      const reply = JSON.stringify({ ok: true, ...webApi(name) });
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply) })
        .end(reply);
      calls.set(name, (calls.get(name) ?? 0) + 1);
      for (const resolve of awaited.get(name) ?? []) resolve();
      awaited.delete(name);
    });
  };
  const webApi = (method: string): object => {
    if (method === 'auth.test')
      return { team_id: 'T0BENCH00', user_id: 'U0BENCHBT', bot_id: 'B0BENCHBT', team: 'Bench' };
    if (method === 'apps.connections.open') return { url: socket.ticket() };
    if (method === 'files.getUploadURLExternal') return { upload_url: uploadUrl, file_id: 'F0BENCH00' };
    if (method === 'files.completeUploadExternal') return { files: [{ id: 'F0BENCH00' }] };
    if (method.startsWith('views.')) return { view: { id: 'V0BENCH00', hash: '1.a', type: 'modal' } };
    return { channel: 'C0BENCH00', ts: '1.000001', message_ts: '1.000001' };
  };

  const server = createServer(serve);
  server.keepAliveTimeout = 60_000;
  socket.attach(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  const slashPayload: BenchSlack['slashPayload'] = (text, options = {}) => ({
    token: 'bench-verification-token',
    team_id: 'T0BENCH00',
    team_domain: 'bench',
    channel_id: 'C0BENCH00',
    channel_name: 'ops',
    user_id: options.user ?? person,
    user_name: 'ann',
    command: '/cdn',
    text,
    api_app_id: 'A0BENCH00',
    is_enterprise_install: 'false',
    response_url: options.answers ?? `http://${base}/answers/any`,
    // Each delivery is a new one: what deduplicates has its work with all of them.
    trigger_id: randomUUID(),
  });

  return {
    environment: (transport) => ({
      SLACK_API_URL: `http://${base}/api/`,
      SLACK_BOT_TOKEN: 'xoxb-bench',
      ...(transport === 'http' ? { SLACK_SIGNING_SECRET: signingSecret } : { SLACK_APP_TOKEN: 'xapp-bench' }),
      PORT: '0',
    }),
    slash: (text, options) => signRequest(new URLSearchParams(slashPayload(text, options)).toString()),
    slashPayload,
    press: (actionId, value) =>
      signRequest(
        encodeInteraction({
          ...senderOf(person),
          type: 'block_actions',
          container: { type: 'message', message_ts: '1.000001', channel_id: 'C0BENCH00', is_ephemeral: true },
          channel: { id: 'C0BENCH00', name: 'ops' },
          response_url: `http://${base}/answers/any`,
          actions: [
            {
              type: 'button',
              action_id: actionId,
              block_id: 'b1',
              value,
              action_ts: '1.000002',
              text: { type: 'plain_text', text: 'Press' },
            },
          ],
        }),
      ),
    suggest: (actionId, typed) =>
      signRequest(
        encodeInteraction({
          ...senderOf(person),
          type: 'block_suggestion',
          container: { type: 'view', view_id: 'V0BENCH00' },
          view: { id: 'V0BENCH00', team_id: 'T0BENCH00', type: 'modal', private_metadata: '', blocks: [] },
          block_id: 'zone',
          action_id: actionId,
          value: typed,
        }),
      ),
    submit(callbackId, values, user = person) {
      const state = Object.fromEntries(
        Object.entries(values).map(([field, value]) => [
          field,
          {
            [field]:
              typeof value === 'string'
                ? { type: 'plain_text_input', value }
                : { type: 'multi_users_select', selected_users: value },
          },
        ]),
      );
      const view = {
        id: `V${randomUUID()}`,
        team_id: 'T0BENCH00',
        type: 'modal',
        callback_id: callbackId,
        private_metadata: '',
        hash: '1.a',
        blocks: [],
        state: { values: state },
        app_installed_team_id: 'T0BENCH00',
      };
      return signRequest(
        encodeInteraction({ ...senderOf(user), type: 'view_submission', view, response_urls: [] }),
      );
    },
    answers(onText) {
      const name = randomUUID();
      if (onText) readers.set(name, onText);
      const came: number[] = [];
      const waiting: { n: number; resolve: (moment: number) => void }[] = [];
      arrivals.set(name, (moment) => {
        came.push(moment);
        for (const one of waiting) if (one.n === came.length) one.resolve(moment);
      });
      return {
        url: `http://${base}/answers/${name}`,
        at: (n) =>
          new Promise((resolve) => {
            const known = came[n - 1];
            if (known === undefined) waiting.push({ n, resolve });
            else resolve(known);
          }),
      };
    },
    answered: () => answered,
    called: (method) => calls.get(method) ?? 0,
    nextCall: (method) =>
      new Promise((resolve) => {
        awaited.set(method, [...(awaited.get(method) ?? []), resolve]);
      }),
    socket,
    async close() {
      socket.close();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** What every interaction says about its sender. */
function senderOf(user: string): object {
  return {
    team: { id: 'T0BENCH00', domain: 'bench' },
    user: { id: user, username: 'ann', name: 'ann', team_id: 'T0BENCH00' },
    api_app_id: 'A0BENCH00',
    token: 'bench-verification-token',
    trigger_id: randomUUID(),
    is_enterprise_install: false,
    enterprise: null,
  };
}

function encodeInteraction(payload: object): string {
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}

/** The whole HTTP request, signed as Slack signs: v0, HMAC-SHA256 over `v0:timestamp:body`. */
function signRequest(body: string): Buffer {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
  return Buffer.from(
    'POST /slack/events HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: Slackbot 1.0 (+https://api.slack.com/robots)\r\n' +
      'accept: */*\r\ncontent-type: application/x-www-form-urlencoded\r\n' +
      `x-slack-request-timestamp: ${timestamp}\r\nx-slack-signature: v0=${signature}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
