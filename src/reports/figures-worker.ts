import { parentPort, workerData } from 'node:worker_threads';
import { createEventFigures } from './event-figures.ts';
import {
  type FiguresThreadData,
  type FromFiguresThread,
  slotBytes,
  type ToFiguresThread,
} from './figures-thread.ts';

// The thread of `figures-thread.ts`: filled slots come in, they go back free, and in the end figures go out.
const { memory, options } = workerData as FiguresThreadData;
const bytes = new Uint8Array(memory);
const counter = createEventFigures(options);
const tell = (message: FromFiguresThread): void => parentPort?.postMessage(message);

parentPort?.on('message', (message: ToFiguresThread | undefined) => {
  if (!message) return tell({ figures: counter.result() });
  const { slot, length } = message;
  counter.add(bytes.subarray(slot * slotBytes, slot * slotBytes + length));
  tell({ free: slot, rows: counter.rows() });
});
