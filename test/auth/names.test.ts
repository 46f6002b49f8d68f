import { describe, expect, test } from 'vitest';
import { createAudit } from '../../src/auth/audit/audit.ts';
import { createNames, maxNames } from '../../src/auth/names.ts';
import type { Database } from '../../src/store/database.ts';
import { prepareEngines } from '../support/engines.ts';

const engines = await prepareEngines();
const { embedded } = engines;
const alice = { teamId: 'T0ACME000', userId: 'U0ALICE00' };
const bob = { teamId: 'T0ACME000', userId: 'U0BOB0000' };
const stranger = { teamId: 'T0OTHER00', userId: 'U0ALICE00' };
const checkout = { kind: 'app', id: 'app1', name: 'checkout' } as const;

function setUp({ db }: Database) {
  let at = Date.parse('2026-11-21T08:00:00Z');
  const now = (): Date => new Date(at);
  const audit = createAudit({ db, now });
  const events = async (): Promise<string[]> =>
    (await audit.recent(alice.teamId, 10)).map(({ event, subject }) => `${event} ${subject}`);
  const open = () => createNames({ db, audit, now });
  return { names: open(), open, events, later: (ms: number) => void (at += ms), db };
}

test('an id is found by its name, in this tenant only, and each change is in the audit', async () => {
  const { names, events } = setUp(await embedded.emptyDatabase());
  expect(await names.give(alice, checkout)).toBe('done');
  expect(await names.resolve(bob, 'app', 'Checkout')).toBe('app1');
  expect(await names.resolve(bob, 'script', 'checkout')).toBe('checkout');
  expect(await names.resolve(stranger, 'app', 'checkout')).toBe('checkout');
  expect(await names.find(bob, 'app', 'app1')).toEqual({ ...checkout, by: 'U0ALICE00' });
  expect(await names.find(bob, 'script', 'app1')).toBeUndefined();

  expect(await names.give(alice, { ...checkout, name: 'pay' })).toBe('done');
  expect(await names.list('T0ACME000')).toEqual([{ ...checkout, name: 'pay', by: 'U0ALICE00' }]);
  expect(await names.give(alice, { ...checkout, name: undefined })).toBe('done');
  expect(await names.list('T0ACME000')).toEqual([]);
  expect(await events()).toEqual(['name-removed app1', 'name-given app1', 'name-given app1']);
});

test('only the giver of a name or an admin changes or removes it', async () => {
  const { names } = setUp(await embedded.emptyDatabase());
  await names.give(alice, checkout);
  for (const name of ['pay', undefined])
    expect(await names.give(bob, { ...checkout, name })).toEqual({ givenBy: 'U0ALICE00' });
  expect(await names.list('T0ACME000')).toEqual([{ ...checkout, by: 'U0ALICE00' }]);
  expect(await names.give(bob, { ...checkout, name: 'pay', asAdmin: true })).toBe('done');
  expect(await names.list('T0ACME000')).toEqual([{ ...checkout, name: 'pay', by: 'U0BOB0000' }]);
});

test('an undo takes back only what is still there, of a name and of a channel’s zone', async () => {
  const { names } = setUp(await embedded.emptyDatabase());
  await names.give(alice, checkout);
  expect(await names.give(alice, { ...checkout, name: 'pay', was: null })).toBe('changed');
  expect(await names.give(alice, { ...checkout, name: 'pay', was: 'shop' })).toBe('changed');
  expect(await names.give(alice, { ...checkout, name: 'pay', was: 'checkout' })).toBe('done');
  const shop = { id: '1001', name: 'shop' };
  expect(await names.setChannelZone(alice, 'C1', shop, '1002')).toBe(false);
  expect(await names.setChannelZone(alice, 'C1', shop, 'none')).toBe(true);
  expect(await names.setChannelZone(alice, 'C1', undefined, 'none')).toBe(false);
  expect(await names.channelZone(alice.teamId, 'C1')).toMatchObject(shop);
  expect(await names.channelZone(alice.teamId, 'C2')).toBeUndefined();
});

test('of two channels and two workspaces each has its own zone', async () => {
  const { names } = setUp(await embedded.emptyDatabase());
  const places = [
    [alice, 'C1'],
    [alice, 'C2'],
    [stranger, 'C1'],
  ] as const;
  for (const [nth, [person, channel]] of places.entries())
    await names.setChannelZone(person, channel, { id: `${nth}`, name: 'shop' });
  const found = places.map(async ([{ teamId }, channel]) => (await names.channelZone(teamId, channel))?.id);
  expect(await Promise.all(found)).toEqual(['0', '1', '2']);
});

test.each([
  'CHECKOUT ÉU',
  'checkout E\u0301u',
  'check\u200bout \u202eéu\u2069',
  'checkout\u00a0 éu',
  'ｃheckout éu',
  '\u3164checkout\u00ad éu\ufe0f',
])('%j is the same name as checkout éu: refused for another id, found when typed', async (spelling) => {
  const { names } = setUp(await embedded.emptyDatabase());
  await names.give(alice, { ...checkout, name: 'checkout éu' });
  expect(await names.give(alice, { kind: 'app', id: 'app2', name: spelling })).toEqual({ taken: 'app1' });
  expect(await names.resolve(bob, 'app', spelling)).toBe('app1');
  expect(await names.give(bob, { kind: 'shield', id: '501', name: spelling })).toBe('done');
});

test.each([
  ['shop', '\u0455\u04bb\u043e\u0440'],
  ['APP', '\u0430\u0440\u0440'],
  ['box', '\u0392\u039f\u03a7'],
  ['a-b', 'a\u2011b'],
  ['x’y', "x'y"],
  ['a-b', 'a\u2014b'],
  ['gate', '\u0261\u0251te'],
  ['noun', '\u0578\u0585\u057d\u0578'],
  ['pass', '\u13e2\u13aa\u13da\u13da'],
  ['shop', '\ua4e2\ua4e7\ua4f3\ua4d1'],
])('%s and its look-alike %s are one name', async (name, other) => {
  const { names } = setUp(await embedded.emptyDatabase());
  expect(await names.give(alice, { kind: 'app', id: 'app1', name })).toBe('done');
  expect(await names.give(bob, { kind: 'app', id: 'app2', name: other })).toEqual({ taken: 'app1' });
  expect(await names.resolve(bob, 'app', other)).toBe('app1');
});

test.each([
  ['checkout', 'check0ut'],
  ['shop billing', 'shop bi11lng'],
])('%s takes the place of %s, which is no other spelling of it', async (name, other) => {
  const { names } = setUp(await embedded.emptyDatabase());
  expect(await names.give(alice, { kind: 'app', id: 'app1', name })).toBe('done');
  expect(await names.give(bob, { kind: 'app', id: 'app2', name: other })).toEqual({ taken: 'app1' });
  expect(await names.resolve(bob, 'app', other)).toBe(other);
});

test('of two look-alikes that an earlier version took each is found by its own letters', async () => {
  const { names, db } = setUp(await embedded.emptyDatabase());
  const row = { tenant: alice.teamId, kind: 'app', named_by: alice.userId, named_at: new Date() };
  const [latin, cyrillic] = ['cop', '\u0441\u043e\u0440'];
  const rows = [
    { ...row, id: 'app1', name: latin },
    { ...row, id: 'app2', name: cyrillic },
  ];
  await db.insertInto('names').values(rows).execute();
  const found = [latin, cyrillic, 'COP'].map((typed) => names.resolve(bob, 'app', typed));
  expect(await Promise.all(found)).toEqual(['app1', 'app2', 'app1']);
});

test.each([
  'app0worker00002',
  'APP0WORKER00002',
  'app0\u200bworker00002',
  'ａpp0worker00002',
  '501',
  '#501',
  '５０１',
  '٥٠١',
])('%j looks like an id: refused as a name, and never looked up as one', async (name) => {
  const { names, db } = setUp(await embedded.emptyDatabase());
  expect(await names.give(alice, { ...checkout, name })).toBe('isId');
  // As an older version stored it.
  const given = { named_by: 'U0ALICE00', named_at: new Date() };
  await db
    .insertInto('names')
    .values({ tenant: 'T0ACME000', ...checkout, name, ...given })
    .execute();
  expect(await names.resolve(bob, 'app', name)).toBe(name);
});

test('an id that was named or used wins over a name, and is refused as a name', async () => {
  const { names, db } = setUp(await embedded.emptyDatabase());
  await names.give(alice, { kind: 'app', id: 'pay', name: 'billing' });
  await names.use(bob, 'app', 'shop');
  for (const name of ['pay', 'shop']) {
    expect(await names.give(alice, { ...checkout, name })).toBe('isId');
    const given = { named_by: 'U0ALICE00', named_at: new Date() };
    await db
      .insertInto('names')
      .values({ tenant: 'T0ACME000', kind: 'app', id: `other-${name}`, name, ...given })
      .execute();
    expect(await names.resolve(alice, 'app', name)).toBe(name);
  }
  expect(await names.give(alice, { kind: 'app', id: 'billing', name: 'other' })).toBe('isName');
  // Nobody learns by it which ids other workspaces use.
  await names.use(stranger, 'app', 'store');
  await names.use(bob, 'script', 'store');
  expect(await names.give(alice, { ...checkout, name: 'store' })).toBe('done');
});

test('there is a most of names', async () => {
  const { names, db } = setUp(await embedded.emptyDatabase());
  const place = { tenant: 'T0ACME000', kind: 'script', named_by: 'U0BOB0000', named_at: new Date() };
  const rows = Array.from({ length: maxNames }, (_, nth) => ({
    ...place,
    id: `${nth}`,
    name: `n${nth}`,
  }));
  await db.insertInto('names').values(rows).execute();
  expect(await names.give(alice, checkout)).toBe('full');
  expect(await names.give(bob, { kind: 'script', id: '1', name: 'other' })).toBe('done');
});

test('the newest come first, ten of a kind, and then those with a name', async () => {
  const { names, later } = setUp(await embedded.emptyDatabase());
  await names.give(alice, { kind: 'shield', id: '600', name: 'shop' });
  for (let id = 501; id <= 512; id += 1) {
    await names.use(bob, 'shield', String(id));
    later(1_000);
  }
  await names.use(bob, 'app', 'app1');
  const known = await names.known(bob, 'shield');
  expect(known.map(({ id }) => id).join(' ')).toBe('512 511 510 509 508 507 506 505 504 503 600');
  expect(known.at(-1)?.name).toBe('shop');
  await names.use(bob, 'shield', '505');
  expect((await names.known(bob, 'shield'))[0]?.id).toBe('505');
  expect(await names.known(alice, 'shield')).toEqual([{ id: '600', name: 'shop' }]);
});

test('of a person their ids go and names stay; of a workspace everything goes, and nothing of others', async () => {
  const { names } = setUp(await embedded.emptyDatabase());
  await names.give(alice, checkout);
  await names.give(stranger, checkout);
  for (const person of [alice, bob, stranger]) {
    await names.use(person, 'shield', '501');
    await names.setChannelZone(person, 'C0OPS0000', { id: '1001', name: 'shop' });
  }
  await names.forget({ tenant: 'T0ACME000', person: bob });
  expect(await names.known(bob, 'shield')).toEqual([]);
  expect(await names.known(alice, 'shield')).toHaveLength(1);
  expect(await names.list('T0ACME000')).toHaveLength(1);
  await names.forget({ tenant: 'T0ACME000', person: undefined });
  expect(await names.list('T0ACME000')).toEqual([]);
  expect(await names.known(alice, 'shield')).toEqual([]);
  expect(await names.channelZone('T0ACME000', 'C0OPS0000')).toBeUndefined();
  expect(await names.list('T0OTHER00')).toHaveLength(1);
  expect(await names.known(stranger, 'shield')).toHaveLength(1);
  expect(await names.channelZone('T0OTHER00', 'C0OPS0000')).toMatchObject({ id: '1001' });
});

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)(
    'two people who give one name in two spellings at once: one of them gets it',
    async () => {
      const { names } = setUp(await emptyDatabase());
      const outcomes = await Promise.all([
        names.give(alice, { ...checkout, name: 'é' }),
        names.give(bob, { kind: 'app', id: 'app2', name: 'E\u0301' }),
      ]);
      expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
      expect(await names.list('T0ACME000')).toHaveLength(1);
    },
  );
});
