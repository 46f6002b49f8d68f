import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { readRetryAfter } from '../../api/http/retry.ts';
import type { Destination, Spooled, Taken } from '../../views/blocks/message.ts';

/** `message` may be shown to people: it holds no foreign text. */
export class UploadError extends Error {
  override readonly name = 'UploadError';
  /** `upload_failed` may succeed later; the others are permanent. */
  readonly code: 'upload_failed' | 'upload_refused' | 'upload_too_large';
  /** The pause that Slack asked for. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    {
      code = 'upload_failed',
      retryAfterSeconds,
      cause,
    }: {
      readonly code?: UploadError['code'];
      readonly retryAfterSeconds?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Bytes that are to be sent: in memory, in a file, or spooled. */
export type Source = Uint8Array | { readonly path: string } | { readonly spooled: Spooled };

export async function findLength(source: Source): Promise<number> {
  if ('path' in source) return (await stat(source.path)).size;
  return 'spooled' in source ? source.spooled.length() : source.byteLength;
}

// The deadline of an upload: a base, and the slowest accepted rate.
const baseMs = 20_000;
const bytesPerMs = 100;
// An upload without any progress is aborted much earlier.
const stallMs = 30_000;

/** Sends all of it to the address that Slack named for it. @throws UploadError where it is not taken. */
export async function sendFile(source: Source, to: Omit<Destination, 'moved'>): Promise<void> {
  const deadline = AbortSignal.timeout(baseMs + Math.ceil((await findLength(source)) / bytesPerMs));
  const stall = createStallWatch();
  const { signal } = to;
  const taken = await put(source, {
    ...to,
    signal: AbortSignal.any([signal, deadline, stall.signal]),
    moved: stall.moved,
  }).finally(stall.end);
  if (taken.status !== 200) throw refusal(taken);
}

// Client errors that are temporary.
const temporary = new Set([408, 425, 429]);

function refusal({ status, retryAfter }: Taken): UploadError {
  if (status === 413)
    return new UploadError('Slack does not take a file of this size (HTTP 413).', {
      code: 'upload_too_large',
    });
  const isPermanent = status >= 400 && status < 500 && !temporary.has(status);
  return new UploadError(`Slack did not take the file (HTTP ${status}).`, {
    code: isPermanent ? 'upload_refused' : 'upload_failed',
    retryAfterSeconds: readRetryAfter(retryAfter ?? null, Date.now()),
  });
}

async function put(source: Source, to: Destination): Promise<Taken> {
  if ('spooled' in source) return source.spooled.send(to);
  const { url, headers, signal, moved } = to;
  // Loaded with the first file: it would cost a tenth of a second at the start.
  const { request } = await import('undici');
  const answer = await request(url, {
    method: 'POST',
    headers,
    body: bodyOf(source, moved),
    signal,
    // undici counts from the first byte sent, and a large file takes longer than its five minutes.
    headersTimeout: 0,
  });
  await answer.body.dump();
  const header = answer.headers['retry-after'];
  return { status: answer.statusCode, retryAfter: Array.isArray(header) ? header[0] : header };
}

/** `moved` is called whenever Slack has taken something. */
function bodyOf(
  source: Uint8Array | { readonly path: string },
  moved: (bytes: number) => void,
): Readable | Uint8Array {
  if (source instanceof Uint8Array) return source;
  return Readable.from(watched(createReadStream(source.path), moved), { objectMode: false });
}

async function* watched(
  pieces: AsyncIterable<Uint8Array>,
  moved: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  for await (const piece of pieces) {
    moved(piece.length);
    yield piece;
  }
}

/** Aborts when nothing has been sent for a while. */
function createStallWatch(): { signal: AbortSignal; moved: () => void; end: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DOMException('Slack stopped taking the file', 'TimeoutError')),
    stallMs,
  );
  return {
    signal: controller.signal,
    moved: () => void timer.refresh(),
    end: () => clearTimeout(timer),
  };
}
