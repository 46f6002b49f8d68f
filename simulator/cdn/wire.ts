import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import type { Answer } from './answer.ts';
import type { Fault } from './faults.ts';

const largestBody = 5_000_000;

/** The whole request body as text; undefined where it is larger than anything the operations take. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size <= largestBody) parts.push(part);
  }
  return size > largestBody ? undefined : Buffer.concat(parts).toString();
}

/** Ends when the client has gone or the answer is complete. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}

/** Waits as long as the fault says; ends early, by throwing, when the client goes away. */
export async function wait(fault: Fault, gone: AbortSignal): Promise<void> {
  if (fault.delayMs === Infinity) await once(gone, 'abort');
  else if (fault.delayMs) await pause(fault.delayMs, undefined, { signal: gone });
  if (fault.until) await Promise.race([fault.until, once(gone, 'abort')]);
  gone.throwIfAborted();
}

/**
 * Writes the answer, respecting how fast the client reads. A text gets a Content-Length, a stream goes in chunks unless
 * its length is known. `gzip` compresses; `fault` may slow the body down or break it off.
 */
export async function send(
  response: ServerResponse,
  answer: Answer,
  options: { gzip: boolean; fault: Fault | undefined; gone: AbortSignal },
): Promise<void> {
  const { gzip, fault = {}, gone } = options;
  const whole = typeof answer.body === 'string' ? Buffer.from(answer.body) : undefined;
  const body: Pieces = whole ? [whole] : typeof answer.body === 'object' ? answer.body : [];
  const length = gzip ? undefined : answer.body === undefined ? 0 : (whole?.length ?? answer.length);
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
    ...(length === undefined ? {} : { 'content-length': length }),
    // Of a service that is wrong about its own answer.
    ...fault.headers,
  });
  const packed = gzip ? Readable.from(body, { objectMode: false }).pipe(createGzip()) : body;
  if (fault.drop === 'mid-body') return breakOff(response, packed, fault.afterBytes);
  const slowed = fault.trickle ? trickleBody(packed, fault.trickle, gone) : packed;
  for await (const piece of fault.hold ? holdBody(slowed, fault.hold, gone) : slowed) {
    if (gone.aborted) return;
    if (!response.write(piece)) await once(response, 'drain', { signal: gone });
  }
  response.end();
}

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

async function breakOff(
  response: ServerResponse,
  body: Pieces,
  afterBytes: number | undefined,
): Promise<void> {
  let left = afterBytes;
  for await (const piece of body) {
    left ??= Math.max(1, Math.floor(piece.length / 2));
    const part = piece.subarray(0, left);
    left -= part.length;
    await new Promise((written) => response.write(part, written));
    if (left <= 0) break;
  }
  response.flushHeaders();
  response.destroy();
}

async function* holdBody(body: Pieces, hold: NonNullable<Fault['hold']>, gone: AbortSignal) {
  let left = hold.afterBytes;
  for await (const piece of body) {
    if (left <= piece.length && left >= 0) {
      yield piece.subarray(0, left);
      hold.reached?.();
      await Promise.race([hold.until, once(gone, 'abort')]);
      yield piece.subarray(left);
      left = -1;
      continue;
    }
    left -= left < 0 ? 0 : piece.length;
    yield piece;
  }
}

async function* trickleBody(
  body: Pieces,
  { bytes, everyMs }: NonNullable<Fault['trickle']>,
  gone: AbortSignal,
) {
  for await (const piece of body) {
    for (let start = 0; start < piece.length; start += bytes) {
      yield piece.subarray(start, start + bytes);
      await pause(everyMs, undefined, { signal: gone });
    }
  }
}
