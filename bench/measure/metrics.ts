import { setTimeout as pause } from 'node:timers/promises';

/** A scrape: a metric's value by its name, samples with labels added up. */
export type Scrape = (name: string) => number;

/** What the thread that answers did while it had work: how late its event loop was, ms. */
interface Delay {
  readonly port: number;
  readonly p99: number;
  readonly worst: number;
}

/** The bot's metrics sample every 10 ms, and the sample of an idle loop reads as those 10 ms. */
const samplingMs = 10;
const bots = new Set<number>();
/** Ports under load, and whether their first reading is over. */
const watched = new Map<number, boolean>();
let delays: Delay[] = [];
let areReported = false;
let ignoring = 0;

/** Reads the bot's own `/metrics`. @throws Error where it does not answer. */
export async function readMetrics(port: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  const samples = new Map<string, number>();
  for (const line of (await response.text()).split('\n')) {
    const [, name, value] = /^([a-z]\w*)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name !== undefined) samples.set(name, (samples.get(name) ?? 0) + Number(value));
  }
  const read: Scrape = (name) => samples.get(name) ?? Number.NaN;
  recordEventLoop(port, read);
  return read;
}

/** Reads `/metrics` again and again; a process that is busy may not answer every time. */
export function sampleMetrics(port: number, everyMs: number) {
  const scrapes: { readonly at: number; readonly read: Scrape }[] = [];
  const ending = new AbortController();
  const sampling = (async () => {
    while (!ending.signal.aborted) {
      const at = performance.now();
      const read = await readMetrics(port).catch(() => undefined);
      if (read) scrapes.push({ at, read });
      await pause(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    scrapes,
    stop(): Promise<void> {
      ending.abort();
      return sampling;
    },
  };
}

/** Bots are watched, their peers have no metrics. */
export function registerBot(port: number): void {
  bots.add(port);
}

/**
 * Runs the load that is put on `port`. Where a bot listens there, its event loop is read for that time, for the next
 * finding. Each reading of the metrics starts them anew.
 */
export async function watchEventLoop<T>(port: number, run: () => Promise<T>): Promise<T> {
  if (!bots.has(port) || watched.has(port) || ignoring > 0) return run();
  if (areReported) forgetEventLoop();
  // What is read first belongs to the time before.
  watched.set(port, false);
  try {
    await readMetrics(port);
    watched.set(port, true);
    const result = await run();
    await readMetrics(port);
    return result;
  } finally {
    watched.delete(port);
  }
}

/** One that others take meanwhile counts as well. */
function recordEventLoop(port: number, read: Scrape): void {
  const [p99, worst] = [read('nodejs_eventloop_lag_p99_seconds'), read('nodejs_eventloop_lag_max_seconds')];
  // Another checkout may not have them.
  if (watched.get(port) !== true || Number.isNaN(worst)) return;
  delays.push({ port, p99: toDelay(p99), worst: toDelay(worst) });
}

function toDelay(seconds: number): number {
  return Math.max(0, seconds * 1000 - samplingMs);
}

/** Leaves out the event loop of a warm-up, or of what others are compared with. */
export async function ignoreEventLoop<T>(run: () => Promise<T>): Promise<T> {
  ignoring += 1;
  return run().finally(() => {
    ignoring -= 1;
  });
}

/** What was read so far was a warm-up. */
export function forgetEventLoop(): void {
  delays = [];
  areReported = false;
}

/** The worst of all readings since the finding before, of one bot or of all; findings without load between share them. */
export function summarizeEventLoop(
  port?: number,
): { readonly p99: number; readonly worst: number } | undefined {
  areReported = true;
  const own = delays.filter((one) => port === undefined || one.port === port);
  if (own.length === 0) return undefined;
  return { p99: Math.max(...own.map(({ p99 }) => p99)), worst: Math.max(...own.map(({ worst }) => worst)) };
}
