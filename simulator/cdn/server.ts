import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, emptyAnswer } from './answer.ts';
import { canary } from './canaries.ts';
import { createData } from './data.ts';
import { applyFault, createFaults, type Faults, replaceAnswer } from './faults.ts';
import type { CdnData } from './model.ts';
import {
  createRequestLog,
  type Host,
  parseBody,
  type RecordedRequest,
  type RequestLog,
  redactHeaders,
} from './requests.ts';
import { findRoute, standardAnswer, unauthorized } from './routes.ts';
import { goneSignal, readBody, send, wait } from './wire.ts';

export interface CdnOptions {
  /** Port of the main host; 0 (a free one) unless given. */
  port?: number;
  originLoggingPort?: number;
  /** Address to listen on; the loopback address unless given. */
  host?: string;
  /** How many pull zones are generated; 60 unless given. */
  zones?: number;
  /** `few` leaves out most members, as a body of about 1.1 kB a zone (56 MB for 50 000) does. */
  zoneMembers?: 'all' | 'few';
  /** The service's clock, ms. Day boundaries, windows and generated days follow it; delays do not. */
  now?: () => number;
  /** Parts of the world that take the place of the generated ones. */
  data?: Partial<CdnData>;
  /** Compress for clients that accept gzip. */
  gzip?: boolean;
}

export interface CdnSimulator {
  /** Base address of the main host, without a slash at the end. */
  url: string;
  /** Base address of the origin error log host, on a port of its own. */
  originLoggingUrl: string;
  /** A key with full rights. */
  key: string;
  /** A key that List API Keys refuses with 401. */
  restrictedKey: string;
  data: CdnData;
  /** Adds another account, whose key sees zones of its own. */
  addAccount: (account: { readonly key: string; readonly zones: CdnData['zones'] }) => void;
  requests: RecordedRequest[];
  /** Resolves with the n-th request that matches, whether it came already or will. */
  received: RequestLog['received'];
  faults: Faults;
  /** Closes both ports and every connection. */
  close(): Promise<void>;
}

/** Starts a CDN that speaks the specification, by default on two free ports of the loopback address. */
export async function startCdn(options: CdnOptions = {}): Promise<CdnSimulator> {
  const key = canary('full-access-key', '4b1d2c3e-9f70-4c55-8a21-0d6e7f8a9b10');
  const restrictedKey = canary('restricted-access-key', '7c2e3d4f-0a81-4d66-9b32-1e7f8a9b0c21');
  const { zones = 60, zoneMembers = 'all', now = Date.now, gzip = false } = options;
  const data = createData({ zones, zoneMembers, key, restrictedKey, data: options.data ?? {} });
  const accounts: CdnData[] = [];
  const log = createRequestLog();
  const faults = createFaults();
  let count = 0;

  async function serve(host: Host, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = goneSignal(response);
    const body = await readBody(request);
    const [path = '/', search = ''] = (request.url ?? '/').split(/\?(.*)/s);
    const query = new URLSearchParams(search);
    const sentKey = request.headers['accesskey'];
    const own = accounts.find(({ accessKeys }) => accessKeys.has(String(sentKey))) ?? data;
    const rights = typeof sentKey === 'string' ? (own.accessKeys.get(sentKey) ?? 'wrong') : 'none';
    count += 1;
    const record: RecordedRequest = {
      host,
      method: request.method ?? 'GET',
      path,
      query: Object.fromEntries(query),
      headers: redactHeaders(request.headers, rights),
      key: rights,
      body: parseBody(body ?? ''),
      at: now(),
      requestId: count.toString(16).padStart(32, '0'),
    };
    const fault = faults.take(record);
    response.once('close', () => {
      if (!response.writableEnded && !fault?.drop) record.abandoned = true;
    });
    log.add(record);
    if (fault) await wait(fault, gone);
    if (fault?.drop === 'before-headers') return cut(response);

    const found = findRoute(host, record.method, path);
    const surface = 'route' in found ? found.route.surface : host === 'main' ? 'core' : 'origin';
    const instead =
      fault && replaceAnswer(fault, (status) => standardAnswer(status, surface, data.unauthorized));
    const process = (): Answer => {
      if (!('route' in found)) return found;
      const { route, params } = found;
      if (rights === 'none' || rights === 'wrong') return unauthorized(surface, data.unauthorized);
      if (route.fullRights && rights !== 'full') return unauthorized(surface, data.unauthorized);
      if (body === undefined) return emptyAnswer(413);
      const contentType = request.headers['content-type'] ?? '';
      return route.handle({ params, query, body, contentType, now: now() }, own);
    };
    let answer = instead ?? process();
    if (fault?.drop === 'after-processing') return cut(response);
    if (fault) answer = await applyFault(answer, fault);
    record.status = answer.status;
    if (host === 'main') response.setHeader('Cdn-Requestid', record.requestId);
    const packs =
      gzip && answer.body !== undefined && /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
    await send(response, answer, { gzip: packs, fault, gone });
  }

  const listen = async (host: Host, port: number): Promise<{ server: Server; url: string }> => {
    const address = options.host ?? '127.0.0.1';
    const server = createServer((request, response) => {
      serve(host, request, response).catch((error: unknown) => {
        // A client that went away is everyday; anything else is a mistake in the simulator and should be seen as one.
        if (response.destroyed) return;
        if (response.headersSent) response.destroy();
        else
          response
            .writeHead(500, { 'content-type': 'text/plain' })
            .end(`The simulator failed: ${String(error)}`);
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, resolve);
    });
    return { server, url: `http://${address}:${(server.address() as AddressInfo).port}` };
  };

  const main = await listen('main', options.port ?? 0);
  const originLogging = await listen('origin-logging', options.originLoggingPort ?? 0);
  return {
    url: main.url,
    originLoggingUrl: originLogging.url,
    key,
    restrictedKey,
    data,
    addAccount: (account) => {
      const { zones } = account;
      const none = { zones: 0, zoneMembers, key: account.key, restrictedKey };
      accounts.push(createData({ ...none, data: { zones, accessKeys: new Map([[account.key, 'full']]) } }));
    },
    requests: log.requests,
    received: log.received,
    faults: { add: faults.add, clear: faults.clear },
    close: async () => {
      await Promise.all([stop(main.server), stop(originLogging.server)]);
    },
  };
}

function cut(response: ServerResponse): void {
  response.socket?.destroy();
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
