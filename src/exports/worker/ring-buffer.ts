import { finished } from 'node:stream';
import { detachBuffer } from './detach-buffer.ts';
import { type Range, slotBytes, slots } from './protocol.ts';
import type { Answer } from './requests.ts';

/** A body that is put down in memory as it comes, a few slots ahead of whoever takes it. */
export interface RingBuffer {
  /** The next piece, there until the one after it is asked for; undefined at the end. @throws what broke it off. */
  readonly next: () => Promise<Range | undefined>;
}

// A slot that does not fill is handed out after a while, so that a slow body is not taken for one that stands still.
const patienceMs = 5;

/** `isOurs`: nobody else goes on with the memory of its chunks. */
export function createRingBuffer(
  { body, isOurs }: Pick<Answer, 'body' | 'isOurs'>,
  memory: Uint8Array,
): RingBuffer {
  const free = Array.from({ length: slots }, (_, slot) => slot);
  const filled: { readonly slot: number; readonly length: number }[] = [];
  let slot: number | undefined;
  let length = 0;
  let lent: number | undefined;
  /** What came when there was no room left. */
  let rest: Buffer | undefined;
  let over: { readonly error: unknown } | undefined;
  let waiting: PromiseWithResolvers<Range | undefined> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const close = (): void => {
    if (slot === undefined || length === 0) return;
    filled.push({ slot, length });
    slot = undefined;
    length = 0;
  };
  const put = (chunk: Buffer): void => {
    for (let taken = 0; taken < chunk.length; ) {
      slot ??= free.shift();
      if (slot === undefined) {
        rest = chunk.subarray(taken);
        body.pause();
        return;
      }
      const part = chunk.subarray(taken, taken + slotBytes - length);
      memory.set(part, slot * slotBytes + length);
      taken += part.length;
      length += part.length;
      if (length === slotBytes) close();
    }
  };
  const serve = (): void => {
    if (!waiting) return;
    if (over && !rest) close();
    const next = filled.shift();
    if (!next && !over) {
      if (length > 0) timer ??= setTimeout(flush, patienceMs);
      return;
    }
    const { resolve, reject } = waiting;
    waiting = undefined;
    if (next) {
      lent = next.slot;
      resolve({ from: next.slot * slotBytes, length: next.length });
    } else if (over?.error) reject(over.error);
    else resolve(undefined);
  };
  const flush = (): void => {
    timer = undefined;
    if (!waiting) return;
    close();
    serve();
  };

  body.on('data', (chunk: Buffer) => {
    put(chunk);
    if (isOurs && !rest) detachBuffer(chunk);
    serve();
  });
  finished(body, { writable: false }, (error) => {
    over = { error };
    serve();
  });

  return {
    next() {
      if (lent !== undefined) free.push(lent);
      lent = undefined;
      if (rest) {
        const chunk = rest;
        rest = undefined;
        put(chunk);
        if (!rest) body.resume();
      }
      waiting = Promise.withResolvers<Range | undefined>();
      const { promise } = waiting;
      serve();
      return promise;
    },
  };
}
