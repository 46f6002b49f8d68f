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

test('one person’s slow work leaves the turns of others, and their own later ones follow', async () => {
  const turns = createAckFirstQueue();
  const slow: (() => void)[] = [];
  for (let nth = 0; nth < 300; nth += 1) void turns.take('alice').then((end) => slow.push(end));
  for (let nth = 0; nth < 20; nth += 1) (await turns.take('bob'))();
  expect(slow.length).toBeLessThan(50);
  for (let ended = 0; ended < 300; ended += 1) {
    await expect.poll(() => slow.length).toBeGreaterThan(ended);
    slow[ended]?.();
  }
});

test('people take turns, however many pieces of work one of them brought first', async () => {
  const turns = createAckFirstQueue();
  const begun: string[] = [];
  const take = async (owner: string): Promise<void> => {
    const end = await turns.take(owner);
    begun.push(owner);
    end();
  };
  await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(take));
  expect(begun).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a']);
});

test('work that never ends leaves room for the next', async () => {
  const turns = createAckFirstQueue();
  for (let nth = 0; nth < 200; nth += 1) void turns.take(`person ${nth}`);
  await expect(turns.take()).resolves.toBeTypeOf('function');
});
