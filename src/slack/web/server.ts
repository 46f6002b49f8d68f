import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { InstallProvider } from '@slack/oauth';
import { UserError } from '../../errors.ts';
import { withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Egress } from '../send/egress.ts';
import type { ConnectPage } from './connect-page.ts';

export interface WebOptions {
  readonly port: number;
  readonly egress: Egress;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Present with signed HTTP: takes `POST /slack/events`. */
  readonly events?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Present with OAuth. */
  readonly installer?: InstallProvider | undefined;
  /** Present with `PUBLIC_URL`: takes everything below `/connect/`. */
  readonly connectPage?: ConnectPage | undefined;
  /** What keeps the bot from serving, in words; empty = ready. */
  readonly unready: () => Promise<string[]>;
}

export interface Web {
  /** @throws UserError where the port is taken. */
  listen(): Promise<number>;
  close(): Promise<void>;
}

// After this a stop no longer waits for open connections: longer than what runs is given to end.
const patienceMs = 20_000;

/** The HTTP endpoints of DESIGN §8. */
export function createWeb(options: WebOptions): Web {
  const { installer, log } = options;

  const routes: Record<
    string,
    ((request: IncomingMessage, response: ServerResponse) => Promise<void> | void) | undefined
  > = {
    'POST /slack/events': options.events,
    'GET /healthz': (_, response) => plain(response, 200, 'ok'),
    'GET /readyz': async (_, response) => {
      const reasons = await options.unready();
      plain(response, reasons.length === 0 ? 200 : 503, reasons.length === 0 ? 'ready' : reasons.join('\n'));
    },
    'GET /metrics': async (_, response) => {
      const text = await options.metrics.render();
      response.writeHead(200, { 'content-type': options.metrics.contentType }).end(text);
    },
    'GET /slack/install':
      installer && ((request, response) => installer.handleInstallPath(request, response)),
    'GET /slack/oauth_redirect':
      installer && ((request, response) => installer.handleCallback(request, response)),
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    // Some load balancers ask with HEAD; node sends the headers alone.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = routes[`${method} ${path}`];
    if (route) return route(request, response);
    if (options.connectPage && path.startsWith('/connect/'))
      return options.connectPage.handle(request, response, path);
    request.resume();
    plain(response, 404, 'Nothing here. Slack delivers to POST /slack/events.');
  };

  const server: Server = createServer((request, response) => {
    guardResponse(response, options.egress);
    withSecrets(() => handle(request, response)).catch((error: unknown) => {
      log.error({ error }, 'an HTTP request failed');
      if (!response.headersSent) plain(response, 500, 'That failed. The log says why.');
    });
  });
  // Slack keeps connections open between deliveries; longer than its own idle time, so that it never meets a closing one.
  server.keepAliveTimeout = 75_000;

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', (error: NodeJS.ErrnoException) => {
          const taken = error.code === 'EADDRINUSE' || error.code === 'EACCES';
          reject(
            taken
              ? new UserError(
                  `Port ${options.port} cannot be used (${error.code}).`,
                  'Set PORT to a free one.',
                )
              : error,
          );
        });
        server.listen(options.port, () => {
          const address = server.address();
          resolve(typeof address === 'object' && address ? address.port : options.port);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        // A visitor who sends slowly must not hold up a stop.
        const cut = setTimeout(() => server.closeAllConnections(), patienceMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function plain(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .end(`${text}\n`);
}

type Head = [status: number, ...rest: unknown[]];

/**
 * Checks what an HTTP answer says, head and body, whoever writes it (our routes, the OAuth library): the head waits for
 * the first piece of the body, so that an answer that must not leave can become another one. What comes after the head
 * was sent ends the connection instead.
 */
export function guardResponse(response: ServerResponse, egress: Egress): void {
  const writeHead = response.writeHead.bind(response);
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  let head: Head | undefined;
  let stopped = false;

  const passes = (piece: unknown): boolean => {
    const isText = typeof piece === 'string' || ArrayBuffer.isView(piece);
    const content = [
      isText ? piece : '',
      response.headersSent ? [] : [response.getHeaders(), head?.slice(1)],
    ];
    const sentence = egress.instead('http', content);
    if (sentence === undefined) {
      // Node itself writes the head with this method where nobody did.
      response.writeHead = writeHead;
      if (head) Reflect.apply(writeHead, undefined, head);
      head = undefined;
      return true;
    }
    stopped = true;
    response.writeHead = writeHead;
    if (response.headersSent) {
      response.destroy();
      return false;
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
    Reflect.apply(end, undefined, [`${sentence}\n`]);
    return false;
  };

  Object.assign(response, {
    writeHead(...args: Head) {
      head = args;
      return response;
    },
    write(...args: unknown[]) {
      return stopped || (passes(args[0]) && Reflect.apply(write, undefined, args));
    },
    end(...args: unknown[]) {
      if (!stopped && passes(args[0])) Reflect.apply(end, undefined, args);
      return response;
    },
  });
}
