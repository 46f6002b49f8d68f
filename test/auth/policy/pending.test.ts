import { describe, expect, test } from 'vitest';
import { createPendingMessages } from '../../../src/app/pending-settings.ts';
import { createAudit } from '../../../src/auth/audit/audit.ts';
import { diffPolicies } from '../../../src/auth/policy/changes.ts';
import type { NewPendingChange, PendingChange } from '../../../src/auth/policy/pending.ts';
import { createPolicies } from '../../../src/auth/policy/policies.ts';
import { initialPolicy, type Policy } from '../../../src/auth/policy/policy.ts';
import { dayMs } from '../../../src/lib/time.ts';
import { createOutbox } from '../../../src/outbox/outbox.ts';
import type { Database } from '../../../src/store/database.ts';
import { prepareEngines } from '../../support/engines.ts';

const engines = await prepareEngines();
const acme = 'T0ACME000';
const alice = { teamId: acme, userId: 'U0ALICE00' };
const carol = 'U0CAROL00';
const dave = 'U0DAVE000';

function start({ db }: Database) {
  const clock = { at: Date.UTC(2026, 10, 22) };
  const now = (): Date => new Date(clock.at);
  const audit = createAudit({ db, now });
  const outbox = createOutbox({ enqueue: async () => '', now });
  const policies = createPolicies({ db, audit, now, messages: createPendingMessages(outbox) });
  return {
    policies,
    advance: (ms: number) => {
      clock.at += ms;
    },
    records: async () =>
      (await audit.recent(acme, 20)).map(({ event, actor, detail }) => ({ event, actor, ...detail })),
    messages: () =>
      db.selectFrom('outbox').select(['places', 'state', 'wanted', 'next_at']).orderBy('seq').execute(),
  };
}

function asking(change: Partial<Policy>, before: Policy = initialPolicy): NewPendingChange {
  const policy = { ...before, ...change };
  const lowers = { fewer: ['destroy' as const], gains: [], off: false };
  return { author: alice, policy, changes: diffPolicies(before, policy), lowers, told: [carol, dave] };
}

const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('it is not there');
  return value;
};

describe.each(engines.both)('pending changes of settings on $name', ({ skip, emptyDatabase }) => {
  describe.skipIf(skip)('a change that waits', () => {
    test('holds once another admin confirms, with both names in the record', async () => {
      const { policies, records, messages } = start(await emptyDatabase());
      const asked = present(await policies.propose(asking({ destroyApprovals: 0 })));
      expect(await policies.current(acme)).toEqual(initialPolicy);
      expect((await messages()).map(({ places }) => places)).toEqual([carol, dave, alice.userId].map(list));

      expect(await policies.confirm(asked, carol)).toBe(true);
      expect(await policies.current(acme)).toMatchObject({ version: 1, destroyApprovals: 0 });
      expect(await policies.version(acme, 1)).toMatchObject({ by: alice.userId });
      expect(await records()).toEqual([
        {
          event: 'policy-changed',
          actor: alice.userId,
          change1: 'destroyApprovals: 1 -> 0',
          confirmed: `confirmed by ${carol}`,
        },
        { event: 'policy-asked', actor: alice.userId, change1: 'destroyApprovals: 1 -> 0' },
      ]);
      expect(await policies.confirm(asked, dave)).toBe(false);
      expect(await policies.reject(asked, dave)).toBe(false);
      expect(await policies.pending(acme, asked.id)).toMatchObject({ state: 'confirmed', decidedBy: carol });
      // Both cards are edited, the message about an expiry is taken back, the outcome is told.
      expect((await messages()).map(({ state, wanted }) => [state, wanted])).toEqual([
        ['due', 2],
        ['due', 2],
        ['dead', 1],
        ['due', 1],
      ]);
    });

    test('is never confirmed by who asked', async () => {
      const { policies } = start(await emptyDatabase());
      const asked = present(await policies.propose(asking({ destroyApprovals: 0 })));
      await expect(policies.confirm(asked, alice.userId)).rejects.toThrow(Error);
      expect(await policies.pending(acme)).toMatchObject({ id: asked.id, state: 'waiting' });
    });

    test('is void as soon as the settings change otherwise, and where another takes its place', async () => {
      const { policies } = start(await emptyDatabase());
      const first = present(await policies.propose(asking({ destroyApprovals: 0 })));
      const second = present(await policies.propose(asking({ approvers: [alice.userId] })));
      expect(await policies.pending(acme, first.id)).toMatchObject({ state: 'void' });
      const policy = { ...initialPolicy, expiryMinutes: 60 };
      await policies.save({ tenant: acme, base: 0, policy, by: dave, difference: [] });
      expect(await policies.pending(acme, second.id)).toMatchObject({ state: 'void', decidedBy: dave });
      expect(await policies.confirm(second, carol)).toBe(false);
      expect(await policies.current(acme)).toEqual({ ...policy, version: 1 });
      expect(await policies.propose(asking({ destroyApprovals: 0 }))).toBeUndefined();
    });

    test('expires after a day, and its author is told then', async () => {
      const { policies, advance, messages } = start(await emptyDatabase());
      const asked = present(await policies.propose(asking({ destroyApprovals: 0 })));
      const telling = (await messages()).at(-1);
      expect(telling?.places).toBe(list(alice.userId));
      expect(telling?.next_at?.getTime()).toBeGreaterThan(asked.expiresAt.getTime());
      advance(dayMs);
      expect(await policies.pending(acme)).toBeUndefined();
      expect(await policies.pending(acme, asked.id)).toMatchObject({ state: 'expired' });
      expect(await policies.confirm(asked, carol)).toBe(false);
      expect(await policies.current(acme)).toEqual(initialPolicy);
      expect(await policies.propose(asking({ destroyApprovals: 0 }))).toBeDefined();
    });

    test('of twenty who decide and save at once exactly one does', async () => {
      const { policies, records } = start(await emptyDatabase());
      const asked = present(await policies.propose(asking({ destroyApprovals: 0 })));
      const policy = { ...initialPolicy, expiryMinutes: 60 };
      const saved = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          if (index % 3 === 0) return policies.confirm(asked, carol);
          if (index % 3 === 1) return policies.reject(asked, dave);
          return (await policies.save({ tenant: acme, base: 0, policy, by: dave, difference: [] })).saved;
        }),
      );
      const ends = (await records()).filter(({ event }) => event !== 'policy-asked');
      expect(saved.filter(Boolean)).toHaveLength(ends.length);
      // A rejection leaves the settings as they are, so that one save may follow it.
      expect(ends.filter(({ event }) => event === 'policy-changed').length).toBeLessThanOrEqual(1);
      expect(await policies.pending(acme)).toBeUndefined();
    });

    test('belongs to one workspace', async () => {
      const { policies } = start(await emptyDatabase());
      const asked = present(await policies.propose(asking({ destroyApprovals: 0 })));
      const elsewhere: PendingChange = { ...asked, author: { teamId: 'T0BETA000', userId: alice.userId } };
      expect(await policies.pending('T0BETA000', asked.id)).toBeUndefined();
      expect(await policies.confirm(elsewhere, carol)).toBe(false);
    });

    test('admins and people with a key are known from then on', async () => {
      const { policies } = start(await emptyDatabase());
      expect(await policies.knownPeople(acme)).toEqual([]);
      await policies.save({ tenant: acme, base: 0, policy: initialPolicy, by: dave, difference: [] });
      await policies.propose(asking({ destroyApprovals: 0 }, { ...initialPolicy, version: 1 }));
      expect(await policies.knownPeople(acme)).toEqual([dave, alice.userId]);
      expect(await policies.knownPeople('T0BETA000')).toEqual([]);
    });
  });
});

function list(place: string): string {
  return JSON.stringify([place]);
}
