import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { createIdleWorker } from '../../../src/exports/worker/idle-worker.ts';

// Answers with how often it was asked, which only one that was kept knows.
const counting = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    let asked = 0;
    parentPort.on('message', (message) => {
      if (message === 'fail') throw new Error('as it was told');
      parentPort.postMessage((asked += 1));
    });
  `)}`,
);

async function ask({ worker }: { readonly worker: Worker }): Promise<number> {
  worker.postMessage('ask');
  const [answer] = (await once(worker, 'message')) as [number];
  return answer;
}

test('one that was given back is taken again, with its memory, and without who listened before', async () => {
  const spare = createIdleWorker(counting, { memoryBytes: 16 });
  const first = spare.take();
  const heard: unknown[] = [];
  first.worker.on('message', (message) => heard.push(message));
  expect(await ask(first)).toBe(1);
  spare.giveBack(first);
  const second = spare.take();
  expect([second.worker, second.memory]).toEqual([first.worker, first.memory]);
  expect(await ask(second)).toBe(2);
  expect(heard).toEqual([1]);
  await second.worker.terminate();
});

test('two at a time are two, and only one is kept', async () => {
  const spare = createIdleWorker(counting, { memoryBytes: 16 });
  const [one, other] = [spare.take(), spare.take()];
  expect(one.worker).not.toBe(other.worker);
  spare.giveBack(one);
  spare.giveBack(other);
  await once(other.worker, 'exit');
  expect(spare.take().worker).toBe(one.worker);
  await one.worker.terminate();
});

test('one that waits long enough ends', async () => {
  const spare = createIdleWorker(counting, { memoryBytes: 16, idleMs: 20 });
  const first = spare.take();
  await ask(first);
  spare.giveBack(first);
  await once(first.worker, 'exit');
  const second = spare.take();
  expect(second.worker).not.toBe(first.worker);
  await second.worker.terminate();
});

test('one that fails while it waits takes nobody with it, and is not given out', async () => {
  const spare = createIdleWorker(counting, { memoryBytes: 16 });
  const first = spare.take();
  await ask(first);
  spare.giveBack(first);
  first.worker.postMessage('fail');
  await new Promise((resolve) => first.worker.once('exit', resolve));
  const second = spare.take();
  expect(await ask(second)).toBe(1);
  await second.worker.terminate();
});
