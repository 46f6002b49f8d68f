import { describe, expect, test } from 'vitest';
import { createAudit } from '../../src/auth/audit/audit.ts';
import { createNames, maxNames } from '../../src/auth/names.ts';
import type { Database } from '../../src/store/database.ts';
import { prepareEngines } from '../support/engines.ts';

const engines = await prepareEngines();
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

describe.each(engines.both)('names on $name', ({ skip, emptyDatabase }) => {
  describe.skipIf(skip)('given by people', () => {
    test('an id is found by its name, in this tenant only, and each change is in the audit', async () => {
      const { names, events } = setUp(await emptyDatabase());
      expect(await names.give(alice, checkout)).toBe('done');
      expect(await names.resolve(bob, 'app', 'Checkout')).toBe('app1');
      expect(await names.resolve(bob, 'script', 'checkout')).toBe('checkout');
      expect(await names.resolve(stranger, 'app', 'checkout')).toBe('checkout');
      expect(await names.find(bob, 'app', 'app1')).toBe('checkout');

      expect(await names.give(bob, { ...checkout, name: 'pay' })).toBe('done');
      expect(await names.list('T0ACME000')).toEqual([{ ...checkout, name: 'pay', by: 'U0BOB0000' }]);
      expect(await names.give(bob, { ...checkout, name: undefined })).toBe('done');
      expect(await names.list('T0ACME000')).toEqual([]);
      expect(await events()).toEqual(['name-removed app1', 'name-given app1', 'name-given app1']);
    });

    test('a name that another id of the kind has is refused, whatever its case', async () => {
      const { names } = setUp(await emptyDatabase());
      await names.give(alice, checkout);
      expect(await names.give(bob, { kind: 'app', id: 'app2', name: 'CHECKOUT' })).toEqual({ taken: 'app1' });
      expect(await names.give(bob, { kind: 'shield', id: '501', name: 'checkout' })).toBe('done');
    });

    test('another process sees a name within seconds', async () => {
      const { names, open, later } = setUp(await emptyDatabase());
      const other = open();
      expect(await other.list('T0ACME000')).toEqual([]);
      await names.give(alice, checkout);
      later(6_000);
      expect(await other.list('T0ACME000')).toHaveLength(1);
    });

    test('there is a most of names', async () => {
      const { names, db } = setUp(await emptyDatabase());
      const place = { tenant: 'T0ACME000', kind: 'script', named_by: 'U0BOB0000', named_at: new Date() };
      const rows = Array.from({ length: maxNames }, (_, nth) => ({
        ...place,
        id: `${nth}`,
        name: `n${nth}`,
      }));
      await db.insertInto('names').values(rows).execute();
      expect(await names.give(alice, checkout)).toBe('full');
      expect(await names.give(alice, { kind: 'script', id: '1', name: 'other' })).toBe('done');
    });
  });

  describe.skipIf(skip)('of ids that people used', () => {
    test('the newest come first, ten of a kind, and then those with a name', async () => {
      const { names, later } = setUp(await emptyDatabase());
      await names.give(alice, { kind: 'shield', id: '600', name: 'shop' });
      for (let id = 501; id <= 512; id += 1) {
        await names.use(bob, 'shield', String(id));
        later(1_000);
      }
      await names.use(bob, 'app', 'app1');
      const known = await names.known(bob, 'shield');
      expect(known.map(({ id }) => id)).toEqual([
        '512',
        '511',
        '510',
        '509',
        '508',
        '507',
        '506',
        '505',
        '504',
        '503',
        '600',
      ]);
      expect(known.at(-1)?.name).toBe('shop');
      expect(await names.known(alice, 'shield')).toEqual([{ id: '600', name: 'shop' }]);
    });

    test('an id that is used again an hour later comes first again', async () => {
      const { names, later } = setUp(await emptyDatabase());
      await names.use(bob, 'shield', '501');
      later(1_000);
      await names.use(bob, 'shield', '502');
      later(3_600_000);
      await names.use(bob, 'shield', '501');
      expect((await names.known(bob, 'shield')).map(({ id }) => id)).toEqual(['501', '502']);
    });
  });

  describe.skipIf(skip)('at the end', () => {
    test('of a person their ids go and names stay; of a workspace everything goes, and nothing of others', async () => {
      const { names } = setUp(await emptyDatabase());
      for (const person of [alice, bob, stranger]) {
        await names.give(person, checkout);
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
      expect(await names.channelZone('T0OTHER00', 'C0OPS0000')).toMatchObject({ id: '1001' });
    });
  });
});
