import { subscribe } from 'node:diagnostics_channel';
import { findProxy } from './proxy.ts';

export interface NetworkFailure {
  readonly kind: 'proxy' | 'answer' | 'certificate' | 'tls' | 'name' | 'timeout' | 'refused' | 'closed';
  /** The code of Node or OpenSSL, or an HTTP status, for the log. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const kinds: readonly (readonly [kind: Exclude<NetworkFailure['kind'], 'proxy'>, codes: RegExp])[] = [
  ['answer', /^HTTP \d/u],
  ['certificate', /CERT|^UNABLE_TO_/u],
  ['tls', /^ERR_(?:TLS|SSL)_|^EPROTO$/u],
  ['name', /^(?:ENOTFOUND|EAI_\w+)$/u],
  ['timeout', /^(?:ETIMEDOUT|UND_ERR_\w+_TIMEOUT|TimeoutError)$/u],
  ['refused', /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EACCES|EPERM)$/u],
  ['closed', /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/u],
];

interface Report {
  readonly request: { readonly origin: string | URL; readonly path: string; readonly upgrade?: unknown };
  readonly error?: Error;
  readonly response?: { readonly statusCode: number };
}

// undici's errors name no host, and a WebSocket hides its error: both are told on undici's channels alone.
const failedAt = new WeakMap<object, string>();
const failedWebSockets = new Map<string, Error>();

function noteFailure({ request, error, response }: Report): void {
  const isWebSocket = request.upgrade === 'websocket';
  // The reason of a signal may be that of several requests; 101 is an open WebSocket.
  const isRefusal = isWebSocket && response?.statusCode !== 101;
  if (error ? !(error instanceof Error) || error instanceof DOMException : !isRefusal) return;
  const status = `HTTP ${response?.statusCode}`;
  const failure = error ?? Object.assign(new Error(status), { code: status });
  noteAddress(failure, String(request.origin));
  if (isWebSocket && !failedWebSockets.has(request.path)) failedWebSockets.set(request.path, failure);
}

// A connection to a proxy fails first; the request that was to go through it fails with the same error.
function noteAddress(error: object, address: string): void {
  if (!failedAt.has(error)) failedAt.set(error, address);
}

for (const channel of ['undici:request:error', 'undici:request:headers'])
  subscribe(channel, (message) => noteFailure(message as Report));

/** Why the WebSocket at an address did not open, from which `explainNetworkFailure` and the log tell the host. */
export function takeWebSocketFailure(address: string, error: Error): Error {
  const { pathname, search } = new URL(address);
  const failure = failedWebSockets.get(pathname + search) ?? error;
  failedWebSockets.delete(pathname + search);
  noteAddress(failure, address);
  return failure;
}

/** A `fetch` whose error says why and where: Slack's libraries log its message alone, and Node's is "fetch failed". */
export function tellFailures(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) =>
    fetch(input, init).catch((error: unknown) => {
      const failure = explainNetworkFailure(error);
      if (failure && error instanceof TypeError) error.message = failure.message;
      throw error;
    });
}

export function findFailedHost(error: Error): string | undefined {
  const address = failedAt.get(error);
  return address && new URL(address).host;
}

/** Explains an error of the network; undefined if the error is of another sort. `address`: where nothing tells the host. */
export function explainNetworkFailure(error: unknown, address?: string): NetworkFailure | undefined {
  const causes = findCauses(error);
  const at = causes.map((cause) => failedAt.get(cause)).find(Boolean) ?? address;
  if (at === undefined) return undefined;
  const refusal = causes.map(({ message }) => proxyRefusal.exec(String(message))?.[1]).find(Boolean);
  if (refusal && findProxy(at) !== undefined) return describe('proxy', refusal, at, false);
  for (const { code, name, statusCode } of causes) {
    const word =
      typeof statusCode === 'number' ? `HTTP ${statusCode}` : typeof code === 'string' ? code : String(name);
    const kind = kinds.find(([, codes]) => codes.test(word))?.[0];
    if (kind) return describe(kind, word, at, new URL(at).host === findProxy(address ?? at));
  }
  return undefined;
}

/** False where no connection came about. TLS may also break off later, which is EPROTO. */
export function mayHaveBeenSent({ kind = 'closed', code }: Partial<NetworkFailure> = {}): boolean {
  const isBefore = ['proxy', 'certificate', 'tls', 'name', 'refused'].includes(kind) && code !== 'EPROTO';
  return !isBefore && code !== 'UND_ERR_CONNECT_TIMEOUT';
}

const proxyRefusal = /(?:proxy response|failed to establish tunnel.* HTTP\/1\.\d)\D*(\d{3})/iu;

type Cause = Readonly<Partial<Record<'code' | 'name' | 'message' | 'statusCode', unknown>>>;

function findCauses(error: unknown, depth = 0): Cause[] {
  if (typeof error !== 'object' || error === null || depth > 8) return [];
  const { cause, original, errors } = error as { cause?: unknown; original?: unknown; errors?: unknown };
  const inner = [cause, original, ...(Array.isArray(errors) ? errors : [])];
  return [error, ...inner.flatMap((one) => findCauses(one, depth + 1))];
}

function describe(
  kind: NetworkFailure['kind'],
  code: string,
  address: string,
  isProxy: boolean,
): NetworkFailure {
  const { host, hostname } = new URL(address);
  const proxy = isProxy ? undefined : findProxy(address);
  const who = isProxy ? `The proxy ${host}` : host;
  const whose = who.replace('The', 'the');
  const way = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const ask = `the proxy’s admin to allow ${hostname}`;
  const check = isProxy
    ? 'Check HTTPS_PROXY, and that the proxy runs.'
    : proxy === undefined
      ? 'If this network has a proxy, set HTTPS_PROXY.'
      : 'Check HTTPS_PROXY, or name the host in NO_PROXY.';
  const opened = `the connection${way} (${code}).`;
  const firewall = `Check the address and the firewall. ${check}`;
  const texts: Readonly<
    Record<NetworkFailure['kind'] | 'expired' | 'misnamed', readonly [message: string, hint: string]>
  > = {
    proxy: [
      `The proxy ${proxy} ${code.startsWith('5') ? 'does not reach' : 'does not let the bot through to'} ${host} (${code}).`,
      `Ask ${ask}, check the name and password in HTTPS_PROXY, or name the host in NO_PROXY.`,
    ],
    answer: [
      `${host} answered ${code}${way}.`,
      `A proxy or firewall may answer in its place, or let no WebSocket pass: ask ${ask}. Otherwise try again in a minute.`,
    ],
    certificate: [
      `The certificate of ${whose} is not trusted here (${code}).`,
      'If your network has its own certificate authority, set NODE_EXTRA_CA_CERTS to its file (PEM) and restart the bot.',
    ],
    expired: [
      `The certificate of ${whose} is not valid today (${code}).`,
      `Check the clock of this machine. The owner of ${hostname} has to renew the certificate.`,
    ],
    misnamed: [
      `The certificate of ${whose} is for another name (${code}).`,
      `Check the address, and where DNS of this network leads. ${check}`,
    ],
    tls: [
      `${who} does not speak TLS as the bot does${way} (${code}).`,
      `Check the port, and whether it takes http or https. ${check}`,
    ],
    name: [
      `The name ${hostname} was not found (${code}).`,
      isProxy ? 'Check DNS and HTTPS_PROXY.' : `Check the address and DNS. ${check}`,
    ],
    timeout: [
      `${who} did not answer in time${way} (${code}).`,
      `A firewall may drop the connection. ${check}`,
    ],
    refused: [`${who} refused ${opened}`, firewall],
    closed: [`${who} closed ${opened}`, firewall],
  };
  // No authority mends a certificate that is out of date, or another host's.
  const flaw = /EXPIRED|NOT_YET/u.test(code) ? 'expired' : code.includes('ALTNAME') ? 'misnamed' : kind;
  const [message, hint] = texts[kind === 'certificate' ? flaw : kind];
  return { kind, code, message, hint };
}
