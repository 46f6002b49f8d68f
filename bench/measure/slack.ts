import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequests, type Sender, type SlackRequests, signingSecret } from './slack-requests.ts';
import { createSocketSide, type SocketSide } from './socket-side.ts';

/**
 * A Slack that costs as little as possible, since it runs beside what is measured: it checks nothing (that is what
 * `simulator/slack` is for), answers every Web API method and counts what comes to a response_url.
 */
export interface BenchSlack extends SlackRequests {
  /** What a bot needs to reach it over HTTP or, with an app token, over Socket Mode. */
  readonly environment: (transport: 'http' | 'socket') => Record<string, string>;
  /**
   * A response_url of its own, and what arrives at it. A delivery that names it has a trigger_id of its own as well, and a
   * modal that is opened with that counts as an answer, without words. `read` gets each answer's text and body.
   */
  readonly answers: (read?: (text: string, body: string) => void) => Answers;
  /** How many modals Slack would have refused to open, since their trigger_id was older than 3 s. */
  readonly expiredTriggers: () => number;
  /** How many answers came to any response_url. */
  readonly answered: () => number;
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

// docs.slack.dev/interactivity: a trigger_id expires after three seconds.
const triggerLifeMs = 3_000;

/** `uploadUrl`: where files are to be sent. */
export async function startSlack({ uploadUrl }: { uploadUrl?: string } = {}): Promise<BenchSlack> {
  const arrivals = new Map<string, (moment: number) => void>();
  const readers = new Map<string, (text: string, body: string) => void>();
  /** When each named trigger was handed out. */
  const triggers = new Map<string, number>();
  let expired = 0;
  const awaited = new Map<string, (() => void)[]>();
  let answered = 0;
  let base = '';
  const socket = createSocketSide(() => base);

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const [, area = '', name = ''] = (request.url ?? '').split('/');
    const opens = name === 'views.open' || name === 'views.push';
    const posts = name === 'chat.postMessage';
    const read = readers.get(name);
    let body = '';
    if (read || opens || posts) request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    // The answer goes out when the request has come in whole, as a real server's does.
    request.resume().on('end', () => {
      if (area === 'answers') {
        answered += 1;
        read?.((JSON.parse(body) as { text?: string }).text ?? '', body);
        arrivals.get(name)?.(performance.now());
        response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 2 }).end('ok');
        return;
      }
      if (opens) open(new URLSearchParams(body).get('trigger_id') ?? '');
      // Slack names the channel: what follows in a thread counts for its rate there.
      const channel = posts ? /(?:^|&)channel=(\w+)/u.exec(body)?.[1] : undefined;
      const reply = JSON.stringify({ ok: true, ...webApi(name), ...(channel && { channel }) });
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(reply) })
        .end(reply);
      for (const resolve of awaited.get(name) ?? []) resolve();
      awaited.delete(name);
    });
  };
  const open = (trigger: string): void => {
    const issuedAt = triggers.get(trigger);
    if (issuedAt === undefined) return;
    if (performance.now() - issuedAt > triggerLifeMs) expired += 1;
    readers.get(trigger)?.('', '');
    arrivals.get(trigger)?.(performance.now());
  };
  /** Each delivery is a new one: what deduplicates has its work with all of them. */
  const issueTrigger = ({ answers }: Sender): string => {
    const trigger = answers?.split('/').at(-1) ?? randomUUID();
    if (answers !== undefined) triggers.set(trigger, performance.now());
    return trigger;
  };
  const webApi = (method: string): object => {
    if (method === 'auth.test')
      return { team_id: 'T0BENCH00', user_id: 'U0BENCHBT', bot_id: 'B0BENCHBT', team: 'Bench' };
    if (method === 'users.info') return { user: { team_id: 'T0BENCH00' } };
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

  return {
    environment: (transport) => ({
      SLACK_API_URL: `http://${base}/api/`,
      SLACK_BOT_TOKEN: 'xoxb-bench',
      ...(transport === 'http' ? { SLACK_SIGNING_SECRET: signingSecret } : { SLACK_APP_TOKEN: 'xapp-bench' }),
      PORT: '0',
    }),
    ...createRequests(() => base, issueTrigger),
    answers(read) {
      const name = randomUUID();
      if (read) readers.set(name, read);
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
    expiredTriggers: () => expired,
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

/** Waits until no answer has come for a moment. */
export async function waitUntilQuiet(slack: BenchSlack): Promise<void> {
  let seen = -1;
  while (seen !== slack.answered()) {
    seen = slack.answered();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
