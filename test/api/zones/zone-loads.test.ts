import { expect, test } from 'vitest';
import { createZoneLoads, type MakeRoom } from '../../../src/api/zones/zone-loads.ts';

/** A load that tells when it may hold its zones, and ends when it is let go. */
function createLoad(zones: number) {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  let isHolding = false;
  const start = async (_: AbortSignal, makeRoom: MakeRoom): Promise<{ zones: number }> => {
    begun.resolve();
    await makeRoom(zones);
    isHolding = true;
    await end.promise;
    return { zones };
  };
  return { start, begun: begun.promise, end: () => end.resolve(), isHolding: () => isHolding };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('loads hold no more zones together than the bound, each in its turn; the oldest never waits', async () => {
  const loads = createZoneLoads(100);
  const [large, small, wide] = [createLoad(500), createLoad(30), createLoad(80)];
  const results = [large, small, wide].map((load, nth) => loads.read(`account ${nth}`, load.start));
  await settle();
  expect([large, small, wide].map(({ isHolding }) => isHolding())).toEqual([true, false, false]);
  large.end();
  await settle();
  expect([small, wide].map(({ isHolding }) => isHolding())).toEqual([true, false]);
  small.end();
  await settle();
  expect(wide.isHolding()).toBe(true);
  wide.end();
  expect(await Promise.all(results)).toEqual([{ zones: 500 }, { zones: 30 }, { zones: 80 }]);
});

test('a load that fails or that nobody waits for any more gives its room back', async () => {
  const loads = createZoneLoads(100);
  const failing = loads.read('a', async (_, makeRoom) => {
    await makeRoom(90);
    throw new Error('broken');
  });
  await expect(failing).rejects.toThrow('broken');
  const gone = new AbortController();
  const abandoned = loads.read(
    'b',
    (signal, makeRoom) =>
      makeRoom(90).then(
        () =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
      ),
    gone.signal,
  );
  await settle();
  gone.abort();
  await expect(abandoned).rejects.toMatchObject({ code: 'cancelled' });
  const [first, second] = [createLoad(90), createLoad(10)];
  const results = [loads.read('c', first.start), loads.read('d', second.start)];
  await settle();
  expect([first.isHolding(), second.isHolding()]).toEqual([true, true]);
  first.end();
  second.end();
  await Promise.all(results);
});

test('a load that grows waits as it goes, and two that grow never wait for each other', async () => {
  const loads = createZoneLoads(100);
  const held: Record<string, number> = {};
  const grow = (name: string) => async (_: AbortSignal, makeRoom: MakeRoom) => {
    for (let zones = 10; zones <= 90; zones += 10) {
      await makeRoom(zones);
      held[name] = zones;
      await settle();
    }
    return { name };
  };
  const both = await Promise.all([loads.read('a', grow('a')), loads.read('b', grow('b'))]);
  expect(both).toEqual([{ name: 'a' }, { name: 'b' }]);
  expect(held).toEqual({ a: 90, b: 90 });
});
