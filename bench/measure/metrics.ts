import { setTimeout as pause } from 'node:timers/promises';

/** A scrape: a metric's value by its name, samples with labels added up. */
export type Scrape = (name: string) => number;

/** Reads the bot's own `/metrics`. @throws Error where it does not answer. */
export async function readMetrics(port: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  const samples = new Map<string, number>();
  for (const line of (await response.text()).split('\n')) {
    const [, name, value] = /^([a-z]\w*)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name !== undefined) samples.set(name, (samples.get(name) ?? 0) + Number(value));
  }
  return (name) => samples.get(name) ?? Number.NaN;
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
