import type { ApiError } from './errors.ts';

/** Ends a request that stands still. The clock runs only while something is awaited from the service. */
export interface ReadDeadline {
  readonly signal: AbortSignal;
  readonly timedOut: () => boolean;
  /** From now on the service has this long. */
  readonly start: (ms: number) => void;
  readonly pause: () => void;
  /** Ends the connection if it still stands, and lets go of the caller's signal. */
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

  // One timer that looks at the deadline when it rings: setting one for each chunk costs more than reading it.
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
 * A body, chunk by chunk, with `idleMs` for each. Reading stops the request when it stops: leaving the loop early
 * closes the connection. `broken` makes the error for a body that ends before its end.
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
        // What fetch threw may name the address: nothing of it is kept.
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

export interface Bounds {
  /** Bytes. What is longer is no answer of this service. */
  readonly bytes: number;
  /** For the whole body: dripping in byte by byte would otherwise never be too slow. */
  readonly ms: number;
  readonly tooLong: () => ApiError;
  readonly tooSlow: () => ApiError;
}

/** A small body as text. */
export async function readText(chunks: AsyncIterable<Uint8Array>, bounds: Bounds): Promise<string> {
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
