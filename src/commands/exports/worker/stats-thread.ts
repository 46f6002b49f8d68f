import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createEventStats, type EventStats, type EventStatsOptions } from '../stats/event-stats.ts';
import { detachBuffer } from './encrypted-temp-file.ts';

type ToStats = { readonly begin: EventStatsOptions } | { readonly pieces: readonly Uint8Array[] } | 'end';
type FromStats = { readonly rows: number } | { readonly stats: EventStats };

// Waking a thread takes up to 0.2 ms on a busy machine: a few large messages instead of many small ones.
const batchBytes = 1_048_576;
const mostBatches = 2;
const role = 'event-stats';

// The thread stays for the next export.
let thread: Worker | undefined;

/**
 * Counting takes as long as receiving, hashing, encrypting and writing together, so it has a thread of its own. Pieces
 * are handed over without a copy. A log below 1 MB is counted here: starting the thread would take longer.
 */
export function startStatsThread(options: EventStatsOptions) {
  let batch: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  let underWay = 0;
  let rows = 0;
  let worker: Worker | undefined;
  let failure: Error | undefined;
  let stats: EventStats | undefined;
  let wake: (() => void) | undefined;

  const fail = (error: Error): void => {
    failure ??= error;
    thread = undefined;
    wake?.();
  };
  const start = (): Worker => {
    thread ??= new Worker(new URL(import.meta.url), { workerData: role });
    for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event);
    thread
      .on('message', (message: FromStats) => {
        if ('stats' in message) stats = message.stats;
        else {
          underWay -= 1;
          rows = message.rows;
        }
        wake?.();
      })
      .on('error', fail)
      .on('exit', () => fail(new Error('the thread that counts events ended unexpectedly')));
    thread.postMessage({ begin: options } satisfies ToStats);
    return thread;
  };
  const flush = (): void => {
    worker ??= start();
    const pieces = batch;
    batch = [];
    length = 0;
    underWay += 1;
    worker.postMessage(
      { pieces } satisfies ToStats,
      pieces.map(({ buffer }) => buffer),
    );
  };
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached()) {
      if (failure) throw failure;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };

  return {
    /** Takes the memory of the piece: it is empty afterwards. Resolves when more may come. */
    async add(piece: Uint8Array): Promise<void> {
      batch.push(ownsMemory(piece) ? piece : new Uint8Array(piece));
      length += piece.length;
      if (length < batchBytes) return;
      flush();
      await until(() => underWay < mostBatches);
    },
    /** Counted so far. */
    rows: () => rows,
    /** Once, after the last piece. */
    async result(): Promise<EventStats> {
      if (!worker) {
        const counter = createEventStats(options);
        for (const piece of batch) counter.add(piece);
        return counter.result();
      }
      flush();
      worker.postMessage('end' satisfies ToStats);
      await until(() => stats !== undefined);
      return stats as EventStats;
    },
    /** Gives up counting. */
    cancel(): void {
      thread = undefined;
      void worker?.terminate();
    },
  };
}

function ownsMemory(piece: Uint8Array): piece is Uint8Array<ArrayBuffer> {
  return piece.buffer instanceof ArrayBuffer && piece.buffer.byteLength === piece.byteLength;
}

// The thread's side.
if (!isMainThread && workerData === role) {
  let counter = createEventStats();
  const tell = (message: FromStats): void => parentPort?.postMessage(message);
  parentPort?.on('message', (message: ToStats) => {
    if (message === 'end') return tell({ stats: counter.result() });
    if ('begin' in message) {
      counter = createEventStats(message.begin);
      return undefined;
    }
    for (const piece of message.pieces) {
      counter.add(piece);
      detachBuffer(piece);
    }
    return tell({ rows: counter.rows() });
  });
}
