import { describe, expect, test } from 'vitest';
import { Secret } from '../../src/secrets/secret.ts';
import { prepareEngines } from '../support/engines.ts';
import {
  acme,
  actor,
  anna,
  approve,
  begin,
  ben,
  carl,
  createLedgerHarness,
  deletion,
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

describe.each(engines.both)('on $name', ({ skip, emptyDatabase: empty, createLocation: place }) => {
  describe.skipIf(skip)('the ledger', () => {
    test('leads from what was asked for over an approval to what came of it', async () => {
      const { ledger, enqueued, audit } = await createLedgerHarness(await empty());
      const asked = await ledger.propose(makeProposal());
      expect(asked).toMatchObject({
        id: expect.stringMatching(/^[a-z2-9]{16}$/),
        state: 'proposed',
        request: deletion,
        requester: olivia,
        snapshot: makeProposal().snapshot,
        policyVersion: 7,
        approvalsNeeded: 1,
        seal: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(enqueued).toEqual([]);
      expect(await approve(ledger, asked.id, ben)).toMatchObject({ kind: 'approved', have: 1, need: 1 });
      expect(enqueued).toEqual([asked.id]);
      expect(await begin(ledger, asked.id)).toMatchObject({ kind: 'begun', request: deletion });
      expect(await begin(ledger, asked.id)).toMatchObject({ kind: 'already', state: 'executing' });
      const outcome = { word: 'done', status: 200, requestId: 'abc123', facts: { instances: 2 } };
      expect(await ledger.settle(asked.id, 'succeeded', outcome)).toMatchObject({ kind: 'settled' });
      expect(await ledger.find(acme, asked.id)).toMatchObject({ state: 'succeeded', outcome });
      expect((await ledger.events(acme, asked.id)).map(({ what, actor }) => [what, actor])).toEqual([
        ['proposed', olivia.userId],
        ['approved', ben.userId],
        ['executing', 'system'],
        ['succeeded', 'system'],
      ]);
      expect(
        (await audit()).map(({ event, actor, subject, requestId }) => [event, actor, subject, requestId]),
      ).toEqual([
        ['operation-proposed', olivia.userId, asked.seal, undefined],
        ['operation-approved', ben.userId, asked.seal, undefined],
        ['operation-executing', 'system', asked.seal, undefined],
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
      });
    });

    test('two of three: distinct people, never the requester', async () => {
      const { ledger, enqueued } = await createLedgerHarness(await empty());
      const { id } = await ledger.propose(makeProposal(deletion, anna, twoOfThree));
      expect(await approve(ledger, id, anna, twoOfThree)).toMatchObject({ kind: 'own-request' });
      expect(await approve(ledger, id, ben, twoOfThree)).toMatchObject({
        kind: 'approved',
        have: 1,
        need: 2,
      });
      expect(await approve(ledger, id, ben, twoOfThree)).toMatchObject({ kind: 'twice', have: 1, need: 2 });
      expect(await approve(ledger, id, olivia, twoOfThree)).toMatchObject({
        kind: 'not-allowed',
        decision: { reason: 'not-approver' },
      });
      expect(enqueued).toEqual([]);
      expect(await approve(ledger, id, carl, twoOfThree)).toMatchObject({
        kind: 'approved',
        have: 2,
        need: 2,
      });
      expect(enqueued).toEqual([id]);
      expect(await approve(ledger, id, carl, twoOfThree)).toMatchObject({
        kind: 'already',
        state: 'approved',
        by: carl.userId,
      });
    });

    test('an admin does not approve what they asked for, nor does somebody of another organisation', async () => {
      const { ledger } = await createLedgerHarness(await empty());
      const asked = await ledger.propose(makeProposal(deletion, anna));
      const own = { ...makeContext(anna, asked), clicker: actor(anna, { admin: true }) };
      expect(await ledger.approve(asked.id, anna, own)).toMatchObject({ kind: 'own-request' });
      const foreign = { ...makeContext(ben, asked), clicker: actor(ben, { foreign: true }) };
      expect(await ledger.approve(asked.id, ben, foreign)).toMatchObject({
        kind: 'not-allowed',
        decision: { reason: 'foreign' },
      });
      expect(await ledger.deny(asked.id, anna, 'no', own)).toMatchObject({ kind: 'own-request' });
    });

    test('is one ledger for each tenant: the id alone opens nothing', async () => {
      const { ledger } = await createLedgerHarness(await empty());
      const asked = await ledger.propose(makeProposal());
      const stranger = { teamId: 'T0BETA000', userId: ben.userId };
      expect(await ledger.approve(asked.id, stranger, makeContext(ben, asked))).toEqual({
        kind: 'not-found',
      });
      expect(await ledger.cancel(asked.id, { ...stranger, userId: olivia.userId })).toEqual({
        kind: 'not-found',
      });
      expect(await ledger.find('T0BETA000', asked.id)).toBeUndefined();
      expect(await ledger.waitingFor(stranger)).toEqual([]);
      expect(await ledger.approve('nothing', ben, makeContext(ben, asked))).toEqual({ kind: 'not-found' });
    });

    test('keeps what a denial says, and says who denied to whoever comes later', async () => {
      const { ledger } = await createLedgerHarness(await empty());
      const asked = await ledger.propose(makeProposal());
      expect(await ledger.deny(asked.id, ben, ' still\0 needed ', makeContext(ben, asked))).toMatchObject({
        kind: 'denied',
        operation: { state: 'denied', outcome: { word: 'denied', reason: 'still\uFFFD needed' } },
      });
      expect(await approve(ledger, asked.id, carl)).toMatchObject({
        kind: 'already',
        state: 'denied',
        by: ben.userId,
      });
      await expect(ledger.deny(asked.id, ben, '  ', makeContext(ben, asked))).rejects.toThrow('has a reason');
    });

    test('who asked can take it back until it runs, and nobody else can', async () => {
      const { ledger } = await createLedgerHarness(await empty());
      const first = await ledger.propose(makeProposal());
      expect(await ledger.cancel(first.id, ben)).toMatchObject({ kind: 'not-requester' });
      await approve(ledger, first.id, ben);
      expect(await ledger.cancel(first.id, olivia)).toMatchObject({ kind: 'cancelled' });
      expect(await begin(ledger, first.id)).toMatchObject({ kind: 'already', state: 'cancelled' });
      const second = await ledger.propose(makeProposal());
      await approve(ledger, second.id, ben);
      await begin(ledger, second.id);
      expect(await ledger.cancel(second.id, olivia)).toMatchObject({ kind: 'already', state: 'executing' });
    });

    test('expires what waited too long, at the click or by the clock, once', async () => {
      const { ledger, openReplica: another, advance } = await createLedgerHarness(await empty());
      const clicked = await ledger.propose(makeProposal());
      const left = await ledger.propose(makeProposal());
      advance(29.9);
      expect(await ledger.expireDue()).toEqual([]);
      advance(0.1);
      expect(await approve(ledger, clicked.id, ben)).toMatchObject({ kind: 'expired' });
      expect(await approve(ledger, clicked.id, ben)).toMatchObject({
        kind: 'already',
        state: 'expired',
        by: 'system',
      });
      const [one, other] = await Promise.all([ledger.expireDue(), another().expireDue()]);
      expect([...one, ...other].map(({ id, state }) => [id, state])).toEqual([[left.id, 'expired']]);
    });

    test('what was approved and nobody ran for ten minutes does not run any more', async () => {
      const { ledger, advance } = await createLedgerHarness(await empty());
      const [first, second] = [await ledger.propose(makeProposal()), await ledger.propose(makeProposal())];
      advance(29);
      for (const { id } of [first, second]) await approve(ledger, id, ben);
      advance(9.9);
      expect(await ledger.expireDue()).toEqual([]);
      expect(await begin(ledger, first.id)).toMatchObject({ kind: 'begun' });
      advance(0.1);
      expect(await begin(ledger, second.id)).toMatchObject({ kind: 'expired' });
      expect(await begin(ledger, second.id)).toMatchObject({ kind: 'already', state: 'expired' });
    });

    test('reminds once, past half of the time', async () => {
      const { ledger, openReplica: another, advance } = await createLedgerHarness(await empty());
      const { id } = await ledger.propose(makeProposal());
      advance(14.9);
      expect(await ledger.remindDue()).toEqual([]);
      advance(0.1);
      expect((await ledger.remindDue()).map((due) => due.id)).toEqual([id]);
      const claims = await Promise.all([ledger.markReminded(id), another().markReminded(id)]);
      expect(claims.toSorted()).toEqual([false, true]);
      expect(await ledger.remindDue()).toEqual([]);
    });

    test('lists what waits for somebody and what they asked for', async () => {
      const { ledger, advance } = await createLedgerHarness(await empty());
      const byOlivia = await ledger.propose(makeProposal(deletion, olivia, twoOfThree));
      advance(1);
      const byAnna = await ledger.propose(makeProposal(deletion, anna, twoOfThree));
      const waiting = async (who: typeof ben) => (await ledger.waitingFor(who)).map(({ id }) => id);
      expect(await waiting(ben)).toEqual([byOlivia.id, byAnna.id]);
      expect(await waiting(anna)).toEqual([byOlivia.id]);
      await approve(ledger, byOlivia.id, ben, twoOfThree);
      expect(await waiting(ben)).toEqual([byAnna.id]);
      advance(29);
      expect(await waiting(ben)).toEqual([byAnna.id]);
      expect((await ledger.requestedBy(olivia, 5)).map(({ id }) => id)).toEqual([byOlivia.id]);
      expect(await ledger.requestedBy(ben, 5)).toEqual([]);
    });

    test('a new process sees everything, and yesterday’s buttons answer', async () => {
      const there = await place();
      const before = await there.open();
      const { ledger, openReplica: another, advance } = await createLedgerHarness(before);
      const { id } = await ledger.propose(makeProposal(deletion, olivia, twoOfThree));
      await ledger.noteMessage(id, { role: 'approval', channel: 'C0OPS0000', ts: '1.1' });
      await ledger.noteMessage(id, { role: 'requester', channel: 'D0OLIVIA0', ts: '2.1' });
      for (const _ of [1, 2])
        await ledger.noteMessage(id, { role: 'approval', channel: 'C0OPS0000', ts: '1.2' });
      await approve(ledger, id, ben, twoOfThree);
      await before.close();
      const restarted = another(await there.open());
      expect(await restarted.find(acme, id)).toMatchObject({
        state: 'proposed',
        approvals: [{ by: ben.userId }],
        messages: [
          { role: 'approval', channel: 'C0OPS0000', ts: '1.1' },
          { role: 'requester', channel: 'D0OLIVIA0', ts: '2.1' },
          { role: 'approval', channel: 'C0OPS0000', ts: '1.2' },
        ],
      });
      expect(await approve(restarted, id, carl, twoOfThree)).toMatchObject({ kind: 'approved', have: 2 });
      advance(24 * 60);
      expect(await approve(restarted, id, anna, twoOfThree)).toMatchObject({
        kind: 'already',
        state: 'approved',
      });
    });

    test('settings that ask for more, or rights that were taken, void what waits', async () => {
      const { ledger } = await createLedgerHarness(await empty());
      const why = async (rules: typeof policy) => {
        const { id } = await ledger.propose(makeProposal());
        const atClick = await approve(ledger, id, ben, rules);
        const other = await ledger.propose(makeProposal());
        await approve(ledger, other.id, ben);
        const atBegin = await begin(ledger, other.id, rules);
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
      expect(await why({ ...later, expiryMinutes: 5, destroyApprovals: 0, digestChannels: ['C1'] })).toEqual([
        'approved',
        'begun',
      ]);
    });

    test('what nobody knows is told by a person, or late by the service, never sent again', async () => {
      const { ledger, advance } = await createLedgerHarness(await empty());
      const run = async () => {
        const { id } = await ledger.propose(makeProposal());
        await approve(ledger, id, ben);
        await begin(ledger, id);
        return id;
      };
      const [first, second, third] = [await run(), await run(), await run()];
      expect(await ledger.settle(first, 'unknown', { word: 'timeout' })).toMatchObject({ kind: 'settled' });
      expect((await ledger.abandoned(second)).map(({ id }) => id)).toEqual([second]);
      expect(await ledger.abandoned(second)).toEqual([]);
      expect(await ledger.abandoned()).toEqual([]);
      advance(10);
      expect((await ledger.abandoned()).map(({ id, state }) => [id, state])).toEqual([[third, 'unknown']]);
      for (const id of [first, second, third])
        expect(await begin(ledger, id)).toMatchObject({ kind: 'already', state: 'unknown' });

      const asked = await ledger.find(acme, first);
      if (!asked) throw new Error('It is there.');
      const nobody = { ...makeContext(ben, asked), clicker: actor(person('U0NOBODY0')) };
      expect(await ledger.confirm(first, person('U0NOBODY0'), 'failed', nobody)).toMatchObject({
        kind: 'not-allowed',
      });
      expect(await ledger.confirm(first, olivia, 'succeeded', makeContext(olivia, asked))).toMatchObject({
        kind: 'confirmed',
        operation: { state: 'succeeded', movedBy: olivia.userId, outcome: { word: 'confirmed' } },
      });
      expect(await ledger.settle(first, 'failed', { word: 'not-found' })).toMatchObject({
        kind: 'already',
        by: olivia.userId,
      });
      expect(await ledger.settle(second, 'succeeded', { word: 'done' })).toMatchObject({ kind: 'settled' });
      expect(await ledger.confirm(second, ben, 'failed', makeContext(ben, asked))).toMatchObject({
        kind: 'already',
        state: 'succeeded',
      });
    });

    test('trying again is another request, approved anew, once', async () => {
      const { ledger, enqueued, openReplica: another } = await createLedgerHarness(await empty());
      const { id } = await ledger.propose(makeProposal());
      const again = { policy, channelId: undefined, snapshot: { zones: [] } };
      expect(await ledger.tryAgain(id, olivia, again)).toMatchObject({ kind: 'not-now', why: 'state' });
      await approve(ledger, id, ben);
      await begin(ledger, id);
      await ledger.settle(id, 'failed', { word: 'key-refused', status: 401 });
      expect(await ledger.tryAgain(id, ben, again)).toMatchObject({ kind: 'not-requester' });
      const pressed = await Promise.all([
        ledger.tryAgain(id, olivia, again),
        another().tryAgain(id, olivia, again),
      ]);
      expect(pressed.map(({ kind }) => kind).toSorted()).toEqual(['already-again', 'proposed']);
      const [one, other] = pressed;
      expect('operation' in one && 'operation' in other && one.operation.id === other.operation.id).toBe(
        true,
      );
      const found = await ledger.find(acme, id);
      expect(found).toMatchObject({ state: 'failed', triedAgainAs: expect.any(String) });
      expect(await ledger.find(acme, found?.triedAgainAs ?? '')).toMatchObject({
        state: 'proposed',
        attemptOf: id,
        approvals: [],
        request: deletion,
        reason: 'no longer needed',
      });
      expect(enqueued).toEqual([id]);
    });

    test('ends with its person: cancelled to see, its value destroyed', async () => {
      const { ledger, database } = await createLedgerHarness(await empty());
      const waits = await ledger.propose(
        makeProposal(edit('one'), olivia, { ...policy, changeApprovals: 1 }),
      );
      const approved = await ledger.propose(makeProposal(edit('two'), olivia, freely));
      const others = await ledger.propose(makeProposal(deletion, anna));
      const stopped = await ledger.stop({ person: olivia, tenant: acme });
      expect(stopped.map(({ id }) => id).toSorted()).toEqual([waits.id, approved.id].toSorted());
      expect(await ledger.find(acme, waits.id)).toMatchObject({
        state: 'cancelled',
        movedBy: 'system',
        outcome: { word: 'requester-gone' },
      });
      expect(await database.db.selectFrom('operation_values').selectAll().execute()).toEqual([]);
      expect(await ledger.find(acme, others.id)).toMatchObject({ state: 'proposed' });
      expect(await ledger.stop({ person: olivia, tenant: acme })).toEqual([]);
      expect((await ledger.stop({ person: undefined, tenant: acme })).map(({ id }) => id)).toEqual([
        others.id,
      ]);
    });

    test('a value is sealed, goes along once, and stands nowhere in the clear', async () => {
      const { ledger, database, audit, enqueued } = await createLedgerHarness(await empty());
      const asked = await ledger.propose(
        makeProposal({ ...edit('s3cret-of-the-shop'), required: true }, olivia, freely),
      );
      expect(asked).toMatchObject({
        state: 'approved',
        request: { scriptId: '301', variableId: '12', required: true, setsValue: true },
      });
      expect(enqueued).toEqual([asked.id]);
      expect((await ledger.events(acme, asked.id)).map(({ what, actor: by }) => [what, by])).toEqual([
        ['proposed', olivia.userId],
        ['approved', 'system'],
      ]);
      const begun = await begin(ledger, asked.id, freely);
      if (begun.kind !== 'begun' || begun.request.kind !== 'variable-update') throw new Error(begun.kind);
      expect(begun.request.value?.reveal()).toBe('s3cret-of-the-shop');
      expect(begun.request.required).toBe(true);
      const { db } = database;
      const everything = JSON.stringify([
        await db.selectFrom('operations').selectAll().execute(),
        await db.selectFrom('operation_events').selectAll().execute(),
        await db.selectFrom('operation_values').selectAll().execute(),
        await audit(),
      ]);
      expect(everything).not.toContain('s3cret');
    });

    test('the value before is known from an earlier edit, unless something may have come between', async () => {
      const { ledger, advance } = await createLedgerHarness(await empty());
      const set = async (value: string, state: 'succeeded' | 'unknown' = 'succeeded', variable = '12') => {
        advance(1);
        const { id } = await ledger.propose(makeProposal(edit(value, variable), olivia, freely));
        await begin(ledger, id, freely);
        await ledger.settle(id, state, { word: state });
        return id;
      };
      const before = async (id: string) => (await ledger.earlierValue(id))?.reveal();
      const first = await set('one');
      expect(await before(first)).toBeUndefined();
      const second = await set('two');
      await set('elsewhere', 'succeeded', '13');
      expect(await before(second)).toBe('one');
      const third = await set('three', 'unknown');
      expect(await before(second)).toBeUndefined();
      expect(await before(third)).toBeUndefined();
      const fourth = await set('four');
      expect(await before(fourth)).toBeUndefined();
      const fifth = await set('five');
      expect(await before(fifth)).toBe('four');
      expect(await ledger.forgetValues()).toBe(0);
      advance(40);
      // `one`, `two` and `four` were overtaken; of `three` nobody knows, and `five` and `elsewhere` are the newest.
      expect(await ledger.forgetValues()).toBe(3);
      expect(await before(fifth)).toBeUndefined();
      advance(24 * 60);
      expect(await ledger.forgetValues()).toBe(1);
      expect(
        await ledger.tryAgain(third, olivia, { policy: freely, channelId: undefined, snapshot: null }),
      ).toMatchObject({
        kind: 'not-now',
        why: 'value-gone',
      });
    });

    test('a failed edit is tried again with its value', async () => {
      const { ledger } = await createLedgerHarness(await empty());
      const { id } = await ledger.propose(makeProposal(edit('kept'), olivia, freely));
      await begin(ledger, id, freely);
      await ledger.settle(id, 'failed', { word: 'key-refused', status: 401 });
      const answer = await ledger.tryAgain(id, olivia, {
        policy: freely,
        channelId: undefined,
        snapshot: null,
      });
      if (answer.kind !== 'proposed') throw new Error(answer.kind);
      expect(await begin(ledger, answer.operation.id, freely)).toMatchObject({ kind: 'begun' });
    });
  });
});
