import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from './json.ts';
import type { Json } from './world.ts';

/** One way in: answers true when the request was its own. */
export type Route = (
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
) => Promise<boolean> | boolean;

/** Reads a whole body. */
export async function readBody(incoming: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  return Buffer.concat(parts);
}

export function sendJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(body));
}

/**
 * The arguments of a call, from a JSON or form-encoded body and the query. In a form every value is a string;
 * members that hold structures (`blocks`, `view`, `files` …) are parsed where they parse.
 */
export function readArguments(request: IncomingMessage, body: string, url: URL): Json {
  const fromQuery: Json = Object.fromEntries(url.searchParams);
  if ((request.headers['content-type'] ?? '').startsWith('application/json')) {
    return { ...fromQuery, ...parseJson(body) };
  }
  return parseStructures({ ...fromQuery, ...Object.fromEntries(new URLSearchParams(body)) });
}

function parseJson(body: string): Json {
  try {
    const value: unknown = JSON.parse(body === '' ? '{}' : body);
    return isObject(value) ? parseStructures(value) : {};
  } catch {
    return {};
  }
}

const structures = new Set(['blocks', 'view', 'files', 'metadata', 'attachments', 'outputs']);

function parseStructures(args: Json): Json {
  const entries = Object.entries(args).map(([name, value]): [string, unknown] => {
    if (!structures.has(name) || typeof value !== 'string') return [name, value];
    try {
      return [name, JSON.parse(value) as unknown];
    } catch {
      return [name, value];
    }
  });
  return Object.fromEntries(entries);
}
