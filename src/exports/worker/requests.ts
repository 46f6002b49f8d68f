import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Taken } from '../../views/blocks/message.ts';
import { detachBuffer } from './detach-buffer.ts';

// Node's own client, which the runtime has loaded anyway: `fetch` copies what it receives, and both are slower.

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** Unpacked. */
  readonly body: Readable;
  /** Whether each of its chunks has memory of its own; what unpacks uses its memory again. */
  readonly isOurs: boolean;
}

const unpacking: Readonly<Record<string, () => NodeJS.ReadWriteStream & Readable>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Asks for something. Redirects are answers like others. `begun` is told of the request, to stop it. */
export async function request(
  url: string,
  given: {
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | undefined;
  },
  begun: (request: ClientRequest) => void,
): Promise<Answer> {
  const { method, headers, body } = given;
  const asking = open(url, method, {
    'accept-encoding': 'gzip, deflate, br',
    ...headers,
    ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
  });
  begun(asking);
  asking.end(body);
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  // What still goes wrong comes out of the body.
  asking.on('error', () => undefined);
  const unpack = unpacking[response.headers['content-encoding']?.toLowerCase() ?? ''];
  return {
    status: response.statusCode ?? 0,
    headers: Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value) => [name, value] as const),
    ),
    body: unpack ? pipeline(response, unpack(), () => undefined) : response,
    isOurs: !unpack,
  };
}

/** Posts a body, whose pieces are gone afterwards. */
export async function post(
  url: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: Readable },
  begun: (request: ClientRequest) => void,
): Promise<Taken> {
  const asking = open(url, 'POST', headers);
  begun(asking);
  body.once('error', (error) => asking.destroy(error));
  body.on('data', (piece: Buffer) => {
    if (!asking.write(piece, () => detachBuffer(piece))) body.pause();
  });
  asking.on('drain', () => body.resume());
  body.once('end', () => asking.end());
  try {
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    asking.on('error', () => undefined);
    response.resume();
    if (!response.readableEnded) await once(response, 'end');
    return { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
  } finally {
    body.destroy();
  }
}

function open(url: string, method: string, headers: Readonly<Record<string, string>>): ClientRequest {
  const { request } = url.startsWith('https:') ? https : http;
  return request(url, { method, headers, agent: false });
}
