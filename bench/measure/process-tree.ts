import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { residentMemory } from './processes.ts';

const everyMs = 100;

/**
 * Samples ten times a second the resident memory of every process that this one starts from now on, with its children,
 * all together. What they share counts for each.
 */
export async function sampleNewProcesses() {
  const known = new Set(await childrenOf(process.pid));
  const samples: { readonly at: number; readonly bytes: number; readonly processes: number }[] = [];
  const ending = new AbortController();
  const sampling = (async () => {
    while (!ending.signal.aborted) {
      const roots = (await childrenOf(process.pid)).filter((pid) => !known.has(pid));
      const pids = await withDescendants(roots);
      // One that has just ended has none.
      const sizes = await Promise.all(pids.map((pid) => residentMemory(pid).catch(() => 0)));
      const bytes = sizes.reduce((sum, size) => sum + (size || 0), 0);
      samples.push({ at: performance.now(), bytes, processes: pids.length });
      await pause(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    samples,
    /** The most there was, since that moment, bytes. */
    peak: (moment = 0): number =>
      Math.max(...samples.filter(({ at }) => at >= moment).map(({ bytes }) => bytes)),
    stop(): Promise<void> {
      ending.abort();
      return sampling;
    },
  };
}

async function withDescendants(pids: readonly number[]): Promise<number[]> {
  const below = await Promise.all(pids.map(async (pid) => withDescendants(await childrenOf(pid))));
  return [...pids, ...below.flat()];
}

/** Each thread has its own. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
}
