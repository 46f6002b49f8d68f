/** Replaces a value that must not be shown. */
export const redactedValue = '[hidden]';

/**
 * An address without possible secrets: user, password and query values are removed (`?sig=…`), since signatures and
 * tokens travel there. Accepts any text, address or not.
 */
export function redactUrl(url: string): string {
  // The fast path for nearly every address of a large list.
  if (!url.includes('@') && !url.includes('?') && !url.includes('#')) return url;
  return removeQueryValues(removeUserinfo(url));
}

function removeUserinfo(url: string): string {
  const [, scheme = '', rest = ''] = /^((?:[a-z][a-z\d+.-]*:)?\/\/)?(.*)$/is.exec(url) ?? [];
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  if (authority.includes('@')) return scheme + rest.slice(authority.lastIndexOf('@') + 1);
  // `user:pa/ss@host`: before the slash is no host with a port, so it is a name with half a password.
  const broken = /:(?!\d*$)/.test(authority) && !authority.startsWith('[');
  return broken && rest.includes('@') ? scheme + rest.slice(rest.lastIndexOf('@') + 1) : url;
}

function removeQueryValues(url: string): string {
  const [beforeFragment = ''] = url.split('#', 1);
  const start = beforeFragment.indexOf('?');
  if (start === -1) return beforeFragment;
  const names = beforeFragment
    .slice(start + 1)
    .split('&')
    .map((pair) => (pair.includes('=') ? `${pair.slice(0, pair.indexOf('='))}=…` : pair === '' ? '' : '…'));
  return `${beforeFragment.slice(0, start)}?${names.join('&')}`;
}

/** Actions whose parameters are the name and the value of a header. */
export const headerActions = new Set([5, 6]);
/** Actions of the specification. Parameters of newer ones are hidden, since their meaning is unknown. */
const knownActions = new Set(
  Array.from({ length: 38 }, (_, type) => type).filter((type) => type !== 35 && type !== 36),
);

/** The parameters of an edge rule's action, without header values and credentials. */
export function redactParameters(
  type: number | undefined,
  [first, second, third]: readonly (string | undefined)[],
): (string | undefined)[] {
  if (type !== undefined && headerActions.has(type)) {
    // People also write `Name: value` into the name.
    return [first?.split(':', 1)[0], second && redactedValue, third && redactedValue];
  }
  if (type === undefined || !knownActions.has(type))
    return [first && redactedValue, second && redactedValue, third && redactedValue];
  return [first, second, third].map((parameter) => parameter && redactUrl(parameter));
}

const headerTriggers = new Set([1, 2]);
const cookieTrigger = 10;
const queryTrigger = 6;
const lastKnownTrigger = 13;
// Headers that carry no secret. A rule on any other may compare it with a shared secret.
const plainHeaders = new Set(
  'accept accept-encoding accept-language access-control-request-method cache-control content-encoding content-length content-type host if-modified-since if-none-match origin range referer user-agent x-forwarded-for x-forwarded-proto x-requested-with'.split(
    ' ',
  ),
);

/** The patterns of an edge rule's trigger. Values of cookies and of possibly secret headers are hidden. */
export function redactPatterns(
  type: number | undefined,
  parameter: string | undefined,
  patterns: readonly string[],
): string[] {
  const mayBeSecret =
    type === undefined ||
    type > lastKnownTrigger ||
    type === cookieTrigger ||
    (headerTriggers.has(type) && !isPlainHeader(parameter));
  if (mayBeSecret) return patterns.map(() => redactedValue);
  if (type === queryTrigger) return patterns.map((pattern) => pattern.replaceAll(/=[^&]*/g, '=…'));
  return patterns.map(redactUrl);
}

/** True for a common header that carries no secret. */
export function isPlainHeader(name: string | undefined): boolean {
  return plainHeaders.has(name?.trim().toLowerCase() ?? '');
}
