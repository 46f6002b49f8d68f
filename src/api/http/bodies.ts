import { type ApiError, isObject } from './errors.ts';

/** Aborts a request whose answer stalls. The clock runs only while the service is awaited. */
export interface ReadDeadline {
  readonly signal: AbortSignal;
  readonly timedOut: () => boolean;
  /** Gives the service this long from now. */
  readonly start: (ms: number) => void;
  readonly pause: () => void;
  /** Closes the connection if it is still open, and removes the listener from the caller's signal. */
  readonly end: () => void;
}

export function createReadDeadline(outer: AbortSignal | undefined): ReadDeadline {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let deadline = Number.POSITIVE_INFINITY;
  let timedOut = false;
  const abort = () => controller.abort();
  if (outer?.aborted) abort();
  else outer?.addEventListener('abort', abort, { once: true });

  // One timer checks the deadline when it fires: setting one for each chunk costs more than reading it.
  function ring(): void {
    const left = deadline - performance.now();
    timer = undefined;
    if (left === Number.POSITIVE_INFINITY) return;
    if (left > 0) {
      timer = setTimeout(ring, left);
      return;
    }
    timedOut = true;
    abort();
  }

  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    start(ms) {
      deadline = performance.now() + ms;
      timer ??= setTimeout(ring, ms);
    },
    pause() {
      deadline = Number.POSITIVE_INFINITY;
    },
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
      abort();
    },
  };
}

/**
 * A body, chunk by chunk, with `idleMs` for each. Leaving the loop early closes the connection. `broken` creates the
 * error for a body that is cut short.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array> | null,
  watch: ReadDeadline,
  idleMs: number,
  broken: () => ApiError,
): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  try {
    if (!reader) return;
    for (;;) {
      watch.start(idleMs);
      const { done, value } = await reader.read().catch(() => {
        // The error of fetch may contain the address, so it is dropped.
        throw broken();
      });
      watch.pause();
      if (done) return;
      if (value.length > 0) yield value;
    }
  } finally {
    watch.end();
  }
}

export interface TextLimits {
  /** Bytes. No answer of this service is longer. */
  readonly bytes: number;
  /** For the whole body: one byte at a time would otherwise never be too slow. */
  readonly ms: number;
  readonly tooLong: () => ApiError;
  readonly tooSlow: () => ApiError;
}

/** A small body as text. */
export async function readText(chunks: AsyncIterable<Uint8Array>, bounds: TextLimits): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const end = performance.now() + bounds.ms;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bounds.bytes) throw bounds.tooLong();
    if (performance.now() > end) throw bounds.tooSlow();
    parts.push(chunk);
  }
  // TextDecoder drops a byte order mark, which JSON.parse would refuse.
  return new TextDecoder().decode(Buffer.concat(parts));
}

/** JSON.parse of a list, except that elements with an id beyond 2^53 have their ids as text, digit by digit. */
export function parseListWithExactIds(json: string): readonly unknown[] {
  const elements = JSON.parse(json) as unknown[];
  if (!elements.some(hasInexactId)) return elements;
  const exact = parseWithExactIds(json) as unknown[];
  return elements.map((element, index) => (hasInexactId(element) ? exact[index] : element));
}

/**
 * Whether an id in it is beyond what JSON.parse keeps exactly (2^53; the specification says int64): those whose digits
 * matter, since they are shown, compared and put into paths. Written out, as it runs for each zone of a long list.
 */
function hasInexactId(raw: unknown): boolean {
  return (
    isObject(raw) &&
    (isInexact(raw['Id']) ||
      isInexact(raw['StorageZoneId']) ||
      isInexact(raw['EdgeScriptId']) ||
      isInexact(raw['MiddlewareScriptId']))
  );
}

/**
 * JSON.parse, except that ids beyond 2^53 come as text, digit by digit. Slower: only for where such an id was seen,
 * or for small documents.
 */
export function parseWithExactIds(json: string): unknown {
  return JSON.parse(json, keepExactId) as unknown;
}

// The third argument is newer than the library's types.
function keepExactId(name: string, value: unknown, ...[context]: [{ readonly source?: string }?]): unknown {
  return /id$/i.test(name) && isInexact(value) ? (context?.source ?? value) : value;
}

function isInexact(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}
