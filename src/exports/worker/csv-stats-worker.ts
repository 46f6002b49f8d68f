import { parentPort, workerData } from 'node:worker_threads';
import { createEventStats } from '../stats/event-stats.ts';
import { type FromCsvStatsWorker, slotBytes, type ToCsvStatsWorker } from './csv-stats-thread.ts';

// The thread of `figures-thread.ts`: filled slots come in, they go back free, and in the end figures go out.
const bytes = new Uint8Array(workerData as SharedArrayBuffer);
let counter = createEventStats();
const tell = (message: FromCsvStatsWorker): void => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToCsvStatsWorker) => {
  if (message === 'end') return tell({ figures: counter.result() });
  if ('begin' in message) {
    counter = createEventStats(message.begin);
    return undefined;
  }
  const { slot, length } = message;
  counter.add(bytes.subarray(slot * slotBytes, slot * slotBytes + length));
  return tell({ free: slot, rows: counter.rows() });
});
