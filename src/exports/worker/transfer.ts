import type { Spooled } from '../../views/blocks/message.ts';
import { createIdleWorker } from './idle-worker.ts';
import { type Ask, type Asks, type FromTransfer, slotBytes, slots, type ToTransfer } from './protocol.ts';

/** A file that is being written. */
export interface SpoolFile extends Spooled {
  /**
   * To be awaited before more is given; the piece may then be used again, or the next one be asked for where it was
   * lent. @throws what `inspect` throws; what goes wrong with the disk, at the latest when the file is finished.
   */
  readonly write: (piece: Uint8Array) => Promise<void>;
  /** Everything is there: from now on it can be sent. Gives the SHA-256 of it, hexadecimal. */
  readonly finish: () => Promise<string>;
}

/** Moves what is large without the thread that answers people. */
export interface Transfer {
  /**
   * Like the global one, for texts as bodies; it follows no redirect. The pieces of an answer's body that are as large
   * as a slot are lent: they hold something else once the next one was asked for.
   */
  readonly fetch: typeof globalThis.fetch;
  /** A file of this transfer (`createSealedSpool` says what kind). `inspect` sees everything before it is written. */
  readonly openFile: (directory: string, inspect: (piece: Uint8Array) => void) => Promise<SpoolFile>;
  /** Ends everything that is under way; the files are gone. */
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly resolve: (back: never) => void;
  readonly reject: (error: Error) => void;
  readonly moved: ((bytes: number) => void) | undefined;
}

const spare = createIdleWorker(new URL('./worker.ts', import.meta.url), {
  memoryBytes: slots * slotBytes,
});
// Of all transfers: whoever takes a thread over must not be taken for the one before.
let calls = 0;

/**
 * A thread that receives, encrypts, writes, reads and sends. A file of 200 MB leaves a gigabyte of buffers to the
 * garbage collector, which halts the thread they were made in every 30 MB, for as long as that thread's heap is large:
 * this one has next to none. What arrives is handed out in memory that both share, half a megabyte at a time, so that
 * it can be looked through and counted; what leaves is not seen here again.
 */
export function startTransfer(): Transfer {
  const thread = spare.take();
  const { worker, memory } = thread;
  const waiting = new Map<number, Waiting>();
  /** Bodies and files that are in the thread. */
  const held = new Set<number>();
  let failure: Error | undefined;

  const fail = (error: Error): void => {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  worker
    .on('message', (message: FromTransfer) => {
      const one = waiting.get(message.call);
      if (!one) return;
      if ('moved' in message) return one.moved?.(message.moved);
      waiting.delete(message.call);
      if ('back' in message) one.resolve(message.back as never);
      else one.reject(broken(message.failed.code));
    })
    .on('error', fail)
    .on('exit', () => fail(new Error('the thread that moves files ended before its time')));
  const post = (message: ToTransfer, moved: ArrayBuffer[] = []): void => worker.postMessage(message, moved);

  async function ask<Name extends Ask>(
    name: Name,
    given: Asks[Name]['given'],
    about: AskOptions = {},
  ): Promise<Asks[Name]['back']> {
    const { signal } = about;
    if (failure) throw failure;
    signal?.throwIfAborted();
    const call = about.call ?? newCall();
    const { promise, resolve, reject } = Promise.withResolvers<Asks[Name]['back']>();
    waiting.set(call, { resolve, reject, moved: about.moved });
    const stop = (): void => {
      post({ stop: call });
      waiting.delete(call);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      post({ call, ask: name, given } as ToTransfer, about.handedOver);
      return await promise;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** A body that stays in the thread, as whoever reads it here sees it. */
  function bodyOf(body: number, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const range = await ask('piece', { body }, signal ? { signal } : {});
          if (!range) {
            held.delete(body);
            return controller.close();
          }
          const piece = new Uint8Array(memory, range.from, range.length);
          controller.enqueue(range.length === slotBytes ? piece : piece.slice());
        },
        cancel: () => post({ stop: body }),
      },
      // One at a time: a piece is lent only until the next one is asked for.
      { highWaterMark: 0 },
    );
  }

  return {
    async fetch(input, init) {
      const url = new URL(input instanceof Request ? input.url : input).href;
      const { method = 'GET', body, headers, signal } = init ?? {};
      if (body && typeof body !== 'string') throw new TypeError('Only texts can be sent from here.');
      const call = newCall();
      const given = {
        url,
        method,
        headers: Object.fromEntries(new Headers(headers)),
        body: body ?? undefined,
      };
      held.add(call);
      const answer = await ask('request', given, { call, ...(signal ? { signal } : {}) });
      signal?.addEventListener('abort', () => post({ stop: call }), { once: true });
      const hasBody = ![204, 205, 304].includes(answer.status);
      return new Response(hasBody ? bodyOf(call, signal ?? undefined) : null, {
        status: answer.status,
        headers: answer.headers.map(([name, value]): [string, string] => [name, value]),
      });
    },
    async openFile(directory, inspect) {
      const file = newCall();
      held.add(file);
      await ask('open', { directory }, { call: file });
      let length = 0;
      let writing: Promise<unknown> = Promise.resolve();
      return {
        length: () => length,
        async write(piece) {
          inspect(piece);
          length += piece.length;
          // Two under way at most. The thread does one thing after the other: a piece that is lent is written before
          // the next one can take its place.
          await writing;
          if (piece.buffer === memory) {
            writing = ask('write', { file, piece: { from: piece.byteOffset, length: piece.length } });
          } else {
            const copy = new Uint8Array(piece);
            writing = ask('write', { file, piece: copy }, { handedOver: [copy.buffer] });
          }
          // Whoever waits next hears of a full disk.
          writing.catch(() => undefined);
        },
        async finish() {
          await writing;
          return (await ask('finish', { file })).sha256;
        },
        send: ({ url, headers, signal, moved }) =>
          ask('send', { file, url: url.href, headers }, { signal, moved }),
        async discard() {
          // With the thread the file is gone as well.
          if (failure) return;
          await ask('discard', { file }).catch(() => undefined);
          held.delete(file);
        },
      };
    },
    async close() {
      // What is left in it ends with it.
      const isClean = held.size === 0 && waiting.size === 0 && !failure;
      fail(new Error('the transfer was ended'));
      if (isClean) spare.giveBack(thread);
      else await worker.terminate();
    },
  };
}

function newCall(): number {
  calls += 1;
  return calls;
}

interface AskOptions {
  /** A number that was drawn before. */
  readonly call?: number;
  readonly signal?: AbortSignal;
  readonly moved?: (bytes: number) => void;
  readonly handedOver?: ArrayBuffer[];
}

function broken(code: string | undefined): Error {
  return Object.assign(
    new Error(`a transfer failed (${code ?? 'no code'})`),
    code === undefined ? {} : { code },
  );
}
