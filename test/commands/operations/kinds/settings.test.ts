import { describe, expect, test } from 'vitest';
import { createPolicies } from '../../../../src/auth/policy/policies.ts';
import { initialPolicy, type Policy } from '../../../../src/auth/policy/policy.ts';
import { approve, cancel, deny } from '../../../../src/commands/operations/approvals.ts';
import { begin, cancelUnbegun, settle, voidOvertaken } from '../../../../src/commands/operations/execute.ts';
import {
  findLowering,
  settingsChange,
  writeFacts,
} from '../../../../src/commands/operations/kinds/settings.ts';
import {
  type DecisionContext,
  findWaitingFor,
  type Operation,
} from '../../../../src/commands/operations/model.ts';
import { propose } from '../../../../src/commands/operations/propose.ts';
import { UserError } from '../../../../src/errors.ts';
import type { Database } from '../../../../src/store/database.ts';
import { prepareEngines } from '../../../support/engines.ts';
import {
  acme,
  actor,
  policy as before,
  brief,
  createLedgerHarness,
  findNow,
  makeProposal,
  person,
} from '../ledger-harness.ts';

const engines = await prepareEngines();
const { embedded } = engines;
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
    ask: (
      change: Partial<Policy> = { destroyApprovals: 0 },
      requester = alice,
      policy = before,
    ): Promise<Operation> => {
      const { version: _, ...request } = { ...before, ...change };
      return propose(ledger, {
        kind: settingsChange,
        request,
        requester,
        channelId: undefined,
        reason: undefined,
        snapshot: writeFacts(before, lowers, alice.userId),
        policy,
        approvers: [carol.userId, dave.userId],
      });
    },
    /** What the job does, without its key and its answers to people. */
    execute: async (id: string) => {
      const begun = await begin(ledger, id, context());
      if (begun.kind !== 'begun') return begun;
      const { requester, row } = begun.operation;
      const settlement = await settingsChange.send({
        path: row.path,
        body: row.body,
        value: begun.value,
        requester,
        policyVersion: row.policy_version,
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

test('a change of settings holds once another admin confirms, with both names in the record', async () => {
  const { ledger, ask, execute, policies, audit } = await start(await embedded.emptyDatabase());
  const { id, state, approvalsNeeded } = await ask();
  expect([state, approvalsNeeded]).toEqual(['proposed', 1]);
  expect((await policies.current(acme)).version).toBe(7);
  expect(brief(await approve(ledger, id, carol, context()))).toBe('approved approved');
  expect(brief(await execute(id))).toBe('settled succeeded');
  expect(await policies.current(acme)).toMatchObject({ version: 8, destroyApprovals: 0 });
  expect(await policies.version(acme, 8)).toMatchObject({ by: alice.userId });
  expect((await audit()).find(({ event }) => event === 'policy-changed')?.detail).toEqual({
    change1: 'destroyApprovals: 1 -> 0',
    confirmed: `confirmed by ${carol.userId}`,
  });
  expect((await findNow(ledger, id)).words.outcome).toBe('Saved (version 8).');
});

test('it is not decided by who asked, by somebody who is no admin, or once its requester is none', async () => {
  const { ledger, ask } = await start(await embedded.emptyDatabase());
  const { id } = await ask();
  expect(brief(await approve(ledger, id, alice, context(alice)))).toBe('own-request proposed');
  const member = { ...context(dave), clicker: actor(dave) };
  expect(brief(await approve(ledger, id, dave, member))).toBe('not-allowed not-admin');
  const demoted = { ...context(), requester: actor(alice) };
  expect(brief(await approve(ledger, id, carol, demoted))).toBe('void requester-may-not');
});

test('each admin is asked directly, also where approvals have a channel', async () => {
  const { ledger, ask } = await start(await embedded.emptyDatabase());
  await ask({}, alice, { ...before, approvalChannel: 'C0OPS0000' });
  const cards = ledger.db.selectFrom('outbox').select('places').where('kind', '=', 'operation-card');
  const places = (await cards.execute()).map((card) => card.places);
  expect(places.toSorted()).toEqual([carol, dave].map(({ userId }) => JSON.stringify([userId])));
});

test('it needs no key, so it stays without that of its requester, and ends with the app', async () => {
  const { ledger, ask } = await start(await embedded.emptyDatabase());
  const { id } = await ask();
  expect(await cancelUnbegun(ledger, { person: alice, tenant: acme })).toEqual([]);
  expect(await cancelUnbegun(ledger, { person: undefined, tenant: acme })).toEqual([id]);
});

test('it is taken back by its requester, rejected without a reason, and expires after a day', async () => {
  const { ledger, ask, advance } = await start(await embedded.emptyDatabase());
  const [one, other, { id }] = [await ask(), await ask(), await ask()];
  expect(brief(await cancel(ledger, one.id, alice))).toBe('cancelled cancelled');
  const rejected = await deny(ledger, other.id, carol, { reason: undefined, context: context() });
  expect(brief(rejected)).toBe('denied denied');
  advance(24 * 60 - 1);
  expect(await findWaitingFor(ledger, carol)).toMatchObject([{ id }]);
  advance(1);
  expect(await findWaitingFor(ledger, carol)).toEqual([]);
  expect(brief(await approve(ledger, id, carol, context()))).toBe('expired expired');
});

test('it is void as soon as the settings change otherwise, at the press and when it runs', async () => {
  const { ledger, ask, execute, save } = await start(await embedded.emptyDatabase());
  const [pressed, run, listed] = [await ask(), await ask(), await ask()];
  // Neither what waits elsewhere nor a change of something else.
  await ask({}, { ...alice, teamId: 'T0BETA000' });
  const { id: other } = await propose(ledger, makeProposal());
  await approve(ledger, run.id, carol, context());
  await save({ expiryMinutes: 60 });
  // What was read before decides nothing.
  await expect(approve(ledger, pressed.id, carol, context())).rejects.toThrow(UserError);
  await expect(execute(run.id)).rejects.toThrow(UserError);
  const now = context(carol, { ...before, version: 8 });
  expect(brief(await approve(ledger, pressed.id, carol, now))).toBe('void overtaken');
  expect(brief(await begin(ledger, run.id, now))).toBe('void overtaken');
  expect(await voidOvertaken(ledger, acme, settingsChange.name)).toEqual([listed.id]);
  // One that its author takes back at that moment is left.
  const { id } = await ask();
  const overtaking = voidOvertaken(ledger, acme, settingsChange.name);
  const atOnce = [overtaking, cancel(ledger, id, alice)];
  expect(await Promise.all<unknown>(atOnce)).toMatchObject([[], { kind: 'cancelled' }]);
  expect((await findWaitingFor(ledger, carol)).map(({ id }) => id)).toEqual([other]);
});

/** The settings may have changed after the rights were read. */
const orRefused = (decided: Promise<boolean>): Promise<boolean> =>
  decided.catch((error: unknown) => {
    if (error instanceof UserError) return false;
    throw error;
  });

describe.each(engines.both)('on $name', ({ skip, emptyDatabase }) => {
  test.skipIf(skip)('of twenty who decide and save at once exactly one does', async () => {
    const { ledger, ask, execute, save, policies } = await start(await emptyDatabase());
    const { id } = await ask();
    const reject = { reason: undefined, context: context(dave) };
    const decided = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        if (index % 3 === 1)
          return orRefused(deny(ledger, id, dave, reject).then(({ kind }) => kind === 'denied'));
        if (index % 3 === 2) return (await save({ expiryMinutes: 60 })).saved;
        const confirm = async () =>
          (await approve(ledger, id, carol, context())).kind === 'approved' &&
          (await execute(id)).kind === 'settled';
        return orRefused(confirm());
      }),
    );
    const { state, outcome } = await findNow(ledger, id);
    const { version } = await policies.current(acme);
    expect(version).toBeLessThanOrEqual(8);
    // One save or confirmation; a rejection leaves the settings as they are, so that one save may follow it.
    expect(decided.filter(Boolean).length).toBeLessThanOrEqual(
      state === 'denied' ? 2 : 1 + Number(outcome?.word === 'overtaken'),
    );
  });
});

const author = { userId: 'U1', groups: ['S1'] };
const none = { fewer: [], gains: [], off: false };
const acts = ['export', 'change', 'destroy'] as const;

test.each<[string, Partial<Policy>, Partial<Policy>, object]>([
  ['fewer approvals for deletions', { destroyApprovals: 2 }, { destroyApprovals: 1 }, { fewer: ['destroy'] }],
  [
    'none for both',
    { changeApprovals: 1 },
    { destroyApprovals: 0, changeApprovals: 0 },
    { fewer: ['destroy', 'change'] },
  ],
  ['naming oneself an operator', {}, { operators: ['U2', 'U1'] }, { gains: acts }],
  ['naming oneself an approver', {}, { approvers: ['U1'] }, { gains: ['approve'] }],
  ['an operator group one is in', {}, { operatorGroups: ['S1'] }, { gains: acts }],
  ['an approver group one is in', {}, { approverGroups: ['S2', 'S1'] }, { gains: ['approve'] }],
  [
    'a cap that goes where one is an operator',
    { operators: ['U1'], caps: { C1: 'export' } },
    { operators: ['U1'] },
    { gains: ['change', 'destroy'] },
  ],
  ['the rule itself', {}, { secondAdmin: false }, { off: true }],
])('%s needs a second admin', (_, before, after, lowers) => {
  const found = findLowering({ ...initialPolicy, ...before }, { ...initialPolicy, ...after }, author);
  expect(found).toEqual({ ...none, ...lowers });
});

test.each<[string, Partial<Policy>, Partial<Policy>]>([
  ['more approvals', {}, { destroyApprovals: 2, changeApprovals: 2 }],
  ['a longer expiry', {}, { expiryMinutes: 1440 }],
  ['naming others', {}, { operators: ['U2'], approvers: ['U3'], approverGroups: ['S2'] }],
  ['a group in place of oneself', { operators: ['U1'] }, { operatorGroups: ['S1'] }],
  ['a cap that goes and lets everybody read', { caps: { C1: 'none' } }, {}],
  ['a cap that comes', { operators: ['U1'] }, { operators: ['U1'], caps: { C1: 'read' } }],
  ['anything where the rule is off', { secondAdmin: false }, { destroyApprovals: 0, approvers: ['U1'] }],
  ['turning the rule on', { secondAdmin: false }, {}],
])('%s does not', (_, before, after) => {
  const found = findLowering({ ...initialPolicy, ...before }, { ...initialPolicy, ...after }, author);
  expect(found).toBeUndefined();
});
