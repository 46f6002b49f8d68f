import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { finished, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

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
  const request = openRequest(url, {
    method,
    headers: {
      'user-agent': 'node',
      'accept-encoding': 'gzip, deflate, br',
      ...Object.fromEntries(new Headers(headers)),
      ...(body ? { 'content-length': String(Buffer.byteLength(body)) } : {}),
    },
  });
  const abort = (): void => void request.destroy();
  signal?.addEventListener('abort', abort);
  // A signal may outlive its requests by far.
  request.once('close', () => signal?.removeEventListener('abort', abort)).end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // Later failures surface through the body.
  request.on('error', () => undefined);
  const decompress = decompressors[response.headers['content-encoding']?.toLowerCase() ?? ''];
  const bytes = decompress ? pipeline(response, decompress(), ignore) : response;
  const status = response.statusCode ?? 0;
  const hasBody = ![204, 205, 304].includes(status);
  // Frees the connection.
  if (!hasBody) response.resume();
  return new Response(hasBody ? readPieces(bytes) : null, {
    status,
    headers: Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  });
};

/**
 * Passes piece after piece. `Readable.toWeb` copies each, and an async iterator joins two that wait, which copies them too:
 * garbage as large as the body, which a collector that small objects do not wake leaves for long.
 */
function readPieces(bytes: Readable): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      bytes.pause();
      bytes.on('data', (piece: Buffer) => {
        bytes.pause();
        controller.enqueue(piece);
      });
      finished(bytes, (error) => {
        if (error) controller.error(error);
        else controller.close();
      });
    },
    pull: () => void bytes.resume(),
    cancel: () => void bytes.destroy(),
  });
}

// The reader is told.
const ignore = (): void => undefined;

function openRequest(url: URL, options: RequestOptions): ClientRequest {
  const { request } = url.protocol === 'https:' ? https : http;
  return request(url, options);
}
