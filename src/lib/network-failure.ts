import { findProxy } from './proxy.ts';

export interface NetworkFailure {
  readonly kind: 'certificate' | 'name' | 'refused' | 'closed' | 'timeout' | 'proxy';
  /** The code of Node or OpenSSL, or the proxy's status, for the log. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const kinds: readonly (readonly [kind: Exclude<NetworkFailure['kind'], 'proxy'>, codes: RegExp])[] = [
  ['certificate', /CERT|^ERR_(?:TLS|SSL)_|^UNABLE_TO_|^EPROTO$/u],
  ['name', /^(?:ENOTFOUND|EAI_\w+)$/u],
  ['timeout', /^(?:ETIMEDOUT|UND_ERR_\w+_TIMEOUT|TimeoutError)$/u],
  ['refused', /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EACCES|EPERM)$/u],
  ['closed', /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/u],
];

/** Explains an error of the network; undefined if the error is of another sort. */
export function explainNetworkFailure(error: unknown, address: string): NetworkFailure | undefined {
  const proxy = findProxy(address);
  const causes = findCauses(error);
  const refusal = causes.map(({ message }) => proxyRefusal.exec(String(message))?.[1]).find(Boolean);
  if (proxy !== undefined && refusal)
    return { kind: 'proxy', code: refusal, ...describe('proxy', refusal, address) };
  for (const { code, name } of causes) {
    const word = typeof code === 'string' ? code : String(name);
    const kind = kinds.find(([, codes]) => codes.test(word))?.[0];
    if (kind) return { kind, code: word, ...describe(kind, word, address) };
  }
  return undefined;
}

const proxyRefusal = /(?:proxy response|failed to establish tunnel.* HTTP\/1\.\d)\D*(\d{3})/iu;

type Cause = { readonly code?: unknown; readonly name?: unknown; readonly message?: unknown };

/** An error with its causes, the first first, and the single attempts of a connection to several addresses. */
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
): Pick<NetworkFailure, 'message' | 'hint'> {
  const { host, hostname } = new URL(address);
  const proxy = findProxy(address);
  const way = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const viaProxy =
    proxy === undefined
      ? 'If this network has a proxy, set HTTPS_PROXY.'
      : 'Check HTTPS_PROXY, or name the host in NO_PROXY.';
  switch (kind) {
    case 'certificate':
      return {
        message: `The certificate of ${host} is not trusted here (${code}).`,
        hint: 'If your network has a certificate authority of its own, set NODE_EXTRA_CA_CERTS to its file (PEM) and restart the bot.',
      };
    case 'name':
      return {
        message: `The name ${proxy ?? hostname} was not found (${code}).`,
        hint: proxy === undefined ? `Check the address and DNS. ${viaProxy}` : `Check DNS and HTTPS_PROXY.`,
      };
    case 'refused':
    case 'closed':
      return {
        message: `${host} ${kind} the connection${way} (${code}).`,
        hint: `Check the address and the firewall. ${viaProxy}`,
      };
    case 'timeout':
      return {
        message: `${host} did not answer in time${way} (${code}).`,
        hint: `A firewall may drop the connection. ${viaProxy}`,
      };
    case 'proxy':
      return {
        message: code.startsWith('5')
          ? `The proxy ${proxy} does not reach ${host} (${code}).`
          : `The proxy ${proxy} does not let the bot through to ${host} (${code}).`,
        hint: `Ask whoever runs the proxy to allow ${hostname}, check the name and password in HTTPS_PROXY, or name the host in NO_PROXY.`,
      };
  }
}
