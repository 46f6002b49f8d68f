import { Worker } from 'node:worker_threads';

/** What to draw: data only. The picture is the same, byte for byte, wherever and however often it is drawn. */
export interface Chart {
  /** The claim the picture makes, up to about 40 characters. */
  readonly title: string;
  /** A second line: of what, when. */
  readonly subtitle?: string;
  /** One a point on the horizontal axis; as many are shown as fit. */
  readonly labels: readonly string[];
  /** One to three, above each other with the same horizontal axis, since what differs in size shares no scale. */
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly kind: 'line' | 'bars' | 'stacked';
  /** What the vertical axis counts. */
  readonly name: string;
  /** One to six, told apart by colour and by form. */
  readonly series: readonly Series[];
}

interface Series {
  readonly name: string;
  /** One a label; null where nothing was reported: a gap. */
  readonly values: readonly (number | null)[];
}

export interface Charts {
  /** A PNG, about 1 200 pixels wide. One after the other, since each takes a tenth of a second of a core. */
  readonly draw: (chart: Chart) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
}

/** What the worker answers. */
export type Drawn = { readonly png: Uint8Array } | { readonly error: string };

/**
 * Draws in a thread of its own, so that no acknowledgement waits for a picture. The thread starts with the first
 * chart and ends after `idleMs` without one: the drawing libraries cost memory, and most hours need no chart.
 */
export function createCharts(options: { idleMs?: number; timeoutMs?: number } = {}): Charts {
  const { idleMs = 60_000, timeoutMs = 20_000 } = options;
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let before: Promise<unknown> = Promise.resolve();

  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  };

  const drawOne = (chart: Chart): Promise<Uint8Array> => {
    clearTimeout(idle);
    const drawing = (worker ??= new Worker(new URL('./worker.ts', import.meta.url)));
    drawing.ref();
    return new Promise<Uint8Array>((resolve, reject) => {
      const fail = (error: Error): void => {
        if (worker === drawing) worker = undefined;
        void drawing.terminate();
        settle();
        reject(error);
      };
      const exited = (): void => fail(new Error('the drawing thread ended before the chart was drawn'));
      const timer = setTimeout(
        () => fail(new Error(`a chart was not drawn within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const answered = (drawn: Drawn): void => {
        settle();
        if ('error' in drawn) reject(new Error(drawn.error));
        else resolve(drawn.png);
      };
      const settle = (): void => {
        clearTimeout(timer);
        drawing.off('message', answered).off('error', fail).off('exit', exited);
      };
      drawing.on('message', answered).on('error', fail).on('exit', exited);
      drawing.postMessage(chart);
    }).finally(() => {
      // Idle, it keeps no process from ending.
      drawing.unref();
      idle = setTimeout(() => void end(), idleMs);
      idle.unref();
    });
  };

  return {
    draw(chart) {
      const drawn = before.then(() => drawOne(chart));
      before = drawn.catch(() => undefined);
      return drawn;
    },
    async close() {
      await before;
      await end();
    },
  };
}
