import { expect, test } from 'vitest';
import { createFairQueue } from '../../../src/lib/fair-queue.ts';
import { createAckFirstQueue, createInFlight } from '../../../src/slack/receive/in-flight.ts';

const alice = { tenant: 'acme', person: 'alice' };
const bob = { tenant: 'acme', person: 'bob' };

const loop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('work begins in the order it came, and all of it does', async () => {
  const turns = createAckFirstQueue();
  const begun: number[] = [];
  await Promise.all(
    Array.from({ length: 500 }, async (_, nth) => {
      const done = await turns.take(alice);
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
  void turns.take(alice).then(() => (begun += 1));
  await Promise.resolve();
  expect(begun).toBe(0);
});

test('while deliveries keep arriving little of their work starts, and all of it when they end', async () => {
  const turns = createAckFirstQueue();
  const arrivals = 2_000;
  let begun = 0;
  const arrive = async (): Promise<void> => {
    const end = await turns.take(alice);
    begun += 1;
    end();
  };
  for (let nth = 0; nth < arrivals; nth += 1) {
    void arrive();
    await loop();
  }
  expect(begun).toBeLessThan(arrivals / 2);
  await expect.poll(() => begun).toBe(arrivals);
});

test('one person’s slow work leaves the turns of others, and their own later ones follow', async () => {
  const turns = createAckFirstQueue();
  const slow: (() => void)[] = [];
  for (let nth = 0; nth < 300; nth += 1) void turns.take(alice).then((end) => slow.push(end));
  for (let nth = 0; nth < 20; nth += 1) (await turns.take(bob))();
  expect(slow.length).toBeLessThan(50);
  for (let ended = 0; ended < 300; ended += 1) {
    await expect.poll(() => slow.length).toBeGreaterThan(ended);
    slow[ended]?.();
  }
});

test('people take turns, however many pieces of work one of them brought first', async () => {
  const turns = createAckFirstQueue();
  const begun: string[] = [];
  const take = async (person: string): Promise<void> => {
    const end = await turns.take({ tenant: 'acme', person });
    begun.push(person);
    end();
  };
  await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(take));
  expect(begun).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a']);
});

test('a workspace of thousands leaves a quarter to the next, and two leave a seventh', async () => {
  const turns = createAckFirstQueue();
  const running = new Map<string, number>();
  const flood = (tenant: string): void => {
    for (let nth = 0; nth < 5_000; nth += 1) {
      const taken = turns.take({ tenant, person: `person ${nth}` });
      void taken.then(() => running.set(tenant, (running.get(tenant) ?? 0) + 1));
    }
  };
  flood('acme');
  await expect.poll(() => running.get('acme')).toBe(192);
  flood('bcorp');
  await expect.poll(() => running.get('bcorp')).toBe(48);
  for (let nth = 0; nth < 8; nth += 1) await turns.take({ tenant: 'small', person: 'one' });
  expect(Object.fromEntries(running)).toEqual({ acme: 192, bcorp: 48 });
});

test('where there is one workspace only it has every turn', async () => {
  const turns = createAckFirstQueue(false);
  let running = 0;
  for (let nth = 0; nth < 1_000; nth += 1)
    void turns.take({ tenant: 'acme', person: `person ${nth}` }).then(() => (running += 1));
  await expect.poll(() => running).toBe(256);
});

test('workspaces take turns, however many people one of them has', async () => {
  const turns = createAckFirstQueue();
  const begun: string[] = [];
  const take = async (tenant: string, person: string): Promise<void> => {
    const end = await turns.take({ tenant, person });
    begun.push(person);
    end();
  };
  await Promise.all([
    ...['a1', 'a2', 'a3', 'a4'].map((person) => take('acme', person)),
    ...['b1', 'b2'].map((person) => take('bcorp', person)),
  ]);
  expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'a4']);
});

test('what is before waiting work: its person’s own, or what has earlier turns in all', () => {
  const limits = { max: 4, maxPerPerson: 2 };
  const queue = createFairQueue(limits);
  const count = (tenant: string, person: string) => queue.add({ tenant, person }, () => undefined);
  // Nothing of these ends: two of alice's run, and one of bob's beside them.
  const ofAlice = Array.from({ length: 5 }, () => count('acme', 'alice'));
  count('acme', 'bob');
  while (queue.startNext());
  expect(ofAlice.slice(2).map((before) => before())).toEqual([2, 3, 4]);
  // The tenant has its share: three run.
  expect([count('acme', 'bob'), count('acme', 'bob')].map((before) => before())).toEqual([3, 5]);
  // The last place is taken, too.
  count('beta', 'carol');
  while (queue.startNext());
  expect([count('beta', 'carol'), count('beta', 'carol')].map((before) => before())).toEqual([5, 7]);
  expect(count('gamma', 'dan')()).toBe(6);
});

test('it is full with twenty thousand that run or wait, and no longer when one has ended', async () => {
  const inFlight = createInFlight({ manyTenants: false });
  const slow = Promise.withResolvers<void>();
  const person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
  const all = Array.from({ length: 19_999 }, () => inFlight.run(() => slow.promise, person));
  expect(inFlight.isFull()).toBe(false);
  all.push(inFlight.run(() => slow.promise, person));
  expect(inFlight.isFull()).toBe(true);
  slow.resolve();
  await Promise.all(all);
  expect(inFlight.isFull()).toBe(false);
});
