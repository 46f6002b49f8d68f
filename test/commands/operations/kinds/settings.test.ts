import { describe, expect, test } from 'vitest';
import { createPolicies } from '../../../../src/auth/policy/policies.ts';
import type { Policy } from '../../../../src/auth/policy/policy.ts';
import { approve, cancel, deny } from '../../../../src/commands/operations/decide.ts';
import { begin, settle } from '../../../../src/commands/operations/execute.ts';
import { voidOvertaken } from '../../../../src/commands/operations/expiry.ts';
import { settingsChange, writeFacts } from '../../../../src/commands/operations/kinds/settings.ts';
import type { DecisionContext, Operation } from '../../../../src/commands/operations/model.ts';
import { propose, retry } from '../../../../src/commands/operations/propose.ts';
import { findOperation, findWaitingOf } from '../../../../src/commands/operations/queries.ts';
import type { Database } from '../../../../src/store/database.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { acme, actor, policy as before, createLedgerHarness, person } from '../ledger-harness.ts';

const engines = await prepareEngines();
const [alice, carol, dave] = [person('U0ALICE00'), person('U0CAROL00'), person('U0DAVE000')];
const lowers = { fewer: ['destroy' as const], gains: [], off: false };

/** The settings and rights of now, pressed by somebody. */
const context = (clicker = carol, policy = before): DecisionContext => ({
  policy,
  requester: actor(alice, { admin: true }),
  approvers: [actor(carol, { admin: true })],
  clicker: actor(clicker, { admin: true }),
});

async function start(database: Database) {
  const harness = await createLedgerHarness(database);
  const { ledger } = harness;
  const policies = createPolicies({ db: database.db, audit: ledger.audit, now: ledger.now });
  return {
    ...harness,
    policies,
    ask: (change: Partial<Policy> = { destroyApprovals: 0 }): Promise<Operation> => {
      const { version: _, ...request } = { ...before, ...change };
      return propose(ledger, {
        kind: settingsChange,
        request,
        requester: alice,
        channelId: undefined,
        reason: undefined,
        snapshot: writeFacts(before, lowers, alice.userId),
        policy: before,
        approvers: [carol.userId, dave.userId],
      });
    },
    /** What the job does, without its key and its answers to people. */
    execute: async (id: string) => {
      const begun = await begin(ledger, id, context());
      if (begun.kind !== 'begun') return begun;
      const { requester, policyVersion } = begun.operation;
      const settlement = await settingsChange.send({
        ...begun.request,
        requester,
        policyVersion,
        approvedBy: begun.operation.approvals.map(({ by }) => by),
        targetName: undefined,
        policies,
        cdn: () => {
          throw new Error('a change of settings does not ask the CDN');
        },
      });
      return settle(ledger, id, settlement);
    },
    save: (change: Partial<Policy>) =>
      policies.save({
        tenant: acme,
        base: 7,
        policy: { ...before, ...change },
        by: dave.userId,
        difference: [],
      }),
  };
}

describe.each(engines.both)('a change of settings for a second admin on $name', ({ skip, emptyDatabase }) => {
  describe.skipIf(skip)('it', () => {
    test('holds once another admin confirms, with both names in the record', async () => {
      const { ledger, ask, execute, policies, audit } = await start(await emptyDatabase());
      const asked = await ask();
      expect(asked).toMatchObject({ state: 'proposed', approvalsNeeded: 1 });
      expect((await policies.current(acme)).version).toBe(7);
      expect(await approve(ledger, asked.id, carol, context())).toMatchObject({ kind: 'approved' });
      expect(await execute(asked.id)).toMatchObject({ kind: 'settled', operation: { state: 'succeeded' } });
      expect(await policies.current(acme)).toMatchObject({ version: 8, destroyApprovals: 0 });
      expect(await policies.version(acme, 8)).toMatchObject({ by: alice.userId });
      expect((await audit()).find(({ event }) => event === 'policy-changed')?.detail).toEqual({
        change1: 'destroyApprovals: 1 -> 0',
        confirmed: `confirmed by ${carol.userId}`,
      });
      expect((await findOperation(ledger, acme, asked.id))?.words.outcome).toBe('Saved (version 8).');
    });

    test('is not decided by who asked, nor by somebody who is not an admin', async () => {
      const { ledger, ask } = await start(await emptyDatabase());
      const { id } = await ask();
      expect(await approve(ledger, id, alice, context(alice))).toMatchObject({ kind: 'own-request' });
      const member = { ...context(dave), clicker: actor(dave) };
      expect(await approve(ledger, id, dave, member)).toMatchObject({
        kind: 'not-allowed',
        decision: { reason: 'not-admin' },
      });
      expect(await cancel(ledger, id, alice)).toMatchObject({ kind: 'cancelled' });
    });

    test('is void once its requester is not an admin any more', async () => {
      const { ledger, ask } = await start(await emptyDatabase());
      const { id } = await ask();
      const demoted = { ...context(), requester: actor(alice) };
      expect(await approve(ledger, id, carol, demoted)).toMatchObject({ why: 'requester-may-not' });
    });

    test('is void as soon as the settings change otherwise, at the press and when it runs', async () => {
      const { ledger, ask, execute, save } = await start(await emptyDatabase());
      const [pressed, run, listed] = [await ask(), await ask(), await ask()];
      await approve(ledger, run.id, carol, context());
      await save({ expiryMinutes: 60 });
      // What was read before is read again.
      expect(await approve(ledger, pressed.id, carol, context())).toMatchObject({ kind: 'outdated' });
      expect(await execute(run.id)).toMatchObject({ kind: 'outdated' });
      const now = context(carol, { ...before, version: 8 });
      expect(await approve(ledger, pressed.id, carol, now)).toMatchObject({ kind: 'void', why: 'overtaken' });
      expect(await begin(ledger, run.id, now)).toMatchObject({ kind: 'void', why: 'overtaken' });
      expect(await voidOvertaken(ledger, acme, settingsChange.name)).toEqual([listed.id]);
      expect(await findWaitingOf(ledger, acme, settingsChange.name)).toBeUndefined();
      // Its whole list of settings would bring the older ones back.
      const again = { policy: before, channelId: undefined, snapshot: null, approvers: [] };
      expect(await retry(ledger, listed.id, alice, again)).toMatchObject({ kind: 'not-now', why: 'state' });
    });

    test('expires after a day', async () => {
      const { ledger, ask, advance } = await start(await emptyDatabase());
      const { id } = await ask();
      advance(24 * 60 - 1);
      expect(await findWaitingOf(ledger, acme, settingsChange.name)).toMatchObject({ id });
      advance(1);
      expect(await findWaitingOf(ledger, acme, settingsChange.name)).toBeUndefined();
      expect(await approve(ledger, id, carol, context())).toMatchObject({ kind: 'expired' });
    });

    test('is rejected without a reason', async () => {
      const { ledger, ask } = await start(await emptyDatabase());
      const { id } = await ask();
      expect(await deny(ledger, id, carol, { reason: undefined, context: context() })).toMatchObject({
        kind: 'denied',
        operation: { state: 'denied', movedBy: carol.userId },
      });
    });

    test('of twenty who decide and save at once exactly one does', async () => {
      const { ledger, ask, execute, save, policies } = await start(await emptyDatabase());
      const { id } = await ask();
      const decided = await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          if (index % 3 === 0) {
            const answer = await approve(ledger, id, carol, context());
            return answer.kind === 'approved' && (await execute(id)).kind === 'settled';
          }
          if (index % 3 === 1)
            return (
              (await deny(ledger, id, dave, { reason: undefined, context: context(dave) })).kind === 'denied'
            );
          return (await save({ expiryMinutes: 60 })).saved;
        }),
      );
      const { state, outcome } = (await findOperation(ledger, acme, id)) ?? {};
      const { version } = await policies.current(acme);
      expect(version).toBeLessThanOrEqual(8);
      // One save or confirmation; a rejection leaves the settings as they are, so that one save may follow it.
      expect(decided.filter(Boolean).length).toBeLessThanOrEqual(
        state === 'denied' ? 2 : 1 + Number(outcome?.word === 'overtaken'),
      );
    });
  });
});
