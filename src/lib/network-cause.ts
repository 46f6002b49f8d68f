/** Why there was no connection to a host. */
export interface NetworkCause {
  readonly kind: 'certificate' | 'name' | 'refused' | 'timeout' | 'other';
  /** `ECONNREFUSED`, `SELF_SIGNED_CERT_IN_CHAIN`, … */
  readonly code: string;
}

const kinds: readonly (readonly [NetworkCause['kind'], RegExp])[] = [
  ['certificate', /CERT|^ERR_(?:TLS|SSL)_|^UNABLE_TO_/u],
  ['name', /^(?:ENOTFOUND|EAI_AGAIN)$/u],
  ['refused', /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EACCES|EPERM)$/u],
  ['timeout', /^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/u],
];

/** Finds the cause in an error of fetch, which wraps it; undefined where no part of it has a code. */
export function findNetworkCause(error: unknown): NetworkCause | undefined {
  let other: NetworkCause | undefined;
  for (let at = error, depth = 0; at instanceof Error && depth < 6; depth += 1) {
    const code = 'code' in at && typeof at.code === 'string' ? at.code : undefined;
    const kind = code === undefined ? undefined : kinds.find(([, codes]) => codes.test(code))?.[0];
    if (kind && code !== undefined) return { kind, code };
    if (code !== undefined) other ??= { kind: 'other', code };
    // Several addresses were tried: the first failure stands for all.
    at = at instanceof AggregateError && at.cause === undefined ? (at.errors as unknown[])[0] : at.cause;
  }
  return other;
}

/** What happened and what to look at, for whoever runs the bot. `host` is the address without its path. */
export function describeNetworkCause(
  { kind, code }: NetworkCause,
  host: string,
): { readonly message: string; readonly hint: string } {
  switch (kind) {
    case 'certificate':
      return {
        message: `The certificate of ${host} is not trusted here (${code}).`,
        hint: 'Where a proxy or a private CA signs certificates, set NODE_EXTRA_CA_CERTS to the file of that CA and restart the bot.',
      };
    case 'name':
      return {
        message: `The name ${host} was not found (${code}).`,
        hint: 'Check the configured address and the DNS of the bot’s machine. Where only a proxy resolves names, set HTTPS_PROXY.',
      };
    case 'refused':
      return {
        message: `${host} refused the connection (${code}).`,
        hint: 'Check the configured address and port, and whether a firewall lets the bot out.',
      };
    case 'timeout':
      return {
        message: `Connecting to ${host} timed out (${code}).`,
        hint: 'A firewall may drop the connection. Where the way out is a proxy, set HTTPS_PROXY.',
      };
    case 'other':
      return {
        message: `The connection to ${host} broke off (${code}).`,
        hint: 'Try again in a minute. If it keeps happening, check the bot’s network.',
      };
  }
}
