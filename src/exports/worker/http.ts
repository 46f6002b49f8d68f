import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Taken } from '../../views/blocks/blocks.ts';
import { detachBuffer } from './encrypted-temp-file.ts';

const decompressors: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * `fetch` over Node's own HTTP client, which copies less: for requests whose body is a string. It never follows a
 * redirect.
 */
export const fetchOverHttp: typeof globalThis.fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  const { method = 'GET', body, headers, signal } = init ?? {};
  if (body && typeof body !== 'string') throw new TypeError('only a string can be the body of this request');
  signal?.throwIfAborted();
  const request = open(url, method, {
    'accept-encoding': 'gzip, deflate, br',
    ...Object.fromEntries(new Headers(headers)),
    ...(body ? { 'content-length': String(Buffer.byteLength(body)) } : {}),
  });
  signal?.addEventListener('abort', () => request.destroy(), { once: true });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // Later failures surface through the body.
  request.on('error', () => undefined);
  const decompress = decompressors[response.headers['content-encoding']?.toLowerCase() ?? ''];
  const bytes = decompress ? pipeline(response, decompress(), () => undefined) : response;
  const status = response.statusCode ?? 0;
  const hasBody = ![204, 205, 304].includes(status);
  return new Response(hasBody ? (Readable.toWeb(bytes) as ReadableStream) : null, {
    status,
    headers: Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  });
};

/** Posts a body and reads the answer's status. The memory of each piece is released once it was sent. */
export async function postBody(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Readable,
): Promise<Taken> {
  const request = open(new URL(url), 'POST', headers);
  body.once('error', (error) => request.destroy(error));
  body.on('data', (piece: Buffer) => {
    if (!request.write(piece, () => detachBuffer(piece))) body.pause();
  });
  request.on('drain', () => body.resume());
  body.once('end', () => request.end());
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    request.on('error', () => undefined);
    response.resume();
    if (!response.readableEnded) await once(response, 'end');
    return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
  } finally {
    body.destroy();
  }
}

function open(url: URL, method: string, headers: Readonly<Record<string, string>>): ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  return request(url, { method, headers, agent: false });
}
