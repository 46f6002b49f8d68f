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
import { plain, type Reply, sendReply } from './page.ts';

interface WebOptions {
  readonly port: number;
  /** A port for `/metrics`, `/healthz` and `/readyz` alone. */
  readonly metricsPort?: number | undefined;
  /** Whether `port` is reached from outside: then `/metrics` is not on it. */
  readonly isPublic: boolean;
  readonly egress: Pick<Egress, 'replacement'>;
  readonly log: Log;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
  /** With signed HTTP: `POST /slack/events`. */
  readonly events?: Handler | undefined;
  /** With a signing secret and `PUBLIC_URL`: `POST /mcp`. */
  readonly tools?: Route | undefined;
  readonly install?: InstallPages | undefined;
  /** With `PUBLIC_URL`: everything below `/connect/`. */
  readonly connectPage?: ConnectPage | undefined;
  /** Empty = ready. */
  readonly unready: () => Promise<string[]>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Undefined if it has written the response itself. */
type Route = (
  request: IncomingMessage,
  response: ServerResponse,
) => Reply | undefined | Promise<Reply | undefined>;

type Routes = Readonly<Record<string, Route | undefined>>;

/** Longer than the grace period of work. */
const closeMs = 20_000;
const timeouts = { headersTimeout: 10_000, requestTimeout: 20_000, connectionsCheckingInterval: 5_000 };
/** At 30 kB each they fit into memory. */
const maxConnections = 2_000;
/** Slack and proxies send about thirty. */
const maxHeaders = 100;

export function createWeb(options: WebOptions) {
  const { connectPage, egress, events, install, log, metrics, metricsPort, port } = options;
  const health = (isPublic: boolean): Routes => ({
    'GET /healthz': () => plain(200, `ok ${version}`),
    async 'GET /readyz'() {
      const reasons = (await options.unready()).join('\n');
      if (reasons === '') return plain(200, 'ready');
      // Strangers learn no internal address.
      return plain(503, isPublic ? reasons.replaceAll(addresses, '') : reasons);
    },
  });
  const operatorRoutes: Routes = {
    ...health(false),
    'GET /metrics': async () => ({
      status: 200,
      headers: { 'content-type': metrics.contentType },
      body: await metrics.render(),
    }),
  };
  const routes: Routes = {
    ...(metricsPort === undefined && !options.isPublic ? operatorRoutes : health(options.isPublic)),
    'POST /mcp': options.tools,
    'GET /slack/install': install?.start,
    'GET /slack/oauth_redirect': install?.finish,
  };

  const answer = (known: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> =>
    withReference(() =>
      withSecrets(async () => {
        const path = pathOf(request);
        // Some load balancers use HEAD.
        const method = request.method === 'HEAD' ? 'GET' : request.method;
        const route = known[`${method} ${path}`];
        const isPage = connectPage && known === routes && path.startsWith('/connect/');
        const reply = isPage
          ? await connectPage.handle(request, path)
          : await (route ?? refuse)(request, response);
        if (reply) sendReply(request, response, reply, egress);
      }),
    );

  const main = createEndpoint({ log, port, variable: 'PORT' }, (request, response) =>
    // A delivery has its own scope, and its acknowledgement its own check.
    events && request.method === 'POST' && pathOf(request) === '/slack/events'
      ? events(request, response)
      : answer(routes, request, response),
  );
  const own =
    metricsPort === undefined
      ? undefined
      : createEndpoint({ log, port: metricsPort, variable: 'METRICS_PORT' }, (request, response) =>
          answer(operatorRoutes, request, response),
        );
  return {
    /** @throws UserError where a port is taken. */
    async listen(): Promise<number> {
      await own?.listen();
      return main.listen();
    },
    /** For a process that answers no deliveries: `metricsPort` alone, if there is one. */
    listenForOperator: async (): Promise<void> => void (await own?.listen()),
    /** `work`: what the bot does for the requests that have arrived. */
    close: async (work: Promise<unknown>): Promise<void> =>
      void (await Promise.all([main.close(work), own?.close(work)])),
  };
}

/** Names of hosts, addresses of both versions, with a port or not, and paths. */
const addresses = /(?: at)? \S*(?:[a-z]\.[a-z]|\d\.\d+\.\d|:\d|\/\w)\S*/giu;

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/';
}

function refuse(): Reply {
  return plain(404, 'Nothing here. Slack delivers to POST /slack/events.');
}

function createEndpoint(
  { log, port, variable }: Pick<WebOptions, 'log' | 'port'> & { variable: string },
  handle: Handler,
) {
  const open = new Set<ServerResponse>();
  const server = createServer(timeouts, (request, response) => {
    open.add(response.once('close', () => open.delete(response)));
    handle(request, response).catch((error: unknown) => {
      log.error({ error }, 'an HTTP request failed');
      sendReply(request, response, plain(500, 'The request failed. See the log.'));
    });
  });
  limitConnections(server, { max: maxConnections });
  server.maxHeadersCount = maxHeaders;
  // Longer than Slack keeps idle connections.
  server.keepAliveTimeout = 75_000;

  return {
    async listen(): Promise<number> {
      try {
        await once(server.listen({ port, backlog: maxConnections }), 'listening');
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
        throw new UserError(`Port ${port} cannot be used (${code}).`, `Set ${variable} to a free one.`);
      }
      const address = server.address();
      return typeof address === 'object' && address ? address.port : port;
    },
    async close(work: Promise<unknown>): Promise<void> {
      const closed = new Promise((resolve) => void server.close(resolve));
      const cut = setTimeout(() => server.closeAllConnections(), closeMs);
      await work;
      const answers = [...open].filter(({ req }) => req.complete).map((response) => once(response, 'close'));
      await Promise.allSettled(answers);
      server.closeAllConnections();
      await closed;
      clearTimeout(cut);
    },
  };
}
