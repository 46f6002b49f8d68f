import { expect, test } from 'vitest';
import type { ZoneSummary } from '../../../src/api/zones/summary.ts';
import { createZoneCache, createZoneLists } from '../../../src/commands/zones/zone-cache.ts';
import { alice, bob } from '../../support/command-harness.ts';

const carol = { teamId: 'T0ACME000', userId: 'U0CAROL00' };

function makeList(length: number): { zones: ZoneSummary[]; skipped: number } {
  const zones = Array.from({ length }, (_, index) => ({
    id: String(index),
    name: `zone-${index}`,
    hostnames: [],
    hostnamesWithoutCertificate: [],
  }));
  return { zones, skipped: 0 };
}

function createClock() {
  let ms = 1;
  return { now: () => new Date(ms), advance: (by: number) => void (ms += by) };
}

function begin(
  zoneCache: ReturnType<typeof createZoneCache>,
  person: typeof alice,
  ...read: Parameters<ReturnType<typeof zoneCache.forPerson>['prefetch']>
) {
  return zoneCache.forPerson(person).prefetch(...read);
}

function createExplain() {
  const explained: unknown[] = [];
  const explain = (error: unknown) => {
    explained.push(error);
    return { message: 'The CDN is down.', reference: `ref${explained.length}` };
  };
  return { explained, explain };
}

const rethrow = (error: unknown): never => {
  throw error;
};

test('people with the same key have one list, and each forgets it for themselves', () => {
  const lists = createZoneLists({ now: createClock().now });
  const zoneCache = createZoneCache({ now: createClock().now, lists });
  for (const person of [alice, bob]) zoneCache.forPerson(person).set({ ...makeList(3), account: 'one' });
  zoneCache.forPerson(carol).set({ ...makeList(2), account: 'another' });
  expect(lists.size()).toBe(2);
  expect(zoneCache.forPerson(alice).get()).toBe(zoneCache.forPerson(bob).get());
  zoneCache.forPerson(alice).expire();
  expect(zoneCache.forPerson(alice).get()).toBeUndefined();
  expect(zoneCache.forPerson(bob).get()?.zones).toHaveLength(3);
  // A key that is gone takes its list along.
  zoneCache.drop(bob);
  expect(lists.size()).toBe(1);
  expect(zoneCache.forPerson(carol).get()?.zones).toHaveLength(2);
});

test('all lists together stay within the bound, and the least recently used is evicted first', () => {
  const { now } = createClock();
  const zoneCache = createZoneCache({ now, lists: createZoneLists({ now, maxZones: 10 }) });
  const lengths = () => [alice, bob, carol].map((one) => zoneCache.forPerson(one).get()?.zones.length);
  zoneCache.forPerson(alice).set(makeList(4));
  zoneCache.forPerson(bob).set(makeList(4));
  zoneCache.forPerson(alice).get();
  zoneCache.forPerson(carol).set(makeList(4));
  expect(lengths()).toEqual([4, undefined, 4]);
  // Larger than the bound: it is not cached and evicts nothing.
  expect(zoneCache.forPerson(bob).set(makeList(11)).zones).toHaveLength(11);
  expect(lengths()).toEqual([4, undefined, 4]);
});

test('a list read with a key that is dropped meanwhile is not cached', async () => {
  const zoneCache = createZoneCache({ now: createClock().now });
  const command = zoneCache.forPerson(alice);
  zoneCache.drop(alice);
  expect(command.set(makeList(2)).zones).toHaveLength(2);
  command.results('counts').set('today', { total: 7 });
  command.answers.set('today', { text: 'shop' });
  expect(zoneCache.forPerson(alice).answers.get('today')).toBeUndefined();
  expect(zoneCache.forPerson(alice).get()).toBeUndefined();
  expect(zoneCache.forPerson(alice).results('counts').get('today')).toBeUndefined();
  expect(zoneCache.forPerson(alice).set(makeList(2))).toBe(zoneCache.forPerson(alice).get());
  zoneCache.forPerson(alice).answers.set('today', { text: 'shop' });
  expect(zoneCache.forPerson(alice).answers.get('today')).toEqual({ text: 'shop' });
});

test('loads in the background are one per person; a failed one is repeated after ten seconds, explained once', async () => {
  const { now, advance } = createClock();
  const { explain, explained } = createExplain();
  const zoneCache = createZoneCache({ now });
  let loads = 0;
  const load = () => {
    loads += 1;
    return Promise.reject(new Error('down'));
  };
  const again = () => begin(zoneCache, alice, load, explain);
  const failure = { failure: { message: 'The CDN is down.', reference: 'ref1' } };
  expect(await Promise.all([again(), again()])).toEqual([failure, failure]);
  advance(9_999);
  expect(await again()).toEqual(failure);
  expect([loads, explained.length]).toEqual([1, 1]);
  advance(1);
  await again();
  expect([loads, explained.length]).toEqual([2, 2]);
});

test('what a load brings after its key was dropped is not cached, and the next one is another', async () => {
  const zoneCache = createZoneCache({ now: createClock().now });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof makeList>>();
  const late = begin(zoneCache, alice, () => promise, rethrow);
  zoneCache.drop(alice);
  const next = begin(zoneCache, alice, async () => makeList(2), rethrow);
  resolve(makeList(1));
  expect(await late).toMatchObject({ list: { skipped: 0 } });
  expect(await next).toEqual({ list: zoneCache.forPerson(alice).get() });
  expect(zoneCache.forPerson(alice).get()?.zones).toHaveLength(2);
  // What is known is not read again.
  expect(await begin(zoneCache, alice, async () => makeList(9), rethrow)).toEqual(await next);
});

test('dropping a tenant forgets everything of its people and of nobody else', () => {
  const zoneCache = createZoneCache({ now: createClock().now });
  const people = [alice, bob, { teamId: 'T0ACME0000', userId: 'U0ALICE00' }].map((person) =>
    zoneCache.forPerson(person),
  );
  for (const person of people) {
    person.set(makeList(2));
    person.results('counts').set('today', { total: 7 });
  }
  zoneCache.dropTenant(alice.teamId);
  const left = people.map((person) => [person.get()?.zones.length, person.results('counts').get('today')]);
  expect(left).toEqual([[], [], [2, { total: 7 }]].map(([zones, counts]) => [zones, counts]));
});
