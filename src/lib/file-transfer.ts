import { Readable } from 'node:stream';

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
  // Loading it takes a tenth of a second.
  const { request } = await import('undici');
  // Its clocks count from the first byte sent, and a large file takes longer than five minutes. Callers have their own.
  const clocks = { headersTimeout: 0, bodyTimeout: 0 };
  const answer = await request(url, { method: 'POST', headers, body, signal, ...clocks });
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
