import { findProxy } from './proxy.ts';

/** Why a connection failed, in words for whoever runs the bot. */
export interface NetworkFailure {
  readonly kind: 'certificate' | 'name' | 'refused' | 'timeout' | 'proxy';
  /** The code of Node or OpenSSL, for the log. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const kinds: readonly (readonly [kind: Exclude<NetworkFailure['kind'], 'proxy'>, codes: RegExp])[] = [
  ['certificate', /CERT|^ERR_TLS|^ERR_SSL|UNABLE_TO_VERIFY|^EPROTO$/u],
  ['name', /^(ENOTFOUND|EAI_AGAIN|EAI_\w+)$/u],
  ['timeout', /^(ETIMEDOUT|UND_ERR_\w+_TIMEOUT|TimeoutError)$/u],
  ['refused', /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|EPIPE|UND_ERR_SOCKET)$/u],
];

/** Explains an error of the network; undefined if the error is of another sort. */
export function explainNetworkFailure(error: unknown, address: string): NetworkFailure | undefined {
  const { host, hostname } = new URL(address);
  const proxy = findProxy(address);
  for (const one of findCauses(error)) {
    const { code, name, message } = one as { code?: unknown; name?: unknown; message?: unknown };
    if (proxy !== undefined && isProxyRefusal(String(message)))
      return {
        kind: 'proxy',
        code: /\d{3}/u.exec(String(message))?.[0] ?? String(code),
        message: `The proxy ${proxy} does not let the bot through to ${host}.`,
        hint: `Ask whoever runs the proxy to allow ${hostname}, check the name and password in HTTPS_PROXY, or name the host in NO_PROXY.`,
      };
    const word = typeof code === 'string' ? code : String(name);
    const kind = kinds.find(([, codes]) => codes.test(word))?.[0];
    if (kind) return { kind, code: word, ...describe(kind, word, { host, hostname, proxy }) };
  }
  return undefined;
}

/** An error with its causes, the first first, and the single attempts of a connection to several addresses. */
function findCauses(error: unknown, depth = 0): object[] {
  if (typeof error !== 'object' || error === null || depth > 8) return [];
  const { cause, original, errors } = error as { cause?: unknown; original?: unknown; errors?: unknown };
  const inner = [cause, original, ...(Array.isArray(errors) ? errors : [])];
  return [error, ...inner.flatMap((one) => findCauses(one, depth + 1))];
}

function isProxyRefusal(message: string): boolean {
  return /proxy response \(?\d{3}|proxy.*(?:40[37]|50[234])|Failed to establish tunnel/iu.test(message);
}

function describe(
  kind: Exclude<NetworkFailure['kind'], 'proxy'>,
  code: string,
  { host, hostname, proxy }: { host: string; hostname: string; proxy: string | undefined },
): Pick<NetworkFailure, 'message' | 'hint'> {
  const way = proxy === undefined ? '' : ` through the proxy ${proxy}`;
  const viaProxy =
    proxy === undefined
      ? 'If this network has a proxy, set HTTPS_PROXY.'
      : 'Check HTTPS_PROXY, or name the host in NO_PROXY.';
  switch (kind) {
    case 'certificate':
      return {
        message: `The certificate of ${host} is not trusted here (${code}).`,
        hint: 'If your network has a certificate authority of its own, set NODE_EXTRA_CA_CERTS to its file (PEM).',
      };
    case 'name':
      return {
        message: `The name ${proxy ?? hostname} was not found (${code}).`,
        hint: proxy === undefined ? `Check the address and DNS. ${viaProxy}` : `Check DNS and HTTPS_PROXY.`,
      };
    case 'refused':
      return {
        message: `${host} refused or closed the connection${way} (${code}).`,
        hint: `Check the address and the firewall. ${viaProxy}`,
      };
    case 'timeout':
      return {
        message: `${host} did not answer in time${way} (${code}).`,
        hint: `A firewall may drop the connection. ${viaProxy}`,
      };
  }
}
