import { UserError } from '../../errors.ts';

export interface IdKind {
  readonly noun: string;
  readonly hint: string;
}

export function createNumericKind(name: string, example: number): IdKind {
  return { noun: `a ${name}`, hint: `A ${name} is a whole number, such as ${example}.` };
}

const maxIds = { int32: 2n ** 31n - 1n, int64: 2n ** 63n - 1n };

/** `0301` → `301`. Throws a UserError for anything but digits in range. */
export function checkNumericId(value: string, bits: 'int32' | 'int64', kind: IdKind): string {
  if (!/^\d{1,19}$/.test(value) || BigInt(value) > maxIds[bits]) throw createIdError(kind);
  return String(BigInt(value));
}

// Escaped `.`, `/`, `\` and control characters: they would change the path if a proxy decodes it once more.
const escapedUnsafeCharacters = /%(25)*(2e|2f|5c|[01][\da-f]|7f)/i;
// oxlint-disable-next-line no-control-regex -- control characters are what is refused here
const unsafeCharacters = /[/\\\u0000-\u001f\u007f-\u009f]/;

/** A textual id for one path segment. Anything that could lead to another path is refused with a UserError. */
export function checkTextId(value: string, kind: IdKind): string {
  const refused =
    value === '' ||
    value === '.' ||
    value === '..' ||
    value.length > 200 ||
    !value.isWellFormed() ||
    unsafeCharacters.test(value) ||
    escapedUnsafeCharacters.test(value);
  if (refused) throw createIdError(kind);
  return value;
}

export function pathOf(...segments: string[]): string {
  return `/${segments.map(encodeURIComponent).join('/')}`;
}

function createIdError({ noun, hint }: IdKind): UserError {
  // The typed text is not quoted: it is foreign, and this folder does not know where it is shown.
  return new UserError(`This is not ${noun}.`, hint);
}

/** An address, or any text, without user, password and query values (`?sig=…`), where signatures and tokens travel. */
export function redactUrl(url: string): string {
  if (!/[@?#]/.test(url)) return url;
  return removeQueryValues(removeUserinfo(url));
}

function removeUserinfo(url: string): string {
  const [, scheme = '', rest = ''] = /^((?:[a-z][a-z\d+.-]*:)?\/\/)?(.*)$/is.exec(url) ?? [];
  const end = rest.search(/[/?#]/);
  const authority = end === -1 ? rest : rest.slice(0, end);
  if (authority.includes('@')) return scheme + rest.slice(authority.lastIndexOf('@') + 1);
  // `user:pa/ss@host`: before the slash is no host with a port, so it is a name with half a password.
  const broken = /:(?!\d+$)/.test(authority) && !authority.startsWith('[');
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
