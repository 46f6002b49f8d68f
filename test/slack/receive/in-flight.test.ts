import { expect, test } from 'vitest';
import { createAckFirstQueue } from '../../../src/slack/receive/in-flight.ts';

const loop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('work begins in the order it came, and all of it does', async () => {
  const turns = createAckFirstQueue();
  const begun: number[] = [];
  await Promise.all(
    Array.from({ length: 500 }, async (_, nth) => {
      const done = await turns.take();
      begun.push(nth);
      await loop();
      done();
    }),
  );
  expect(begun).toEqual(Array.from({ length: 500 }, (_, nth) => nth));
});

test('work starts after the acknowledgement, never in the same turn of the event loop', async () => {
  const turns = createAckFirstQueue();
  let begun = 0;
  void turns.take().then(() => (begun += 1));
  await Promise.resolve();
  expect(begun).toBe(0);
});

test('work that never ends leaves room for the next', async () => {
  const turns = createAckFirstQueue();
  for (let nth = 0; nth < 200; nth += 1) void turns.take();
  await expect(turns.take()).resolves.toBeTypeOf('function');
});
