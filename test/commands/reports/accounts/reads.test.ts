import { describe, expect, test } from 'vitest';
import { deleteOldRows } from '../../../../src/app/jobs.ts';
import { BudgetSpent, requestsPerHour } from '../../../../src/commands/reports/accounts/reads.ts';
import { createZoneCache } from '../../../../src/commands/zones/zone-cache.ts';
import { dayMs, hourMs } from '../../../../src/lib/time.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { alice, never, startAccounts } from './account-harness.ts';

const { embedded, both } = await prepareEngines();
const bob = { ...alice, userId: 'U0BOB0000' };

test('at the same time and within a minute are one request, for each account', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  await world.link(bob);
  const [one, other, bobs] = await Promise.all([
    world.accounts.open(alice, never),
    world.accounts.open(alice, never),
    world.accounts.open(bob, never),
  ]);
  const [appId = ''] = world.simulator.data.apps.map(({ id }) => id);
  const lists = await Promise.all([one, other, one].map(({ pullZones }) => pullZones.all()));
  await Promise.all([one, other].map(({ apps }) => apps.summary(appId)));
  expect(lists.map(({ zones }) => zones.length)).toEqual([12, 12, 12]);
  expect([world.requests(/pullzone/), world.requests(/summary/)]).toEqual([1, 1]);
  await bobs.pullZones.all();
  expect(world.requests(/pullzone/)).toBe(2);
  world.later(59_000);
  await other.pullZones.all();
  expect(world.requests(/pullzone/)).toBe(2);
  world.later(2_000);
  await other.pullZones.all();
  expect(world.requests(/pullzone/)).toBe(3);
});

test('zones with errors since yesterday are known, also those of which no time can be read', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  const { originErrors } = world.simulator.data;
  originErrors.count = 0;
  const labels = { ErrorCode: 'dns_lookup', StatusCode: '502', ServerZone: 'DE' };
  const moments = { 1001: Date.parse('2026-11-20T09:00:00Z'), 1002: Number.NaN };
  for (const [id, timestamp] of Object.entries(moments))
    originErrors.entries.set(`${id}/2026-11-20`, [{ logId: id, timestamp, log: '{}', labels }]);
  const account = await world.accounts.open(alice, never);
  for (const id of ['1001', '1002', '1003']) await account.errors(id);
  expect((await account.knownZones()).failing).toEqual(new Set(['1001', '1002']));
});

test('certificates are read with their ends alone', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  const { pullZones } = await world.accounts.open(alice, never);
  const [certificates] = await Promise.all([pullZones.certificates(), pullZones.certificates()]);
  expect(world.requests(/pullzone/)).toBe(1);
  expect(certificates.length).toBeGreaterThan(8);
  for (const { hostname, endsAt } of certificates) {
    expect(hostname).toMatch(/\.example\.(?:com|org)$/u);
    expect(endsAt?.getTime()).toBeGreaterThan(world.now().getTime());
  }
  expect(JSON.stringify(certificates)).not.toMatch(/CANARY|BEGIN/u);
});

test('a replaced key and an end of access never see earlier reads', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  const read = async () => (await world.accounts.open(alice, never)).pullZones.all();
  await read();
  await world.link();
  await read();
  expect(world.requests(/pullzone/)).toBe(2);
  await world.accounts.drop({ person: alice, tenant: 'T0ACME000' });
  await read();
  await world.accounts.drop({ person: undefined, tenant: 'T0ACME000' });
  await read();
  expect(world.requests(/pullzone/)).toBe(4);
});

test('a list that a job read answers commands at once', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  await (await world.accounts.open(alice, never)).pullZones.all();
  const zoneCache = createZoneCache({ now: world.now, lists: world.zoneLists });
  const mine = zoneCache.forPerson(alice);
  expect(mine.get()?.zones).toHaveLength(12);
  // A list that a command read may be of another key.
  mine.set({ zones: [], skipped: 0, account: 'of another key' });
  expect((await (await world.accounts.open(alice, never)).pullZones.all()).zones).toHaveLength(12);
  // One for each of the two keys.
  expect(world.zoneLists.size()).toBe(2);
});

test('a person without a key gets the sentence that leads to connecting one', async () => {
  const world = await startAccounts(await embedded.emptyDatabase());
  await expect(world.accounts.open(bob, never)).rejects.toMatchObject({ offer: 'connect' });
});

describe.each(both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)(
    'the hourly budget counts the requests of all processes, refuses more, and begins again',
    async () => {
      const database = await emptyDatabase();
      const { db } = database;
      const world = await startAccounts(database);
      const second = world.another();
      for (const accounts of [world.accounts, second]) {
        await (await accounts.open(alice, never)).pullZones.all();
      }
      const resetsAt = new Date('2026-11-20T11:00:00Z');
      expect(await db.selectFrom('read_budgets').select('requests').execute()).toEqual([{ requests: 2 }]);

      await db.updateTable('read_budgets').set({ requests: requestsPerHour }).execute();
      const late = await second.open(alice, never);
      const spent = await late.apps.summary('app').catch((error: unknown) => error);
      expect(spent).toBeInstanceOf(BudgetSpent);
      expect(spent).toMatchObject({ resetsAt });
      expect((await late.pullZones.all()).zones).toHaveLength(12);
      expect(world.requests(/summary/)).toBe(0);

      world.later(hourMs);
      await late.pullZones.all();
      const counted = await db.selectFrom('read_budgets').select('requests').orderBy('hour').execute();
      expect(counted.at(-1)).toEqual({ requests: 1 });
      world.later(dayMs + hourMs);
      await deleteOldRows(db, world.now());
      expect(await db.selectFrom('read_budgets').selectAll().execute()).toEqual([]);
    },
  );
});
