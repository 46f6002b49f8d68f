import type { Json } from './world.ts';

/** Whether something parsed is an object with members (and not a list). */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that may be missing, as text: strings, numbers and booleans as they are, anything else as ''. */
export function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : '';
}
