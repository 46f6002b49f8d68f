import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

export interface FileTarget {
  readonly url: URL;
  /** With the length: else it would be sent as a file of unknown length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly moved: (bytes: number) => void;
}

export interface FileReply {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Posts a file and waits for the answer. Memory does not grow with a file that comes in pieces. */
export async function postFile(
  content: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { url, headers, signal, moved }: FileTarget,
): Promise<FileReply> {
  const body =
    content instanceof Uint8Array ? content : Readable.from(report(content, moved), { objectMode: false });
  const answer = await send(url, { method: 'POST', headers, body, signal });
  await answer.body.dump();
  const header = answer.headers['retry-after'];
  return { status: answer.statusCode, retryAfter: Array.isArray(header) ? header[0] : header };
}

async function* report(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  moved: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) {
    moved(piece.length);
    yield piece;
  }
}

/** `fetch` for a large file. Unlike the platform's, it fails where a compressed file breaks off. It follows no redirect. */
export const fetchFile: typeof globalThis.fetch = async (input, init = {}) => {
  const { method = 'GET', body, headers, signal } = init;
  if (body && typeof body !== 'string') throw new TypeError('only a string can be the body of this request');
  const answer = await send(new URL(input instanceof Request ? input.url : input), {
    method: method === 'POST' ? 'POST' : 'GET',
    headers: { 'accept-encoding': 'gzip, deflate, br', ...Object.fromEntries(new Headers(headers)) },
    body: body ?? null,
    signal: signal ?? null,
  });
  const encoding = String(answer.headers['content-encoding'] ?? '').toLowerCase();
  const decompress = decompressors[encoding];
  const bytes = decompress ? pipeline(answer.body, decompress(), () => undefined) : answer.body;
  const hasBody = ![204, 205, 304].includes(answer.statusCode);
  if (!hasBody) await answer.body.dump();
  return new Response(hasBody ? (Readable.toWeb(bytes) as ReadableStream<Uint8Array>) : null, {
    status: answer.statusCode,
    headers: Object.entries(answer.headers).flatMap(([name, values]) =>
      [values ?? []].flat().map((value): [string, string] => [name, value]),
    ),
  });
};

const decompressors: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

async function send(
  url: URL,
  options: {
    readonly method: 'GET' | 'POST';
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | Uint8Array | Readable | null;
    readonly signal: AbortSignal | null;
  },
) {
  // Loading it takes a tenth of a second.
  const { request } = await import('undici');
  // Its clocks count from the first byte sent, and a large file takes longer than five minutes. Callers have their own.
  return request(url, { ...options, headersTimeout: 0, bodyTimeout: 0 });
}
