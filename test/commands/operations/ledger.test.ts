import { describe, expect, test } from 'vitest';
import { approve, cancel, confirmOutcome, deny } from '../../../src/commands/operations/decide.ts';
import { markAbandoned, settle } from '../../../src/commands/operations/execute.ts';
import {
  cancelUnbegun,
  expireOverdue,
  markLongExecuting,
  remindApprovers,
} from '../../../src/commands/operations/expiry.ts';
import { propose, retry } from '../../../src/commands/operations/propose.ts';
import {
  findOperation,
  findOperationsToRemind,
  findRequestedBy,
  findWaitingFor,
} from '../../../src/commands/operations/queries.ts';
import { withLock } from '../../../src/commands/operations/transitions.ts';
import { destroyIdleValues, findPreviousValue } from '../../../src/commands/operations/values.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  actor,
  anna,
  approveNow,
  beginNow,
  ben,
  carl,
  createLedgerHarness,
  deletion,
  findEvents,
  makeContext,
  makeProposal,
  olivia,
  person,
  policy,
} from './ledger-harness.ts';

const engines = await prepareEngines();
const twoOfThree = { ...policy, destroyApprovals: 2 };
const freely = { ...policy, changeApprovals: 0 };
const edit = (value: string, variableId = '12') =>
  ({ kind: 'variable-update', scriptId: '301', variableId, value: new Secret(value) }) as const;

describe.each(engines.both)('on $name', ({ skip, emptyDatabase, createLocation }) => {
  describe.skipIf(skip)('the ledger', () => {
    test('a proposal is approved, executed and settled, each step with its event and audit record', async () => {
      const { ledger, enqueued, audit } = await createLedgerHarness(await emptyDatabase());
      const asked = await propose(ledger, makeProposal());
      expect(asked).toMatchObject({
        id: expect.stringMatching(/^[a-z2-9]{16}$/),
        state: 'proposed',
        request: { appId: 'app-1', volumeId: 'vol 1' },
        requester: olivia,
        snapshot: makeProposal().snapshot,
        policyVersion: 7,
        approvalsNeeded: 1,
        seal: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(enqueued).toEqual([]);
      expect(await approveNow(ledger, asked.id, ben)).toMatchObject({
        kind: 'approved',
        operation: { state: 'approved' },
      });
      expect(enqueued).toEqual([asked.id]);
      expect(await beginNow(ledger, asked.id)).toMatchObject({
        kind: 'begun',
        request: { path: '/mc/apps/app-1/volumes/vol%201', body: null },
      });
      expect(await beginNow(ledger, asked.id)).toMatchObject({
        kind: 'already',
        operation: { state: 'executing' },
      });
      const outcome = { word: 'done', status: 200, requestId: 'abc123', instances: ['i-1', 'i-2'] };
      expect(await settle(ledger, asked.id, { state: 'succeeded', outcome: outcome })).toMatchObject({
        kind: 'settled',
      });
      expect(await findOperation(ledger, acme, asked.id)).toMatchObject({ state: 'succeeded', outcome });
      expect((await findEvents(ledger, acme, asked.id)).map(({ what, actor }) => [what, actor])).toEqual([
        ['proposed', olivia.userId],
        ['approved', ben.userId],
        ['executing', 'system'],
        ['succeeded', 'system'],
      ]);
      expect(
        (await audit()).map(({ event, actor, subject, requestId }) => [event, actor, subject, requestId]),
      ).toEqual([
        ['operation-proposed', olivia.userId, asked.seal, null],
        ['operation-approved', ben.userId, asked.seal, null],
        ['operation-executing', 'system', asked.seal, null],
        ['operation-succeeded', 'system', asked.seal, 'abc123'],
      ]);
      expect((await audit()).at(-1)?.detail).toEqual({
        operation: asked.id,
        kind: 'volume-delete',
        app: 'app-1',
        volume: 'vol 1',
        have: 1,
        need: 1,
        outcome: 'done',
        status: 200,
        instances: 'i-1 i-2',
      });
    });

    test('two of three approvers: distinct people, never the requester', async () => {
      const { ledger, enqueued } = await createLedgerHarness(await emptyDatabase());
      const { id } = await propose(ledger, makeProposal(deletion, anna, twoOfThree));
      expect(await approveNow(ledger, id, anna, twoOfThree)).toMatchObject({ kind: 'own-request' });
      expect(await approveNow(ledger, id, ben, twoOfThree)).toMatchObject({
        kind: 'approved',
        operation: { state: 'proposed', approvals: [{ by: ben.userId }], approvalsNeeded: 2 },
      });
      expect(await approveNow(ledger, id, ben, twoOfThree)).toMatchObject({
        kind: 'twice',
        operation: { approvals: [{ by: ben.userId }] },
      });
      expect(await approveNow(ledger, id, olivia, twoOfThree)).toMatchObject({
        kind: 'not-allowed',
        decision: { reason: 'not-approver' },
      });
      expect(enqueued).toEqual([]);
      expect(await approveNow(ledger, id, carl, twoOfThree)).toMatchObject({
        kind: 'approved',
        operation: { state: 'approved' },
      });
      expect(enqueued).toEqual([id]);
      expect(await approveNow(ledger, id, carl, twoOfThree)).toMatchObject({
        kind: 'already',
        operation: { state: 'approved', movedBy: carl.userId },
      });
    });

    test('an admin cannot approve their own request, nor can a person of another organisation', async () => {
      const { ledger } = await createLedgerHarness(await emptyDatabase());
      const asked = await propose(ledger, makeProposal(deletion, anna));
      const own = { ...makeContext(anna, asked), clicker: actor(anna, { admin: true }) };
      expect(await approve(ledger, asked.id, anna, own)).toMatchObject({ kind: 'own-request' });
      const foreign = { ...makeContext(ben, asked), clicker: actor(ben, { foreign: true }) };
      expect(await approve(ledger, asked.id, ben, foreign)).toMatchObject({
        kind: 'not-allowed',
        decision: { reason: 'foreign' },
      });
      expect(await deny(ledger, asked.id, anna, { reason: 'no', context: own })).toMatchObject({
        kind: 'own-request',
      });
    });

    test('an id of another tenant is not found', async () => {
      const { ledger } = await createLedgerHarness(await emptyDatabase());
      const asked = await propose(ledger, makeProposal());
      const stranger = { teamId: 'T0BETA000', userId: ben.userId };
      expect(await approve(ledger, asked.id, stranger, makeContext(ben, asked))).toEqual({
        kind: 'not-found',
      });
      expect(await cancel(ledger, asked.id, { ...stranger, userId: olivia.userId })).toEqual({
        kind: 'not-found',
      });
      expect(await findOperation(ledger, 'T0BETA000', asked.id)).toBeUndefined();
      expect(await findWaitingFor(ledger, stranger)).toEqual([]);
      expect(await approve(ledger, 'nothing', ben, makeContext(ben, asked))).toEqual({ kind: 'not-found' });
    });

    test('a denial keeps its reason, and a later press learns who denied', async () => {
      const { ledger } = await createLedgerHarness(await emptyDatabase());
      const asked = await propose(ledger, makeProposal());
      expect(
        await deny(ledger, asked.id, ben, { reason: ' still\0 needed ', context: makeContext(ben, asked) }),
      ).toMatchObject({
        kind: 'denied',
        operation: { state: 'denied', outcome: { word: 'denied', reason: 'still\uFFFD needed' } },
      });
      expect(await approveNow(ledger, asked.id, carl)).toMatchObject({
        kind: 'already',
        operation: { state: 'denied', movedBy: ben.userId },
      });
      await expect(
        deny(ledger, asked.id, ben, { reason: '  ', context: makeContext(ben, asked) }),
      ).rejects.toThrow(/reason/);
    });

    test('only the requester can cancel, until the execution begins', async () => {
      const { ledger } = await createLedgerHarness(await emptyDatabase());
      const first = await propose(ledger, makeProposal());
      expect(await cancel(ledger, first.id, ben)).toMatchObject({ kind: 'not-requester' });
      await approveNow(ledger, first.id, ben);
      expect(await cancel(ledger, first.id, olivia)).toMatchObject({ kind: 'cancelled' });
      expect(await beginNow(ledger, first.id)).toMatchObject({
        kind: 'already',
        operation: { state: 'cancelled' },
      });
      const second = await propose(ledger, makeProposal());
      await approveNow(ledger, second.id, ben);
      await beginNow(ledger, second.id);
      expect(await cancel(ledger, second.id, olivia)).toMatchObject({
        kind: 'already',
        operation: { state: 'executing' },
      });
    });

    test('an overdue request expires once, at a press or by the clock', async () => {
      const { ledger, openReplica, advance } = await createLedgerHarness(await emptyDatabase());
      const clicked = await propose(ledger, makeProposal());
      const left = await propose(ledger, makeProposal());
      advance(29.9);
      expect(await expireOverdue(ledger)).toEqual([]);
      advance(0.1);
      expect(await approveNow(ledger, clicked.id, ben)).toMatchObject({ kind: 'expired' });
      expect(await approveNow(ledger, clicked.id, ben)).toMatchObject({
        kind: 'already',
        operation: { state: 'expired', movedBy: 'system' },
      });
      const [one, other] = await Promise.all([expireOverdue(ledger), expireOverdue(openReplica())]);
      expect([...one, ...other]).toEqual([left.id]);
      expect(await findOperation(ledger, acme, left.id)).toMatchObject({ state: 'expired' });
    });

    test('an approved request that does not start within ten minutes expires', async () => {
      const { ledger, advance } = await createLedgerHarness(await emptyDatabase());
      const [first, second] = [await propose(ledger, makeProposal()), await propose(ledger, makeProposal())];
      advance(29);
      for (const { id } of [first, second]) await approveNow(ledger, id, ben);
      advance(9.9);
      expect(await expireOverdue(ledger)).toEqual([]);
      expect(await beginNow(ledger, first.id)).toMatchObject({ kind: 'begun' });
      advance(0.1);
      expect(await beginNow(ledger, second.id)).toMatchObject({ kind: 'expired' });
      expect(await beginNow(ledger, second.id)).toMatchObject({
        kind: 'already',
        operation: { state: 'expired' },
      });
    });

    test('approvers are reminded once, past half of the time', async () => {
      const { ledger, openReplica, advance } = await createLedgerHarness(await emptyDatabase());
      const asked = await propose(ledger, makeProposal());
      advance(14.9);
      expect(await findOperationsToRemind(ledger)).toEqual([]);
      advance(0.1);
      expect((await findOperationsToRemind(ledger)).map(({ id }) => id)).toEqual([asked.id]);
      const claims = await Promise.all([
        remindApprovers(ledger, asked),
        remindApprovers(openReplica(), asked),
      ]);
      expect(claims.toSorted()).toEqual([false, true]);
      expect(await findOperationsToRemind(ledger)).toEqual([]);
    });

    test('the lists have a person’s waiting approvals and own requests', async () => {
      const { ledger, advance } = await createLedgerHarness(await emptyDatabase());
      const byOlivia = await propose(ledger, makeProposal(deletion, olivia, twoOfThree));
      advance(1);
      const byAnna = await propose(ledger, makeProposal(deletion, anna, twoOfThree));
      const waiting = async (who: typeof ben) => (await findWaitingFor(ledger, who)).map(({ id }) => id);
      expect(await waiting(ben)).toEqual([byOlivia.id, byAnna.id]);
      expect(await waiting(anna)).toEqual([byOlivia.id]);
      await approveNow(ledger, byOlivia.id, ben, twoOfThree);
      expect(await waiting(ben)).toEqual([byAnna.id]);
      advance(29);
      expect(await waiting(ben)).toEqual([byAnna.id]);
      expect((await findRequestedBy(ledger, olivia, 5)).map(({ id }) => id)).toEqual([byOlivia.id]);
      expect(await findRequestedBy(ledger, ben, 5)).toEqual([]);
    });

    test('a new process reads everything, and old buttons are answered', async () => {
      const there = await createLocation();
      const before = await there.open();
      const { ledger, openReplica, advance } = await createLedgerHarness(before);
      const { id } = await propose(ledger, makeProposal(deletion, olivia, twoOfThree));
      await approveNow(ledger, id, ben, twoOfThree);
      await before.close();
      const restarted = openReplica(await there.open());
      expect(await findOperation(restarted, acme, id)).toMatchObject({
        state: 'proposed',
        approvals: [{ by: ben.userId }],
      });
      expect(await approveNow(restarted, id, carl, twoOfThree)).toMatchObject({
        kind: 'approved',
        operation: { state: 'approved' },
      });
      advance(24 * 60);
      expect(await approveNow(restarted, id, anna, twoOfThree)).toMatchObject({
        kind: 'already',
        operation: { state: 'approved' },
      });
    });

    test('stricter settings and lost rights void a waiting request', async () => {
      const { ledger } = await createLedgerHarness(await emptyDatabase());
      const why = async (rules: typeof policy) => {
        const { id } = await propose(ledger, makeProposal());
        const atClick = await approveNow(ledger, id, ben, rules);
        const other = await propose(ledger, makeProposal());
        await approveNow(ledger, other.id, ben, { ...policy, version: rules.version });
        const atBegin = await beginNow(ledger, other.id, rules);
        return [atClick, atBegin].map((answer) => ('why' in answer ? answer.why : answer.kind));
      };
      const later = { ...policy, version: 8 };
      expect(await why(twoOfThree)).toEqual(['more-approvals', 'more-approvals']);
      expect(await why({ ...later, operators: [] })).toEqual(['requester-may-not', 'requester-may-not']);
      expect(await why({ ...later, caps: { C0OPS0000: 'read' } })).toEqual([
        'requester-may-not',
        'requester-may-not',
      ]);
      expect(await why({ ...later, approvers: [anna.userId] })).toEqual(['not-allowed', 'approver-may-not']);
      // What does not matter for it does not void it.
      expect(await why({ ...later, expiryMinutes: 5, destroyApprovals: 0, postChannels: ['C1'] })).toEqual([
        'approved',
        'begun',
      ]);
    });

    test('an unknown outcome is ended by a person or a late answer, and never sent again', async () => {
      const { ledger, advance } = await createLedgerHarness(await emptyDatabase());
      const run = async () => {
        const { id } = await propose(ledger, makeProposal());
        await approveNow(ledger, id, ben);
        await beginNow(ledger, id);
        return id;
      };
      const [first, second, third] = [await run(), await run(), await run()];
      expect(await settle(ledger, first, { state: 'unknown', outcome: { word: 'timeout' } })).toMatchObject({
        kind: 'settled',
      });
      expect(await withLock(ledger, { id: second }, markAbandoned)).toBe(true);
      expect(await withLock(ledger, { id: second }, markAbandoned)).toBe(false);
      expect(await markLongExecuting(ledger)).toEqual([]);
      advance(10);
      expect(await markLongExecuting(ledger)).toEqual([third]);
      for (const id of [first, second, third])
        expect(await beginNow(ledger, id)).toMatchObject({
          kind: 'already',
          operation: { state: 'unknown' },
        });

      const asked = await findOperation(ledger, acme, first);
      if (!asked) throw new Error('It is there.');
      const nobody = { ...makeContext(ben, asked), clicker: actor(person('U0NOBODY0')) };
      expect(
        await confirmOutcome(ledger, first, person('U0NOBODY0'), { state: 'failed', context: nobody }),
      ).toMatchObject({
        kind: 'not-allowed',
      });
      expect(
        await confirmOutcome(ledger, first, olivia, {
          state: 'succeeded',
          context: makeContext(olivia, asked),
        }),
      ).toMatchObject({
        kind: 'confirmed',
        operation: { state: 'succeeded', movedBy: olivia.userId, outcome: { word: 'confirmed' } },
      });
      expect(await settle(ledger, first, { state: 'failed', outcome: { word: 'not-found' } })).toMatchObject({
        kind: 'already',
        operation: { movedBy: olivia.userId },
      });
      expect(await settle(ledger, second, { state: 'succeeded', outcome: { word: 'done' } })).toMatchObject({
        kind: 'settled',
      });
      expect(
        await confirmOutcome(ledger, second, ben, { state: 'failed', context: makeContext(ben, asked) }),
      ).toMatchObject({
        kind: 'already',
        operation: { state: 'succeeded' },
      });
    });

    test('a retry is a new request with its own approvals, made once', async () => {
      const { ledger, enqueued, openReplica } = await createLedgerHarness(await emptyDatabase());
      const { id } = await propose(ledger, makeProposal());
      const again = { policy, channelId: undefined, snapshot: { zones: [] }, approvers: [] };
      expect(await retry(ledger, id, olivia, again)).toMatchObject({ kind: 'not-now', why: 'state' });
      await approveNow(ledger, id, ben);
      await beginNow(ledger, id);
      await settle(ledger, id, { state: 'failed', outcome: { word: 'key-refused', status: 401 } });
      expect(await retry(ledger, id, ben, again)).toMatchObject({ kind: 'not-requester' });
      const pressed = await Promise.all([
        retry(ledger, id, olivia, again),
        retry(openReplica(), id, olivia, again),
      ]);
      expect(pressed.map(({ kind }) => kind).toSorted()).toEqual(['already-retried', 'proposed']);
      const [one, other] = pressed;
      expect('operation' in one && 'operation' in other && one.operation.id === other.operation.id).toBe(
        true,
      );
      const found = await findOperation(ledger, acme, id);
      expect(found).toMatchObject({ state: 'failed', triedAgainAs: expect.any(String) });
      expect(await findOperation(ledger, acme, found?.triedAgainAs ?? '')).toMatchObject({
        state: 'proposed',
        attemptOf: id,
        approvals: [],
        request: { appId: 'app-1', volumeId: 'vol 1' },
        reason: makeProposal().reason,
      });
      expect(enqueued).toEqual([id]);
    });

    test('offboarding cancels a person’s requests and destroys their values', async () => {
      const { ledger, database } = await createLedgerHarness(await emptyDatabase());
      const waits = await propose(
        ledger,
        makeProposal(edit('one'), olivia, { ...policy, changeApprovals: 1 }),
      );
      const approved = await propose(ledger, makeProposal(edit('two'), olivia, freely));
      const others = await propose(ledger, makeProposal(deletion, anna));
      const stopped = await cancelUnbegun(ledger, { person: olivia, tenant: acme });
      expect(stopped.toSorted()).toEqual([waits.id, approved.id].toSorted());
      expect(await findOperation(ledger, acme, waits.id)).toMatchObject({
        state: 'cancelled',
        movedBy: 'system',
        outcome: { word: 'requester-gone' },
      });
      expect(await database.db.selectFrom('operation_values').selectAll().execute()).toEqual([]);
      expect(await findOperation(ledger, acme, others.id)).toMatchObject({ state: 'proposed' });
      expect(await cancelUnbegun(ledger, { person: olivia, tenant: acme })).toEqual([]);
      expect(await cancelUnbegun(ledger, { person: undefined, tenant: acme })).toEqual([others.id]);
    });

    test('a value is sealed, sent once and stored nowhere in the clear', async () => {
      const { ledger, database, audit, enqueued } = await createLedgerHarness(await emptyDatabase());
      const asked = await propose(
        ledger,
        makeProposal({ ...edit('s3cret-of-the-shop'), required: true }, olivia, freely),
      );
      expect(asked).toMatchObject({
        state: 'approved',
        request: { scriptId: '301', variableId: '12', required: true, setsValue: true },
      });
      expect(enqueued).toEqual([asked.id]);
      expect((await findEvents(ledger, acme, asked.id)).map(({ what, actor: by }) => [what, by])).toEqual([
        ['proposed', olivia.userId],
        ['approved', 'system'],
      ]);
      const begun = await beginNow(ledger, asked.id, freely);
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      expect(begun.request.value?.reveal()).toBe('s3cret-of-the-shop');
      expect(begun.request).toMatchObject({
        path: '/compute/script/301/variables/12',
        body: '{"Required":true}',
      });
      const { db } = database;
      const everything = JSON.stringify([
        await db.selectFrom('operations').selectAll().execute(),
        await db.selectFrom('operation_events').selectAll().execute(),
        await db.selectFrom('operation_values').selectAll().execute(),
        await audit(),
      ]);
      expect(everything).not.toContain('s3cret');
    });

    test('the previous value is known from an earlier change, unless another may have come between', async () => {
      const { ledger, advance } = await createLedgerHarness(await emptyDatabase());
      const set = async (value: string, state: 'succeeded' | 'unknown' = 'succeeded', variable = '12') => {
        advance(1);
        const { id } = await propose(ledger, makeProposal(edit(value, variable), olivia, freely));
        await beginNow(ledger, id, freely);
        await settle(ledger, id, { state: state, outcome: { word: state } });
        return id;
      };
      const before = async (id: string) => {
        const previous = await findPreviousValue(ledger, id);
        return 'value' in previous ? previous.value.reveal() : previous.problem;
      };
      const first = await set('one');
      expect(await before(first)).toBe('unknown');
      const second = await set('two');
      await set('elsewhere', 'succeeded', '13');
      expect(await before(second)).toBe('one');
      const third = await set('three', 'unknown');
      expect(await before(second)).toBe('overtaken');
      expect(await before(third)).toBe('overtaken');
      const fourth = await set('four');
      expect(await before(fourth)).toBe('unknown');
      const fifth = await set('five');
      expect(await before(fifth)).toBe('four');
      expect(await destroyIdleValues(ledger)).toBe(0);
      advance(40);
      // `one`, `two` and `four` were overtaken; of `three` nobody knows, and `five` and `elsewhere` are the newest.
      expect(await destroyIdleValues(ledger)).toBe(3);
      expect(await before(fifth)).toBe('unknown');
      advance(24 * 60);
      expect(await destroyIdleValues(ledger)).toBe(1);
      expect(
        await retry(ledger, third, olivia, {
          policy: freely,
          channelId: undefined,
          snapshot: null,
          approvers: [],
        }),
      ).toMatchObject({
        kind: 'not-now',
        why: 'value-gone',
      });
    });

    test('a failed change is retried with its value', async () => {
      const { ledger } = await createLedgerHarness(await emptyDatabase());
      const { id } = await propose(ledger, makeProposal(edit('kept'), olivia, freely));
      await beginNow(ledger, id, freely);
      await settle(ledger, id, { state: 'failed', outcome: { word: 'key-refused', status: 401 } });
      const answer = await retry(ledger, id, olivia, {
        policy: freely,
        channelId: undefined,
        snapshot: null,
        approvers: [],
      });
      if (answer.kind !== 'proposed') throw new Error(answer.kind);
      expect(await beginNow(ledger, answer.operation.id, freely)).toMatchObject({ kind: 'begun' });
    });
  });
});
