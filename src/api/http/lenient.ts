import { z } from 'zod';
import { parseIsoTime, toEpochMs } from '../../lib/time.ts';
import { findFailureWords, isObject, readErrorBody, type Write } from './errors.ts';
import type { Reply } from './request.ts';

/** More are another form. */
const mostWrong = 1_000;

/** Parses `raw`. Members and elements of the wrong type are left out and named in `wrong`; undefined if a required one is missing. */
export function readLeniently<S extends z.ZodType>(
  schema: S,
  raw: unknown,
): { readonly value: z.output<S>; readonly wrong: readonly string[] } | undefined {
  let value = raw;
  const wrong: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    const read = schema.safeParse(value);
    if (read.success) return { value: read.data, wrong };
    const paths = read.error.issues.map(({ path }) => path);
    if (paths.length > mostWrong || paths.some((path) => path.length === 0)) return undefined;
    wrong.push(...paths.map(joinPath));
    value = structuredClone(value);
    // The last first: removing an element shifts those behind it.
    for (const path of paths.toReversed()) removeMember(value, path);
  }
  return undefined;
}

/** `['Hostnames', 2, 'ForceSSL']` → `Hostnames[].ForceSSL`, bounded. */
function joinPath(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? '[]' : `.${String(key).slice(0, 80)}`))
    .join('')
    .replace(/^\./, '');
}

function removeMember(from: unknown, path: readonly PropertyKey[]): void {
  const parent = path.slice(0, -1).reduce((at, key) => (isContainer(at) ? at[key] : undefined), from);
  const key = path.at(-1) as PropertyKey;
  if (Array.isArray(parent)) {
    parent.splice(Number(key), 1);
    // A list of which nothing can be read is not an empty one.
    if (parent.length === 0 && path.length > 1) removeMember(from, path.slice(0, -1));
  } else if (isContainer(parent)) Reflect.deleteProperty(parent, key);
}

function isContainer(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

// Kinds of members. Any of them may be null or missing, whatever the specification declares.
export const text = z.string().nullish();
// A flag may come as a number, or as text.
const words = z.stringbool({ truthy: ['true', '1'], falsy: ['false', '0'] });
export const flag = z.union([z.boolean(), z.literal([0, 1]).transform(Boolean), words]).nullish();
const numberText = /^-?\d{1,20}(?:\.\d{1,20})?$/u;
/** A number may come as text. */
export const count = z.union([z.number(), z.string().regex(numberText).transform(Number)]).nullish();
export const texts = z.array(z.string()).nullish();
/** An int64 id as a string: it is never computed with, and buttons carry text. */
export const id = z.union([z.number().int(), z.string().regex(/^-?\d{1,20}$/)]).transform(String);
/** A reference to another resource; null, 0 and -1 mean none. */
export const link = id.transform((value) => (/^[1-9]/.test(value) ? value : undefined)).nullish();

/** Like `count`; undefined for infinity. */
export function readNumber(value: unknown): number | undefined {
  const read = typeof value === 'string' && numberText.test(value) ? Number(value) : value;
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined;
}

export function omitMissing<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** Parses a small answer that is one object. Throws ApiError `unexpected`, or `refused` if it only describes a failure. */
export function readAnswer<S extends z.ZodObject>(
  reply: Reply,
  body: unknown,
  schema: S,
  beyond: readonly string[] = [],
): z.output<S> {
  const names = isObject(body) ? Object.keys(body) : [];
  const isExpected = names.some((name) => Object.hasOwn(schema.shape, name));
  const { kind } = readErrorBody(body);
  if (kind === 'envelope' || (!isExpected && kind === 'problem')) throw reply.wrongShape(body);
  return readMembers(reply, body, schema, beyond);
}

function readMembers<S extends z.ZodObject>(
  reply: Reply,
  body: unknown,
  schema: S,
  beyond?: readonly string[],
): z.output<S> {
  const read = readLeniently(schema, body);
  if (!read) throw reply.wrongShape(body);
  reply.reportDrift({ wrong: read.wrong, ...compareNames(body, schema.shape, beyond) });
  return read.value;
}

/** Like `readAnswer`, for the answer to a write. An empty answer confirms nothing, nor does a sentence. @throws ApiError if it reports a failure */
export function readConfirmation<S extends z.ZodObject>(
  reply: Reply,
  body: unknown,
  schema: S,
  write: Write,
): z.output<S> {
  const isWhole =
    write === 'change' &&
    isObject(body) &&
    Object.keys(schema.shape).every((name) => body[name] !== undefined);
  const words = findFailureWords(body, write, isWhole);
  // With 202 nothing has happened yet, with 206 and 207 perhaps a part.
  const isOpen = [202, 206, 207].includes(reply.status);
  if (words === undefined) return readMembers(reply, isOpen ? {} : (body ?? {}), schema);
  // Throws with the words of a problem.
  readAnswer(reply, body, schema);
  throw reply.error('refused', words);
}

/** The members that are not in `known`, and those that are missing and not `beyond` the specification. They are logged. */
export function compareNames(
  body: unknown,
  known: object,
  beyond: readonly string[] = [],
): { readonly missing: string[]; readonly unknown: string[] } {
  if (!isObject(body)) return { missing: [], unknown: [] };
  const missing = Object.keys(known).filter((name) => !Object.hasOwn(body, name) && !beyond.includes(name));
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(known, name));
  return { missing, unknown: unknown.slice(0, 50).map((name) => name.slice(0, 80)) };
}

/** The moment of a key of a map by time: ISO text, or an epoch time of any unit. */
export function readKeyTime(key: string): number | undefined {
  return /^\d{9,19}$/u.test(key) ? toEpochMs(Number(key)) : parseIsoTime(key);
}

/** A map in a form that is not known, as JSON; undefined where it says nothing. */
export function describeUnknownForm(raw: unknown, found: readonly unknown[]): string | undefined {
  if (found.length > 0 || raw === null || raw === undefined) return undefined;
  const isEmpty = typeof raw === 'object' && Object.keys(raw).length === 0;
  return isEmpty ? undefined : JSON.stringify(raw, undefined, 2).slice(0, maxUnknownLength);
}

const maxUnknownLength = 100_000;

export function readMap(raw: unknown): [key: string, value: unknown][] {
  return isObject(raw) ? Object.entries(raw) : [];
}
