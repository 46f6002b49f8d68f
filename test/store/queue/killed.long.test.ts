import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { prepareEngines } from '../../support/engines.ts';

const engines = await prepareEngines();
const running = new Set<ChildProcess>();
afterEach(async () => {
  for (const child of running) await kill(child);
});

interface Worker {
  readonly child: ChildProcess;
  /** Resolves with the time at which it printed this line. */
  readonly says: (line: string) => Promise<number>;
}

async function startWorker(dataDir: string, databaseUrl: string | undefined): Promise<Worker> {
  const path = new URL('queue-process.ts', import.meta.url).pathname;
  const child = fork(path, [dataDir, databaseUrl ?? ''], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  running.add(child);
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const says = async (line: string): Promise<number> => {
    await expect.poll(() => printed, { timeout: 60_000, interval: 20 }).toContain(`${line}\n`);
    return performance.now();
  };
  await says('ready');
  return { child, says };
}

async function kill(child: ChildProcess): Promise<void> {
  if (!running.delete(child)) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

describe('the job of a process that is killed', () => {
  test.skipIf(engines.postgres.skip)(
    'begins again on another process within 20 s',
    async () => {
      const { dataDir, databaseUrl } = await engines.postgres.createLocation();
      const first = await startWorker(dataDir, databaseUrl?.reveal());
      first.child.send('enqueue');
      await first.says('begun 1');
      const second = await startWorker(dataDir, databaseUrl?.reveal());
      const killed = performance.now();
      await kill(first.child);
      expect((await second.says('begun 2')) - killed).toBeLessThan(20_000);
    },
    120_000,
  );

  test('begins again soon after the embedded database is opened again', async () => {
    const { dataDir } = await engines.embedded.createLocation();
    const first = await startWorker(dataDir, undefined);
    first.child.send('enqueue');
    await first.says('begun 1');
    await kill(first.child);
    const second = await startWorker(dataDir, undefined);
    const ready = performance.now();
    expect((await second.says('begun 2')) - ready).toBeLessThan(5_000);
    await kill(second.child);
    const third = await startWorker(dataDir, undefined);
    await third.says('put aside 3');
  }, 120_000);
});
