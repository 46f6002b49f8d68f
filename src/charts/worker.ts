import { parentPort } from 'node:worker_threads';
import type { Chart } from './chart.ts';
import type { Drawn } from './charts.ts';
import { drawPicture } from './picture.ts';

// The thread of `charts.ts`: a chart comes in, a picture goes out.
parentPort?.on('message', (chart: Chart) => {
  parentPort?.postMessage(attempt(chart));
});

function attempt(chart: Chart): Drawn {
  try {
    return { png: drawPicture(chart) };
  } catch (error) {
    return { error: `a chart could not be drawn: ${error instanceof Error ? error.message : String(error)}` };
  }
}
