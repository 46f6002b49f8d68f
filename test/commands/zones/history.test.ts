import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { zone } from '../../../simulator/cdn/zones.ts';
import { deleteOldRows } from '../../../src/app/jobs.ts';
import { createSealer } from '../../../src/auth/keys/sealing.ts';
import {
  createSettingsHistory,
  mostZones,
  readSettings,
  type SettingsReader,
  type StoredChange,
  unpackSettings,
} from '../../../src/commands/zones/history.ts';
import { UserError } from '../../../src/errors.ts';
import { dayMs } from '../../../src/lib/time.ts';
import type { Database } from '../../../src/store/database.ts';
import { createKeyring, generateKeys } from '../../auth/keyring/keyrings.ts';
import { findMarks } from '../../support/canary/markers.ts';
import { prepareEngines } from '../../support/engines.ts';
import { alice, never, startAccounts } from '../reports/accounts/account-harness.ts';

const engines = await prepareEngines();
const bob = { ...alice, userId: 'U0BOB0000' };
const names = ['shop', 'docs', 'blog'];

async function setUp(given?: Database) {
  const database = given ?? (await engines.embedded.emptyDatabase());
  const zones = names.map((Name, nth) => zone({ Id: 1001 + nth, Name, BlockedIps: [] }));
  const world = await startAccounts(database, { data: { zones } });
  const { accounts, settingsHistory, simulator, later } = world;
  const all = simulator.data.zones;
  return {
    ...world,
    database,
    history: settingsHistory,
    zones: all,
    /** A look some minutes after the last one, by another process's reads. */
    async look(ids?: readonly string[], person = alice) {
      later(5 * 60_000);
      const account = await accounts.open(person, never);
      return account.settings.look(ids?.map((id) => ({ id })));
    },
    change: (id: number, members: object) => {
      const at = all.findIndex((one) => one.Id === id);
      all[at] = { ...(all[at] as (typeof all)[number]), ...members };
    },
    async changes(query = {}, person = alice) {
      const { changes } = await settingsHistory.list(person, query);
      return changes.map(describeChange);
    },
  };
}

function describeChange({ zoneName, path, before, after }: StoredChange): string {
  return `${zoneName} ${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`;
}

test('the first records nothing, later ones what changed, each once', async () => {
  const world = await setUp();
  expect(await world.look()).toMatchObject({ zones: 3, first: 3, cursor: 0 });
  world.change(1001, { EnableTLS1: true, BlockedIps: ['10.0.0.1'], MonthlyBandwidthUsed: 9e9 });
  const second = await world.look();
  expect(second).toMatchObject({ zones: 3, first: 0 });
  expect(await world.look()).toEqual(second);
  expect((await world.changes()).sort()).toEqual([
    'shop BlockedIps: null → ["10.0.0.1"]',
    'shop EnableTLS1: false → true',
  ]);
  world.change(1001, { EnableTLS1: false });
  await world.look();
  expect(await world.changes({ after: second.cursor })).toEqual(['shop EnableTLS1: true → false']);
  expect(await world.changes({ zones: ['1002'] })).toEqual([]);
});

test('zones that come and go are changes, and begin anew when they come back', async () => {
  const world = await setUp();
  await world.look();
  const [gone] = world.zones.splice(1, 1);
  world.zones.push(zone({ Id: 1009, Name: 'new' }));
  await world.look();
  expect((await world.changes()).sort()).toEqual(['docs Zone: "docs" → null', 'new Zone: null → "new"']);
  if (gone) world.zones.push(gone);
  expect(await world.look()).toMatchObject({ zones: 4, first: 1 });
  expect(await world.changes()).toHaveLength(3);
});

test('an answer without any zone deletes nothing until it comes twice', async () => {
  const world = await setUp();
  await world.look();
  world.simulator.faults.add({ match: { path: /pullzone/ }, body: [] });
  expect(await world.look()).toMatchObject({ zones: 3, first: 0 });
  expect(await world.changes()).toEqual([]);
  world.simulator.faults.add({ match: { path: /pullzone/ }, body: [], times: 2 });
  expect(await world.look()).toMatchObject({ zones: 0 });
  expect(await world.changes()).toHaveLength(3);
});

test('a key of another account begins anew', async () => {
  const world = await setUp();
  await world.look();
  world.change(1001, { EnableTLS1: true });
  await world.look();
  world.zones.splice(0, 3, zone({ Id: 2001, Name: 'other' }), zone({ Id: 2002, Name: 'further' }));
  expect(await world.look(['2001'])).toMatchObject({ zones: 1, first: 1 });
  expect(await world.changes()).toEqual([]);
  // Its other zones were not looked at yet: they are not new.
  expect(await world.look()).toMatchObject({ zones: 2, first: 1 });
  expect(await world.changes()).toEqual([]);
});

test('settings of another version of the bot are a new baseline', async () => {
  const world = await setUp();
  await world.look();
  const body = JSON.stringify({ version: 4, settings: {} });
  const shop = world.database.db.updateTable('zone_settings').where('zone_id', '=', '1001');
  await shop.set({ body, hash: 'other' }).execute();
  world.later(dayMs);
  expect(await world.look()).toMatchObject({ zones: 3, first: 1, skipped: 0 });
  expect(await world.changes()).toEqual([]);
  const since = world.now();
  expect(await world.look(['1001'])).toMatchObject({ since });
});

test('a zone that cannot be read, and a member that is not reported, are no changes', async () => {
  const world = await setUp();
  await world.look();
  world.change(1001, { Id: 'broken' });
  const { EnableTLS1: _, ...rest } = world.zones[1] as { EnableTLS1: boolean };
  world.zones[1] = rest as never;
  await world.look();
  world.change(1002, { EnableTLS1: true });
  await world.look();
  expect(await world.changes()).toEqual(['docs EnableTLS1: false → true']);
});

test('zones that were not chosen before are seen the first time, and missing ones are named', async () => {
  const world = await setUp();
  expect(await world.look(['1001'])).toMatchObject({ zones: 1, first: 1 });
  expect(await world.look(['1001', '1002', '9'])).toMatchObject({ zones: 2, first: 1, missing: ['9'] });
  expect(await world.look()).toMatchObject({ zones: 3, first: 1 });
  world.zones.splice(0, 1);
  expect(await world.look(['1001'])).toMatchObject({ zones: 0, missing: ['1001'] });
  expect(await world.changes()).toEqual(['shop Zone: "shop" → null']);
});

test('secrets are in no row, and their change says nothing of them', async () => {
  const world = await setUp();
  const { database } = world;
  await world.look();
  world.change(1001, { ZoneSecurityKey: 'CANARY-zone-security-key-new', AWSSigningSecret: 'CANARY-aws' });
  await world.look();
  expect(await world.changes()).toEqual([
    'shop AWSSigningSecret: null → "set"',
    'shop ZoneSecurityKey: "set" → "set"',
  ]);
  const rows = await database.db.selectFrom('zone_settings').selectAll().execute();
  const kept = rows.map(({ body }) => unpackSettings(body));
  expect(findMarks(JSON.stringify([rows, kept, await world.history.list(alice, {})]), [])).toEqual([]);
});

test('a person reads what their own looks found, and it ends with their access', async () => {
  const world = await setUp();
  const { database } = world;
  await world.link(bob);
  for (const person of [alice, bob]) await world.look(undefined, person);
  world.change(1001, { EnableTLS1: true });
  for (const person of [alice, bob]) await world.look(undefined, person);
  world.zones.splice(1, 1);
  // Who looks second has not seen it go.
  for (const person of [alice, bob]) {
    await world.look(undefined, person);
    expect(await world.changes({}, person)).toHaveLength(2);
  }
  await world.keyStore.forget(alice);
  await world.history.forget({ person: alice, tenant: alice.teamId });
  expect(await world.changes()).toEqual([]);
  expect(await world.changes({}, bob)).toHaveLength(2);
  await world.history.forget({ person: undefined, tenant: alice.teamId });
  expect(await world.changes({}, bob)).toEqual([]);
  expect(await database.db.selectFrom('zone_settings').selectAll().execute()).toEqual([]);
});

test('a look that ends after its key is gone keeps nothing', async () => {
  const world = await setUp();
  const { database } = world;
  // The key of another person is none of theirs.
  await world.link(bob);
  const { promise: until, resolve: letGo } = Promise.withResolvers<void>();
  world.simulator.faults.add({ match: { path: /pullzone/ }, until });
  const look = world.look();
  await world.simulator.received(({ path }) => path === '/pullzone');
  await world.keyStore.forget(alice);
  letGo();
  expect(await look).toMatchObject({ first: 0, cursor: 0 });
  expect(await database.db.selectFrom('zone_looks').selectAll().execute()).toEqual([]);
});

test('changes are read by time and go after 100 days, and so do settings that nobody looks at', async () => {
  const world = await setUp();
  const { database } = world;
  await world.look();
  world.change(1001, { EnableTLS1: true });
  await world.look();
  const from = world.now();
  expect(await world.changes({ until: from })).toEqual([]);
  expect(await world.changes({ from })).toHaveLength(1);
  world.later(60 * dayMs);
  await world.look();
  world.later(60 * dayMs);
  await deleteOldRows(database.db, world.now());
  expect(await world.changes()).toEqual([]);
  expect(await world.look()).toMatchObject({ first: 0 });
  world.later(101 * dayMs);
  await deleteOldRows(database.db, world.now());
  expect(await world.look()).toMatchObject({ first: 3 });
});

test('of more zones than can be compared chosen ones are, and all are not', async () => {
  const pullZones = {
    firstPage: async () => ({ total: mostZones + 1 }),
    settings: async () => ({ kept: [], skipped: 0, isWhole: true }),
  };
  const cdn = { pullZones } as unknown as SettingsReader;
  const key = { key: createSecretKey(randomBytes(32)) };
  await expect(readSettings(cdn, key, undefined)).rejects.toBeInstanceOf(UserError);
  await expect(readSettings(cdn, key, [{ id: '1001' }])).resolves.toMatchObject({ listed: 0 });
});

test('a new primary key of the keyring looks like no change', async () => {
  const world = await setUp();
  const { database } = world;
  const [old, next] = [generateKeys('k1'), generateKeys('k2')];
  for (const keys of [old, `${next},${old}`, next]) {
    const sealer = createSealer(await createKeyring(keys));
    const history = createSettingsHistory(database.db, sealer, world.now);
    await history.look(alice, world.client());
  }
  expect(await world.changes()).toEqual([]);
});

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('two looks at once record a change once', async () => {
    const world = await setUp(await emptyDatabase());
    await world.look();
    for (const { Id } of world.zones) world.change(Id, { EnableTLS1: true });
    world.zones.push(zone({ Id: 1009, Name: 'new' }));
    world.later(5 * 60_000);
    const others = [world.accounts, world.another(), world.another(), world.another()];
    const looks = await Promise.all(
      others.map(async (accounts) => (await accounts.open(alice, never)).settings.look()),
    );
    expect(new Set(looks.map(({ zones }) => zones))).toEqual(new Set([4]));
    expect(await world.changes()).toHaveLength(4);
  });
});
