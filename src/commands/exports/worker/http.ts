import { once } from 'node:events';
import type { IncomingMessage, RequestOptions } from 'node:http';
import type { OnReadOpts, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { createFetchOverHttp, openRequest } from '../../../api/http/fetch.ts';
import type { Taken } from '../../../views/blocks/blocks.ts';
import { detachBuffer } from './encrypted-temp-file.ts';

/** Bytes read from a connection at once, at the most. */
const readLength = 262_144;

/** `fetch` for files, over a connection of its own. */
export const fetchFile = createFetchOverHttp(ownConnection);

/** Posts a body and reads the answer's status. The memory of each piece is released once it was sent. */
export async function postBody(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Readable,
): Promise<Taken> {
  const request = openRequest(new URL(url), { ...ownConnection(), method: 'POST', headers });
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

/** Not kept: there is one large body and then nothing for long. */
function ownConnection(): RequestOptions & { readonly onread: OnReadOpts } {
  return { agent: false, onread: readIntoOneBuffer() };
}

/**
 * An option of `net.connect` and `tls.connect`. The HTTP client copies what it reads; a new buffer for each read would
 * be garbage at once, tens of megabytes of it, and larger ones cost less.
 */
function readIntoOneBuffer(): OnReadOpts {
  return {
    buffer: Buffer.allocUnsafeSlow(readLength),
    callback(this: Socket, length: number, buffer: Uint8Array): boolean {
      this.emit('data', buffer.subarray(0, length));
      return true;
    },
  };
}
