import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createDigests } from '../../src/jobs/digest-book.ts';
import { enginesUnderTest } from '../store/engines.ts';
import { alice, bob, digestDesk } from './digest-desk.ts';

const { both } = await enginesUnderTest();

test.each(both.filter(({ skip }) => !skip))(
  'a run that several ask for at once is one run, and the others hear that it is on its way, on $name',
  async (engine) => {
    await using desk = await digestDesk(await engine.empty());
    const { db, audit } = desk;
    const digest = await desk.daily();
    let at = desk.now().getTime();
    // Each press has a moment of its own, so that only the lock keeps them apart.
    const now = (): Date => new Date((at += 1));
    const book = createDigests({ db, audit, now, enqueue: async () => randomUUID() });
    const pressed = await Promise.all(
      Array.from({ length: 8 }, (_, index) => book.runNow(digest, index % 2 === 0 ? alice : bob)),
    );
    expect(pressed.filter(Boolean)).toHaveLength(1);
    desk.later(1_000);
    await desk.work();
    expect(desk.reads()).toHaveLength(1);
  },
);

test('once it is posted others may ask at once, and whoever asked for it some seconds later', async () => {
  const [engine] = both;
  if (!engine) throw new Error('there is no engine');
  await using desk = await digestDesk(await engine.empty());
  const digest = await desk.daily();
  expect(await desk.digests.runNow(digest, alice)).toBe(true);
  desk.later(1_000);
  expect(await desk.digests.runNow(digest, bob)).toBe(false);
  await desk.work();
  expect(await desk.digests.runNow(digest, alice)).toBe(false);
  expect(await desk.digests.runNow(digest, bob)).toBe(true);
  await desk.workFor(10);
  expect(await desk.digests.runNow(digest, alice)).toBe(true);
  await desk.workFor(5);
  expect(desk.reads()).toHaveLength(3);
});
