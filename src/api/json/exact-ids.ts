import { isObject } from '../http/error-bodies.ts';

/** JSON.parse of a list, except that elements with an id beyond 2^53 have their ids as text, digit by digit. */
export function parseListWithExactIds(json: string): readonly unknown[] {
  const elements = JSON.parse(json) as unknown[];
  if (!elements.some(hasInexactId)) return elements;
  const exact = parseWithExactIds(json) as unknown[];
  return elements.map((element, index) => (hasInexactId(element) ? exact[index] : element));
}

/**
 * Whether an id in it is beyond what JSON.parse keeps exactly (2^53; the specification says int64): those whose digits
 * matter, since they are shown, compared and put into paths. Written out, as it runs for each zone of a long list.
 */
function hasInexactId(raw: unknown): boolean {
  return (
    isObject(raw) &&
    (isInexact(raw['Id']) ||
      isInexact(raw['StorageZoneId']) ||
      isInexact(raw['EdgeScriptId']) ||
      isInexact(raw['MiddlewareScriptId']))
  );
}

/**
 * JSON.parse, except that ids beyond 2^53 come as text, digit by digit. Slower: only for where such an id was seen,
 * or for small documents.
 */
export function parseWithExactIds(json: string): unknown {
  return JSON.parse(json, exactId) as unknown;
}

// The third argument is newer than the library's types.
function exactId(name: string, value: unknown, ...[context]: [{ readonly source?: string }?]): unknown {
  return /id$/i.test(name) && isInexact(value) ? (context?.source ?? value) : value;
}

function isInexact(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}
