import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import type { Json } from './world.ts';
import { isObject } from './world.ts';

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

/** The bytes of the first file in a multipart form; the whole body where the form cannot be read. */
export function multipartFile(body: Buffer, contentType: string): Buffer {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  if (boundary === undefined) return body;
  const mark = `--${boundary}`;
  let at = body.indexOf(mark);
  while (at !== -1) {
    const headEnd = body.indexOf('\r\n\r\n', at);
    const next = body.indexOf(`\r\n${mark}`, headEnd);
    if (headEnd === -1 || next === -1) return body;
    const head = body.subarray(at, headEnd).toString();
    if (/filename/i.test(head)) return body.subarray(headEnd + 4, next);
    at = next + 2;
  }
  return body;
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.csv': 'text/csv; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** The content type that a file name stands for. */
export function contentType(name: string): string {
  return types[extname(name).toLowerCase()] ?? 'application/octet-stream';
}

/** Serves a directory at `/`; nothing outside it. Without a directory it serves nothing. */
export function createStaticFiles(directory: string | undefined): Route {
  return async (request, response, url) => {
    if (directory === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return false;
    const root = normalize(directory);
    const wanted = join(root, decodeURIComponent(url.pathname === '/' ? '/index.html' : url.pathname));
    if (!wanted.startsWith(root.endsWith(sep) ? root : root + sep)) return false;
    try {
      const bytes = await readFile(wanted);
      response.writeHead(200, { 'content-type': contentType(wanted), 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : bytes);
      return true;
    } catch {
      return false;
    }
  };
}
