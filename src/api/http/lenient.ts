import { z } from 'zod';
import { isObject, readErrorBody } from './errors.ts';
import type { Reply } from './request.ts';

/** Differences between an answer and the specification. */
export interface Drift {
  readonly operation: string;
  /** Members of the wrong type, by path: `Hostnames[].ForceSSL`. They count as not reported. */
  readonly wrong: readonly string[];
  /** Members that the specification does not have. They are ignored. */
  readonly unknown: readonly string[];
}

export interface LenientResult<T> {
  readonly value: T;
  readonly wrong: readonly string[];
}

/**
 * Parses `raw` and drops as little as possible, since the service changes its model about monthly: members and list
 * elements of the wrong type are left out and named in `wrong`. Undefined only if a required member is missing.
 */
export function readLeniently<S extends z.ZodType>(
  schema: S,
  raw: unknown,
): LenientResult<z.output<S>> | undefined {
  let value = raw;
  const wrong: string[] = [];
  // A further round finds mistakes behind the first one; real answers need few.
  for (let round = 0; round < 4; round += 1) {
    const read = schema.safeParse(value);
    if (read.success) return { value: read.data, wrong };
    const paths = read.error.issues.map(({ path }) => path);
    if (paths.some((path) => path.length === 0)) return undefined;
    wrong.push(...paths.map(joinPath));
    value = omitPaths(value, paths);
  }
  return undefined;
}

/** `['Hostnames', 2, 'ForceSSL']` → `Hostnames[].ForceSSL`. Names come from the service, so they are bounded. */
function joinPath(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? '[]' : `.${String(key).slice(0, 80)}`))
    .join('')
    .replace(/^\./, '');
}

const removed = Symbol('gone');

function omitPaths(raw: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const copy: unknown = structuredClone(raw);
  const lists = new Set<unknown[]>();
  for (const path of paths) {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((at, key) => (isContainer(at) ? at[key] : undefined), copy);
    const key = path.at(-1);
    if (!isContainer(parent) || key === undefined) continue;
    if (Array.isArray(parent)) {
      // Marked first: removing it now would shift the elements of the other paths.
      parent[Number(key)] = removed;
      lists.add(parent);
    } else {
      Reflect.deleteProperty(parent, key);
    }
  }
  for (const list of lists) list.splice(0, list.length, ...list.filter((element) => element !== removed));
  return copy;
}

function isContainer(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

// Kinds of members. Any of them may be null or missing, whatever the specification declares.
export const text = z.string().nullish();
export const flag = z.boolean().nullish();
export const count = z.number().nullish();
export const texts = z.array(z.string()).nullish();
/** An int64 id as a string: it is never computed with, and buttons carry text. */
export const id = z.union([z.number().int(), z.string().regex(/^-?\d{1,20}$/)]).transform(String);
/** A reference to another resource; null, 0 and -1 mean none. */
export const link = id.transform((value) => (/^[1-9]/.test(value) ? value : undefined)).nullish();

/** `MonthlyCharges` → `monthlyCharges`, `AWSSigningEnabled` → `awsSigningEnabled`. */
type Camel<Name extends string> = Name extends `AWS${infer Rest}`
  ? `aws${Rest}`
  : Name extends `EUUS${infer Rest}`
    ? `euus${Rest}`
    : Uncapitalize<Name>;

/** A wire object with camelCase names and without null. */
export type CamelCased<T> = { readonly [K in keyof T & string as Camel<K>]?: NonNullable<T[K]> };

/** Renames the members of a wire object to camelCase and drops missing ones. */
export function toCamelCase<T extends object>(wire: T): CamelCased<T> {
  const members: [string, unknown][] = [];
  for (const [name, value] of Object.entries(wire)) {
    if (value !== null && value !== undefined) members.push([camelCaseName(name), value]);
  }
  return Object.fromEntries(members) as CamelCased<T>;
}

function camelCaseName(name: string): string {
  const prefix = /^(?:AWS|EUUS|.)/.exec(name)?.[0] ?? '';
  return prefix.toLowerCase() + name.slice(prefix.length);
}

/** Drops members that are null or undefined. */
export function omitMissing<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members) as { [K in keyof T]?: NonNullable<T[K]> };
}

/**
 * Parses a small answer that is one object. Throws ApiError `unexpected` if it is none, and `refused` if it only
 * describes a failure.
 */
export function parseAnswer<S extends z.ZodObject>(
  reply: Reply,
  body: unknown,
  schema: S,
  operation: string,
  onDrift: (drift: Drift) => void,
): z.output<S> {
  const members = isObject(body) ? Object.keys(body) : undefined;
  const isExpected = members?.some((name) => Object.hasOwn(schema.shape, name)) ?? false;
  if (!members || (!isExpected && readErrorBody(body).kind !== 'none')) throw reply.wrongShape(body);
  const read = readLeniently(schema, body);
  if (!read) throw reply.wrongShape(body);
  const unknown = members
    .filter((name) => !Object.hasOwn(schema.shape, name))
    .map((name) => name.slice(0, 80));
  if (read.wrong.length + unknown.length > 0)
    onDrift({ operation, wrong: read.wrong, unknown: unknown.slice(0, 50) });
  return read.value;
}

export interface SeriesPoint {
  /** The service's key: a day, a time, or something else. */
  readonly key: string;
  readonly value: unknown;
}

// Names of the key member, should the map ever become a list.
const keyNames = ['date', 'day', 'time', 'timestamp', 'key', 'x'];

/**
 * The points of a map by day or time. The specification leaves its form open: an object, a list of pairs and a list of
 * objects are read, other entries are left out.
 */
export function readSeries(raw: unknown): SeriesPoint[] {
  if (isObject(raw)) return Object.entries(raw).map(([key, value]) => ({ key, value }));
  if (!Array.isArray(raw)) return [];
  return raw.flatMap((entry: unknown): SeriesPoint[] => {
    if (Array.isArray(entry)) {
      const [key, value] = entry as readonly unknown[];
      return isKey(key) ? [{ key: String(key), value }] : [];
    }
    if (!isObject(entry)) return [];
    const members = new Map(Object.entries(entry).map(([name, value]) => [name.toLowerCase(), value]));
    const key = keyNames.map((name) => members.get(name)).find(isKey);
    return key === undefined ? [] : [{ key: String(key), value: entry }];
  });
}

/** A number, or the only number of an object. */
export function findNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (!isObject(value)) return undefined;
  const numbers = Object.entries(value).filter(
    ([name, member]) => typeof member === 'number' && !keyNames.includes(name.toLowerCase()),
  );
  const [only] = numbers;
  return numbers.length === 1 && typeof only?.[1] === 'number' ? only[1] : undefined;
}

function isKey(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
