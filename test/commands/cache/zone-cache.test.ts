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
  const snapshots = createZoneCache({ now, lifeMs: 1000 });
  const kept = snapshots.of(alice).keep(rows(3));
  later(999);
  expect(snapshots.of(alice).peek()).toBe(kept);
  later(1);
  expect(snapshots.of(alice).peek()).toBeUndefined();
});

test('people who ask at the same time share one reading, and a failed one is not kept', async () => {
  const snapshots = createZoneCache({ now: clock().now });
  let loads = 0;
  const load = async () => {
    loads += 1;
    if (loads === 1) throw new Error('the CDN is down');
    return rows(2);
  };
  const both = await Promise.allSettled([snapshots.of(alice).get(load), snapshots.of(alice).get(load)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(loads).toBe(1);
  const [one, other] = await Promise.all([snapshots.of(alice).get(load), snapshots.of(alice).get(load)]);
  expect(one).toBe(other);
  expect(loads).toBe(2);
  await snapshots.of(bob).get(load);
  expect(loads).toBe(3);
});

test('all lists together stay within the bound; the one used longest ago goes first', () => {
  const snapshots = createZoneCache({ now: clock().now, rows: 10 });
  snapshots.of(alice).keep(rows(4));
  snapshots.of(bob).keep(rows(4));
  snapshots.of(alice).peek();
  snapshots.of(carol).keep(rows(4));
  expect(snapshots.of(bob).peek()).toBeUndefined();
  expect(snapshots.of(alice).peek()).toBeDefined();
  expect(snapshots.of(carol).peek()).toBeDefined();
  snapshots.of(bob).keep(rows(11));
  expect([alice, bob, carol].map((person) => snapshots.of(person).peek())).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('what was read with a key that is gone meanwhile is not kept', async () => {
  const snapshots = createZoneCache({ now: clock().now });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof rows>>();
  const reading = snapshots.of(alice).get(() => promise);
  const command = snapshots.of(alice);
  snapshots.drop(alice);
  resolve(rows(2));
  expect((await reading).zones).toHaveLength(2);
  expect(command.keep(rows(2)).zones).toHaveLength(2);
  expect(snapshots.of(alice).peek()).toBeUndefined();
  expect(snapshots.of(alice).keep(rows(2))).toBe(snapshots.of(alice).peek());
});

const nothingToExplain = (error: unknown): never => {
  throw error;
};

test('what grows old is read again in the background for whoever uses it, and answers meanwhile', async () => {
  const { now, later } = clock();
  const snapshots = createZoneCache({ now, lifeMs: 1000, refreshMs: 800 });
  const mine = snapshots.of(alice);
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
  expect(await coming).toEqual({ read: snapshots.of(alice).peek() });
  expect(snapshots.of(alice).peek()?.zones).toHaveLength(3);
  expect(loads).toBe(1);
});

test('a command that needs the list waits for the reading that is under way in the background', async () => {
  const snapshots = createZoneCache({ now: clock().now });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof rows>>();
  const { coming } = snapshots.of(alice).warm(() => promise, nothingToExplain);
  const waiting = snapshots.of(alice).get(() => Promise.reject(new Error('asked twice')));
  resolve(rows(4));
  expect(await coming).toEqual({ read: await waiting });
});

test('what is read in the background ends with the key, and is not kept', async () => {
  const snapshots = createZoneCache({ now: clock().now });
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof rows>>();
  const signals: AbortSignal[] = [];
  const load = (until: AbortSignal) => {
    signals.push(until);
    return promise;
  };
  const begin = async (person: typeof alice) => snapshots.of(person).warm(load, nothingToExplain).coming;
  const readings = [begin(alice), begin(bob)];
  snapshots.drop(alice);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  resolve(rows(2));
  await Promise.all(readings);
  expect(snapshots.of(alice).peek()).toBeUndefined();
});

test('an organisation that leaves takes the lists of all its people along, and of no one else', () => {
  const snapshots = createZoneCache({ now: clock().now });
  const elsewhere = { teamId: 'T0ACME0000', userId: 'U0ALICE00' };
  const shelf = { name: 'counts' };
  for (const person of [alice, bob, elsewhere]) {
    snapshots.of(person).keep(rows(2));
    snapshots.of(person).shelf(shelf).keep('today', 7);
  }
  snapshots.dropTenant(alice.teamId);
  const left = [alice, bob, elsewhere].map((person) => [
    snapshots.of(person).peek()?.zones.length,
    snapshots.of(person).shelf(shelf).peek('today'),
  ]);
  expect(left).toEqual([
    [undefined, undefined],
    [undefined, undefined],
    [2, 7],
  ]);
});
