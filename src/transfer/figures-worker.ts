import { parentPort, workerData } from 'node:worker_threads';
import { createEventFigures } from '../reports/event-figures.ts';
import { type FromFiguresThread, slotBytes, type ToFiguresThread } from './figures-thread.ts';

// The thread of `figures-thread.ts`: filled slots come in, they go back free, and in the end figures go out.
const bytes = new Uint8Array(workerData as SharedArrayBuffer);
let counter = createEventFigures();
const tell = (message: FromFiguresThread): void => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToFiguresThread) => {
  if (message === 'end') return tell({ figures: counter.result() });
  if ('begin' in message) {
    counter = createEventFigures(message.begin);
    return undefined;
  }
  const { slot, length } = message;
  counter.add(bytes.subarray(slot * slotBytes, slot * slotBytes + length));
  return tell({ free: slot, rows: counter.rows() });
});
