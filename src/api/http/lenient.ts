import { z } from 'zod';

/** What in an answer was not as the specification says. */
export interface Drift {
  readonly operation: string;
  /** Members of the wrong type, by path: `Hostnames[].ForceSSL`. They read as not reported. */
  readonly wrong: readonly string[];
  /** Members the specification does not have. They are ignored. */
  readonly unknown: readonly string[];
}

export interface Lenient<T> {
  readonly value: T;
  readonly wrong: readonly string[];
}

/**
 * Reads `raw` by `schema`, giving up as little as possible (cdn-api.md §3): a member of the wrong type is left out,
 * a list's element of the wrong type too, and both are named in `wrong`. Undefined only where the thing itself, or
 * a member it cannot be without, is not there.
 */
export function readLeniently<S extends z.ZodType>(
  schema: S,
  raw: unknown,
): Lenient<z.output<S>> | undefined {
  let value = raw;
  const wrong: string[] = [];
  // A second round finds what stood behind the first mistake; more than a few rounds is not a service's answer.
  for (let round = 0; round < 4; round += 1) {
    const read = schema.safeParse(value);
    if (read.success) return { value: read.data, wrong };
    const paths = read.error.issues.map(({ path }) => path);
    if (paths.some((path) => path.length === 0)) return undefined;
    wrong.push(...paths.map(named));
    value = without(value, paths);
  }
  return undefined;
}

/** `['Hostnames', 2, 'ForceSSL']` → `Hostnames[].ForceSSL`. Names are the service's words: bounded. */
function named(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? '[]' : `.${String(key).slice(0, 80)}`))
    .join('')
    .replace(/^\./, '');
}

const gone = Symbol('gone');

function without(raw: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const copy: unknown = structuredClone(raw);
  const lists = new Set<unknown[]>();
  for (const path of paths) {
    const parent = path
      .slice(0, -1)
      .reduce<unknown>((at, key) => (isContainer(at) ? at[key] : undefined), copy);
    const key = path.at(-1);
    if (!isContainer(parent) || key === undefined) continue;
    if (Array.isArray(parent)) {
      // Marked first: taking it out now would shift the elements the other paths point at.
      parent[Number(key)] = gone;
      lists.add(parent);
    } else {
      Reflect.deleteProperty(parent, key);
    }
  }
  for (const list of lists) list.splice(0, list.length, ...list.filter((element) => element !== gone));
  return copy;
}

function isContainer(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

// The kinds of members. Any of them may be null or missing, whatever the specification declares.
export const text = z.string().nullish();
export const flag = z.boolean().nullish();
export const count = z.number().nullish();
export const texts = z.array(z.string()).nullish();
/** An int64 id, outwards a string: nothing computes with it, and buttons carry text. */
export const id = z.union([z.number().int(), z.string().regex(/^-?\d{1,20}$/)]).transform(String);
/** A reference to another resource; null, 0 and -1 all mean that there is none. */
export const link = id.transform((value) => (/^[1-9]/.test(value) ? value : undefined)).nullish();

/** `MonthlyCharges` → `monthlyCharges`, `AWSSigningEnabled` → `awsSigningEnabled`. */
type Camel<Name extends string> = Name extends `AWS${infer Rest}`
  ? `aws${Rest}`
  : Name extends `EUUS${infer Rest}`
    ? `euus${Rest}`
    : Uncapitalize<Name>;

/** A wire object with names as the rest of the code has them, and without null. */
export type Renamed<T> = { readonly [K in keyof T & string as Camel<K>]?: NonNullable<T[K]> };

/** Renames the members of a wire object and drops those that are null. */
export function renamed<T extends object>(wire: T): Renamed<T> {
  const members: [string, unknown][] = [];
  for (const [name, value] of Object.entries(wire)) {
    if (value !== null && value !== undefined) members.push([camel(name), value]);
  }
  return Object.fromEntries(members) as Renamed<T>;
}

function camel(name: string): string {
  const prefix = /^(?:AWS|EUUS|.)/.exec(name)?.[0] ?? '';
  return prefix.toLowerCase() + name.slice(prefix.length);
}

/** Drops the members that are null or undefined: not reported. */
export function reported<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members) as { [K in keyof T]?: NonNullable<T[K]> };
}
