import { createHash } from 'node:crypto';

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [member: string]: Json | undefined };

/** JSON with sorted members, for what is hashed, signed or compared. @throws Error for what JSON cannot hold */
export function canonicalJson(value: Json): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('A number here must be finite.');
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new Error('Canonical JSON only takes what JSON holds.');
    return text;
  }
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .filter((entry): entry is [string, Json] => entry[1] !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON.parse, except that ids beyond 2^53 come as text, digit by digit. */
export function parseWithExactIds(json: string): unknown {
  // Looking at every member takes twice as long as JSON.parse.
  return /id"\s*:\s*-?\d{16}/i.test(json) ? JSON.parse(json, keepExactId) : JSON.parse(json);
}

function keepExactId(name: string, value: unknown, ...[context]: [{ readonly source?: string }?]): unknown {
  const isInexact = typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isInexact && /id$/i.test(name) ? (context?.source ?? value) : value;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

export function contentHash(shown: unknown): string {
  return createHash('sha256').update(JSON.stringify(shown)).digest('base64url').slice(0, 10);
}
