import { UserError } from '../../errors.ts';

/** The two hosts of the specification, without a slash at the end. */
export interface Hosts {
  readonly api: string;
  readonly originLogging: string;
}

export interface IdKind {
  /** `a zone id`: follows "This is not …". */
  readonly noun: string;
  /** How a valid one looks: a whole sentence. */
  readonly hint: string;
}

const maxIds = { int32: 2n ** 31n - 1n, int64: 2n ** 63n - 1n };

/** Throws a UserError for anything but digits in range. */
export function checkNumericId(value: string, bits: 'int32' | 'int64', kind: IdKind): string {
  if (!/^\d{1,19}$/.test(value) || BigInt(value) > maxIds[bits]) throw createIdError(kind);
  return value;
}

// Escaped `.`, `/`, `\` and control characters: they would change the path if a proxy decodes it once more.
const escapedUnsafeCharacters = /%(25)*(2e|2f|5c|[01][\da-f]|7f)/i;
// oxlint-disable-next-line no-control-regex -- control characters are what is refused here
const unsafeCharacters = /[/\\\u0000-\u001f\u007f-\u009f]/;

/**
 * A textual id for one path segment, not yet encoded. Ids come from people, so anything that could lead to another path
 * is refused with a UserError: `..`, slashes, their escaped forms, control characters.
 */
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

/** The path of an operation. Every segment is encoded, so that no id can end its segment. */
export function pathOf(...segments: string[]): string {
  return `/${segments.map(encodeURIComponent).join('/')}`;
}

export function address(host: string, ...segments: string[]): string {
  return host + pathOf(...segments);
}

function createIdError({ noun, hint }: IdKind): UserError {
  // The typed text is not quoted: it is foreign, and this folder does not know where it is shown.
  return new UserError(`This is not ${noun}.`, hint);
}
