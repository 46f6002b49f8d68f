import type { z } from 'zod';
import { isObject, readErrorBody } from './error-bodies.ts';
import { type Drift, readLeniently } from './lenient.ts';
import type { Reply } from './request.ts';

/**
 * Understands a small answer that is one object. Throws ApiError `unexpected` where it is none, and `refused` where
 * it only says what went wrong.
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
