import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { UserError } from '../../errors.ts';
import { version } from '../../lib/version.ts';
import { withSecrets } from '../../secrets/secret.ts';
import type { Log } from '../../telemetry/log.ts';
import { withReference } from '../../telemetry/reference.ts';
import type { Egress } from '../send/egress.ts';
import type { ConnectPage } from './connect-page.ts';
import type { InstallPages } from './install.ts';
import { limitConnections } from './limits.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

interface WebOptions {
  readonly port: number;
  /** A port for `/metrics`, `/healthz` and `/readyz` alone. */
  readonly metricsPort?: number | undefined;
  /** Whether `port` is reached from outside: then `/metrics` is not on it. */
  readonly isPublic: boolean;
  readonly egress: Egress;
  readonly log: Log;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
  /** Present with signed HTTP: takes `POST /slack/events`. */
  readonly events?: Handler | undefined;
  readonly install?: InstallPages | undefined;
  /** Present with `PUBLIC_URL`: takes everything below `/connect/`. */
  readonly connectPage?: ConnectPage | undefined;
  /** The reasons why the bot cannot serve; empty = ready. */
  readonly unready: () => Promise<string[]>;
}

interface Endpoint {
  /** @throws UserError where the port is taken. */
  listen(): Promise<number>;
  /** Answers the requests that have arrived; `work` is what the bot does for them. */
  close(work: Promise<unknown>): Promise<void>;
}

interface Web extends Endpoint {
  /** Listens for the operator alone, on `metricsPort` if there is one: for a process that answers no deliveries. */
  listenForOperator(): Promise<void>;
}

/** Upper bound of a stop: longer than the grace period of work. */
const closeMs = 20_000;
/** A visitor who sends slowly keeps a connection no longer. */
const timeouts = { headersTimeout: 10_000, requestTimeout: 20_000, connectionsCheckingInterval: 5_000 };
/** At 30 kB each they fit beside everything else. */
const maxConnections = 2_000;
/** Slack and the proxies before the bot send about thirty. */
const maxHeaders = 100;

/** The HTTP endpoints of the bot. */
export function createWeb(options: WebOptions): Web {
  const { egress, events, install, metrics, metricsPort } = options;

  const renderMetrics: Handler = async (_, response) => {
    const text = await metrics.render();
    response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
  };
  const health: Routes = {
    'GET /healthz': (_, response) => plain(response, 200, `ok ${version}`),
    'GET /readyz': async (_, response) => {
      const reasons = await options.unready();
      plain(response, reasons.length === 0 ? 200 : 503, reasons.length === 0 ? 'ready' : reasons.join('\n'));
    },
  };
  const routes: Routes = {
    ...health,
    'POST /slack/events': events,
    'GET /metrics': metricsPort === undefined && !options.isPublic ? renderMetrics : undefined,
    'GET /slack/install': install?.start,
    'GET /slack/oauth_redirect': install?.finish,
  };

  const handle: Handler = (request, response) => {
    const route = findRoute(routes, request);
    // A delivery has a scope of its own, and a blocked acknowledgement becomes one of the same form.
    if (route !== undefined && route === events) return route(request, response);
    return answerInScope(response, egress, () => {
      if (route) return route(request, response);
      const path = pathOf(request);
      if (options.connectPage && path.startsWith('/connect/'))
        return options.connectPage.handle(request, response, path);
      return refuse(request, response);
    });
  };
  const main = createEndpoint(handle, { ...options, variable: 'PORT' });
  const operatorRoutes: Routes = { ...health, 'GET /metrics': renderMetrics };
  const own =
    metricsPort === undefined
      ? undefined
      : createEndpoint(
          (request, response) =>
            answerInScope(response, egress, () =>
              (findRoute(operatorRoutes, request) ?? refuse)(request, response),
            ),
          { ...options, port: metricsPort, variable: 'METRICS_PORT' },
        );
  return {
    async listen() {
      await own?.listen();
      return main.listen();
    },
    listenForOperator: async () => void (await own?.listen()),
    close: async (work) => void (await Promise.all([main.close(work), own?.close(work)])),
  };
}

type Routes = Record<string, Handler | undefined>;

function findRoute(routes: Routes, request: IncomingMessage): Handler | undefined {
  // Some load balancers use HEAD; Node then sends the headers only.
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  return routes[`${method} ${pathOf(request)}`];
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  plain(response, 404, 'Nothing here. Slack delivers to POST /slack/events.');
}

function createEndpoint(
  handle: Handler,
  { log, port, variable }: Pick<WebOptions, 'log' | 'port'> & { variable: string },
): Endpoint {
  const open = new Set<ServerResponse>();
  const server = createServer(timeouts, (request, response) => {
    open.add(response.once('close', () => open.delete(response)));
    const work = async (): Promise<void> => {
      try {
        await handle(request, response);
      } catch (error) {
        log.error({ error }, 'an HTTP request failed');
        if (!response.headersSent) plain(response, 500, 'That failed. See the log.');
      }
    };
    void work();
  });
  limitConnections(server, { max: maxConnections });
  server.maxHeadersCount = maxHeaders;
  // Longer than Slack keeps idle connections, so that it never uses one that is closing.
  server.keepAliveTimeout = 75_000;

  return {
    async listen() {
      try {
        await once(server.listen(port), 'listening');
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
        throw new UserError(`Port ${port} cannot be used (${code}).`, `Set ${variable} to a free one.`);
      }
      const address = server.address();
      return typeof address === 'object' && address ? address.port : port;
    },
    async close(work) {
      const closed = new Promise((resolve) => void server.close(resolve));
      const cut = setTimeout(() => server.closeAllConnections(), closeMs);
      await work;
      // A visitor who is still sending has no answer to wait for.
      const answers = [...open].filter(({ req }) => req.complete).map((response) => once(response, 'close'));
      await Promise.allSettled(answers);
      server.closeAllConnections();
      await closed;
      clearTimeout(cut);
    },
  };
}

function plain(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .end(`${text}\n`);
}

/** Answers a request under a reference, with its secrets kept out of what it answers. */
function answerInScope(response: ServerResponse, egress: Egress, answer: () => Promise<void> | void) {
  return withReference(() =>
    withSecrets(() => {
      guardResponse(response, egress);
      return answer();
    }),
  );
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
