import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { InstallProvider } from '@slack/oauth';
import { UserError } from '../../errors.ts';
import { withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Egress } from '../send/egress.ts';
import type { ConnectPage } from './connect-page.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

interface WebOptions {
  readonly port: number;
  readonly egress: Egress;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Present with signed HTTP: takes `POST /slack/events`. */
  readonly events?: Handler | undefined;
  readonly installer?: InstallProvider | undefined;
  /** Present with `PUBLIC_URL`: takes everything below `/connect/`. */
  readonly connectPage?: ConnectPage | undefined;
  /** The reasons why the bot cannot serve; empty = ready. */
  readonly unready: () => Promise<string[]>;
}

interface Web {
  /** @throws UserError where the port is taken. */
  listen(): Promise<number>;
  close(): Promise<void>;
}

// How long a stop waits for open connections. Must exceed the grace period of running work.
const closeMs = 20_000;

/** The HTTP endpoints of the bot. */
export function createWeb(options: WebOptions): Web {
  const { installer, log } = options;

  const routes: Record<string, Handler | undefined> = {
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
    // Some load balancers use HEAD; Node then sends the headers only.
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = routes[`${method} ${path}`];
    if (route) return route(request, response);
    if (options.connectPage && path.startsWith('/connect/'))
      return options.connectPage.handle(request, response, path);
    request.resume();
    plain(response, 404, 'Nothing here. Slack delivers to POST /slack/events.');
  };

  const server = createServer((request, response) => {
    guardResponse(response, options.egress);
    withSecrets(() => handle(request, response)).catch((error: unknown) => {
      log.error({ error }, 'an HTTP request failed');
      if (!response.headersSent) plain(response, 500, 'That failed. See the log.');
    });
  });
  // Longer than Slack keeps idle connections, so that it never uses one that is closing.
  server.keepAliveTimeout = 75_000;

  return {
    async listen() {
      try {
        await once(server.listen(options.port), 'listening');
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
        throw new UserError(`Port ${options.port} cannot be used (${code}).`, 'Set PORT to a free one.');
      }
      const address = server.address();
      return typeof address === 'object' && address ? address.port : options.port;
    },
    async close() {
      // A slow visitor must not delay a stop.
      const cut = setTimeout(() => server.closeAllConnections(), closeMs);
      await new Promise((resolve) => void server.close(resolve));
      clearTimeout(cut);
    },
  };
}

function plain(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .end(`${text}\n`);
}

type Head = [status: number, ...rest: unknown[]];

/**
 * Checks head and body of an HTTP answer, also of the OAuth library. The head waits for the first piece of the body, so
 * that a blocked answer can be replaced. A secret after the head was sent ends the connection.
 */
export function guardResponse(response: ServerResponse, egress: Egress): void {
  const writeHead = response.writeHead.bind(response);
  const write = response.write.bind(response);
  const end = response.end.bind(response);
  let head: Head | undefined;
  let isBlocked = false;

  const isAllowed = (piece: unknown): boolean => {
    const isText = typeof piece === 'string' || ArrayBuffer.isView(piece);
    const content = [
      isText ? piece : '',
      response.headersSent ? [] : [response.getHeaders(), head?.slice(1)],
    ];
    const replacement = egress.replacement('http', content);
    if (replacement === undefined) {
      // Node writes an implicit head with this method.
      response.writeHead = writeHead;
      if (head) Reflect.apply(writeHead, undefined, head);
      head = undefined;
      return true;
    }
    isBlocked = true;
    response.writeHead = writeHead;
    if (response.headersSent) {
      response.destroy();
      return false;
    }
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
    Reflect.apply(end, undefined, [`${replacement}\n`]);
    return false;
  };

  Object.assign(response, {
    writeHead(...args: Head) {
      head = args;
      return response;
    },
    write(...args: unknown[]) {
      return isBlocked || (isAllowed(args[0]) && Reflect.apply(write, undefined, args));
    },
    end(...args: unknown[]) {
      if (!isBlocked && isAllowed(args[0])) Reflect.apply(end, undefined, args);
      return response;
    },
  });
}
