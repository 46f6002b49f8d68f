import { expect, test } from 'vitest';
import type { ZoneSummary } from '../../../src/api/zones/summary.ts';
import { createZoneCache } from '../../../src/commands/cache/zone-cache.ts';
import { alice, bob } from '../../support/command-harness.ts';

const carol = { teamId: 'T0ACME000', userId: 'U0CAROL00' };

function rows(number: number): { zones: ZoneSummary[]; skipped: number } {
  const zones = Array.from({ length: number }, (_, index) => ({
    id: String(index),
    name: `zone-${index}`,
    hostnames: [],
    hostnamesWithoutCertificate: [],
  }));
  return { zones, skipped: 0 };
}

function clock() {
  let ms = 0;
  return { now: () => new Date(ms), later: (by: number) => void (ms += by) };
}

test('a list is kept for its life and not a moment longer', async () => {
  const { now, later } = clock();
  const zoneCache = createZoneCache({ now, lifeMs: 1000 });
  const kept = zoneCache.of(alice).keep(rows(3));
  later(999);
  expect(zoneCache.of(alice).peek()).toBe(kept);
  later(1);
  expect(zoneCache.of(alice).peek()).toBeUndefined();
});

test('people who ask at the same time share one reading, and a failed one is not kept', async () => {
  const zoneCache = createZoneCache({ now: clock().now });
  let loads = 0;
  const load = async () => {
    loads += 1;
    if (loads === 1) throw new Error('the CDN is down');
    return rows(2);
  };
  const both = await Promise.allSettled([zoneCache.of(alice).get(load), zoneCache.of(alice).get(load)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(loads).toBe(1);
  const [one, other] = await Promise.all([zoneCache.of(alice).get(load), zoneCache.of(alice).get(load)]);
  expect(one).toBe(other);
  expect(loads).toBe(2);
  await zoneCache.of(bob).get(load);
  expect(loads).toBe(3);
});

test('all lists together stay within the bound; the one used longest ago goes first', () => {
  const zoneCache = createZoneCache({ now: clock().now, rows: 10 });
  zoneCache.of(alice).keep(rows(4));
  zoneCache.of(bob).keep(rows(4));
  zoneCache.of(alice).peek();
  zoneCache.of(carol).keep(rows(4));
  expect(zoneCache.of(bob).peek()).toBeUndefined();
  expect(zoneCache.of(alice).peek()).toBeDefined();
  expect(zoneCache.of(carol).peek()).toBeDefined();
  zoneCache.of(bob).keep(rows(11));
  expect([alice, bob, carol].map((person) => zoneCache.of(person).peek())).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('what was read with a key that is gone meanwhile is not kept', async () => {
  const zoneCache = createZoneCache({ now: clock().now });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof rows>>();
  const reading = zoneCache.of(alice).get(() => promise);
  const command = zoneCache.of(alice);
  zoneCache.drop(alice);
  resolve(rows(2));
  expect((await reading).zones).toHaveLength(2);
  expect(command.keep(rows(2)).zones).toHaveLength(2);
  expect(zoneCache.of(alice).peek()).toBeUndefined();
  expect(zoneCache.of(alice).keep(rows(2))).toBe(zoneCache.of(alice).peek());
});

const nothingToExplain = (error: unknown): never => {
  throw error;
};

test('what grows old is read again in the background for whoever uses it, and answers meanwhile', async () => {
  const { now, later } = clock();
  const zoneCache = createZoneCache({ now, lifeMs: 1000, refreshMs: 800 });
  const mine = zoneCache.of(alice);
  const old = mine.keep(rows(2));
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof rows>>();
  let loads = 0;
  const load = () => {
    loads += 1;
    return promise;
  };
  later(799);
  expect(mine.warm(load, nothingToExplain)).toEqual({ known: old, coming: undefined });
  later(1);
  const { known, coming } = mine.warm(load, nothingToExplain);
  expect(known).toBe(old);
  expect(mine.warm(load, nothingToExplain).known).toBe(old);
  resolve(rows(3));
  expect(await coming).toEqual({ read: zoneCache.of(alice).peek() });
  expect(zoneCache.of(alice).peek()?.zones).toHaveLength(3);
  expect(loads).toBe(1);
});

test('a command that needs the list waits for the reading that is under way in the background', async () => {
  const zoneCache = createZoneCache({ now: clock().now });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof rows>>();
  const { coming } = zoneCache.of(alice).warm(() => promise, nothingToExplain);
  const waiting = zoneCache.of(alice).get(() => Promise.reject(new Error('asked twice')));
  resolve(rows(4));
  expect(await coming).toEqual({ read: await waiting });
});

test('what is read in the background ends with the key, and is not kept', async () => {
  const zoneCache = createZoneCache({ now: clock().now });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof rows>>();
  const signals: AbortSignal[] = [];
  const load = (until: AbortSignal) => {
    signals.push(until);
    return promise;
  };
  const begin = async (person: typeof alice) => zoneCache.of(person).warm(load, nothingToExplain).coming;
  const readings = [begin(alice), begin(bob)];
  zoneCache.drop(alice);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  resolve(rows(2));
  await Promise.all(readings);
  expect(zoneCache.of(alice).peek()).toBeUndefined();
});

test('an organisation that leaves takes the lists of all its people along, and of no one else', () => {
  const zoneCache = createZoneCache({ now: clock().now });
  const elsewhere = { teamId: 'T0ACME0000', userId: 'U0ALICE00' };
  const shelf = { name: 'counts' };
  for (const person of [alice, bob, elsewhere]) {
    zoneCache.of(person).keep(rows(2));
    zoneCache.of(person).shelf(shelf).keep('today', 7);
  }
  zoneCache.dropTenant(alice.teamId);
  const left = [alice, bob, elsewhere].map((person) => [
    zoneCache.of(person).peek()?.zones.length,
    zoneCache.of(person).shelf(shelf).peek('today'),
  ]);
  expect(left).toEqual([
    [undefined, undefined],
    [undefined, undefined],
    [2, 7],
  ]);
});
