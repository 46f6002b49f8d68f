import { createEventStats, type EventStats, type EventStatsOptions } from '../stats/event-stats.ts';
import { createIdleWorker, type Thread } from './idle-worker.ts';

/** An `EventCounter` that does its counting elsewhere. */
export interface CsvStatsThread {
  /** Takes the next piece, which may be used again afterwards. To be awaited before more is given. */
  readonly add: (piece: Uint8Array) => Promise<void>;
  /** So far, as far as is known here. */
  readonly rows: () => number;
  /** Once, after the last piece. */
  readonly result: () => Promise<EventStats>;
  /** Ends the thread, whether everything was counted or not. */
  readonly close: () => Promise<void>;
}

/** Begins with a new log; counts these bytes of the shared memory; that was all. */
export type ToCsvStatsWorker =
  | { readonly begin: EventStatsOptions }
  | { readonly slot: number; readonly length: number }
  | 'end';
export type FromCsvStatsWorker =
  | { readonly free: number; readonly rows: number }
  | { readonly figures: EventStats };

// Waking a thread takes a fifth of a millisecond on a busy machine: few large slots, not many small ones.
export const slotBytes = 1_048_576;
const slots = 6;
const spare = createIdleWorker(new URL('./csv-stats-worker.ts', import.meta.url), {
  memoryBytes: slots * slotBytes,
});

/**
 * Counts an event log in a thread of its own: hashing and reading take about three times as long as receiving and
 * sending, and the thread that acknowledges commands has to do those. The bytes are handed over in memory that both
 * share, a few megabytes that are used again and again. Whoever is faster than the thread waits.
 */
export function createCsvStatsThread(options: EventStatsOptions = {}): CsvStatsThread {
  // The first slot; once it is full there is a thread, and memory that is shared with it.
  let bytes: Uint8Array = new Uint8Array(slotBytes);
  const free = Array.from({ length: slots }, (_, slot) => slot);
  let slot: number | undefined;
  let length = 0;
  let rows = 0;
  let thread: Thread | undefined;
  let failure: Error | undefined;
  let figures: EventStats | undefined;
  let wake: (() => void) | undefined;

  const fail = (error: Error): void => {
    failure ??= error;
    wake?.();
  };
  const hear = (message: FromCsvStatsWorker): void => {
    if ('figures' in message) figures = message.figures;
    else {
      free.push(message.free);
      rows = message.rows;
    }
    wake?.();
  };
  const start = (): Thread => {
    const begun = spare.take();
    begun.worker
      .on('message', hear)
      .on('error', fail)
      .on('exit', () => fail(new Error('the counting thread ended before its time')));
    tell(begun, { begin: options });
    const shared = new Uint8Array(begun.memory);
    shared.set(bytes);
    bytes = shared;
    return begun;
  };

  /** Waits until there is something to go on with. @throws what ended the thread. */
  const until = async <T>(look: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (failure) throw failure;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };

  const handOver = (): void => {
    if (slot === undefined) return;
    thread ??= start();
    tell(thread, { slot, length });
    slot = undefined;
    length = 0;
  };

  return {
    async add(piece) {
      for (let taken = 0; taken < piece.length; ) {
        slot ??= await until(() => free.shift());
        const part = piece.subarray(taken, taken + slotBytes - length);
        bytes.set(part, slot * slotBytes + length);
        taken += part.length;
        length += part.length;
        if (length === slotBytes) handOver();
      }
    },
    rows: () => rows,
    async result() {
      if (thread) {
        handOver();
        tell(thread, 'end');
        return until(() => figures);
      }
      // What is smaller than a slot is counted here in the time that a thread takes to start.
      const counter = createEventStats(options);
      counter.add(bytes.subarray(0, length));
      return counter.result();
    },
    async close() {
      const isClean = figures !== undefined && !failure;
      failure ??= new Error('the counting was ended');
      wake?.();
      const ended = thread;
      thread = undefined;
      if (!ended) return;
      // Its figures are the last it says.
      if (isClean) spare.giveBack(ended);
      else await ended.worker.terminate();
    },
  };
}

function tell({ worker }: Thread, message: ToCsvStatsWorker): void {
  worker.postMessage(message);
}
