import { isObject } from './http/error-bodies.ts';

export interface Point {
  /** The key as it came: a day, a time, or something else. */
  readonly key: string;
  readonly value: unknown;
}

// What an entry of a list may call its key, should a map ever become a list.
const keyNames = ['date', 'day', 'time', 'timestamp', 'key', 'x'];

/**
 * The points of a map by day or time whose form the specification leaves open: an object, a list of pairs or a list
 * of objects. What fits none of these is left out.
 */
export function readSeries(raw: unknown): Point[] {
  if (isObject(raw)) return Object.entries(raw).map(([key, value]) => ({ key, value }));
  if (!Array.isArray(raw)) return [];
  return raw.flatMap((entry: unknown): Point[] => {
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

/** A number, or the one number of an object. */
export function numberIn(value: unknown): number | undefined {
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
