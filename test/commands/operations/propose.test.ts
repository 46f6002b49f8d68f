import { expect, test } from 'vitest';
import type { People } from '../../../src/auth/identity.ts';
import { RolesUnknown } from '../../../src/auth/policy/authorizer.ts';
import { createPolicies } from '../../../src/auth/policy/policies.ts';
import type { Context } from '../../../src/commands/define.ts';
import { approve, cancel, confirmOutcome, deny } from '../../../src/commands/operations/approvals.ts';
import { cancelUnbegun, expireOverdue, settle } from '../../../src/commands/operations/execute.ts';
import { findWaitingFor, type Operation } from '../../../src/commands/operations/model.ts';
import {
  assertAdminFor,
  findHelp,
  propose,
  proposeByAssistant,
  sendFormByAssistant,
  waitForOutcome,
} from '../../../src/commands/operations/propose.ts';
import type { Ledger } from '../../../src/commands/operations/transitions.ts';
import { UserError } from '../../../src/errors.ts';
import {
  beginStepRun,
  closeStepRun,
  completeStepJob,
  type StepRunEnd,
} from '../../../src/outbox/complete-step.ts';
import { prepareEngines } from '../../support/engines.ts';
import {
  acme,
  anna,
  approveNow,
  beginNow,
  ben,
  createLedgerHarness,
  deletion,
  makeContext,
  makeProposal,
  olivia,
  policy,
  toRequested,
} from './ledger-harness.ts';

const { embedded, postgres } = await prepareEngines();
// Others may approve, and nobody has to.
const freely = { ...policy, destroyApprovals: 0 };
const asked = { ...makeProposal(deletion, olivia, freely), via: 'assistant' };

const start = async () => createLedgerHarness(await embedded.emptyDatabase());

test('what an assistant asks for waits for its own person, whoever else presses', async () => {
  const { ledger } = await start();
  const operation = await proposeByAssistant(ledger, asked);
  expect(operation.state).toBe('proposed');
  expect(await findWaitingFor(ledger, ben)).toEqual([]);
  const pressed = await approveNow(ledger, operation.id, ben, { ...freely, version: policy.version });
  expect(pressed).toMatchObject({ kind: 'not-requester', operation: { state: 'proposed' } });
  const context = makeContext(olivia, operation, { ...freely, version: policy.version });
  const denied = await deny(ledger, operation.id, olivia, { reason: 'no', context });
  expect(denied).toMatchObject({ kind: 'not-requester', operation: { state: 'proposed' } });
  const confirmed = await approve(ledger, operation.id, olivia, context);
  expect(confirmed).toMatchObject({ kind: 'approved', operation: { state: 'approved' } });
});

const another = (nth: number) => ({
  ...asked,
  ...toRequested({ kind: 'volume-delete', appId: 'app-1', volumeId: `vol-${nth}` }),
});

test('the same request that waits is answered again, another one is made', async () => {
  const { ledger } = await start();
  const { id } = await proposeByAssistant(ledger, asked);
  expect((await proposeByAssistant(ledger, asked)).id).toBe(id);
  expect((await proposeByAssistant(ledger, another(2))).id).not.toBe(id);
  const otherKind = { ...asked, kind: { ...asked.kind } };
  expect((await proposeByAssistant(ledger, otherKind)).id).not.toBe(id);
});

test('nobody waits for the outcome of a request whose answer nobody takes any more', async () => {
  const { ledger } = await start();
  const operation = await propose(ledger, makeProposal(deletion, olivia, freely));
  const context = { ledger, signal: AbortSignal.abort() } as unknown as Context;
  expect(await waitForOutcome(operation, context)).toBe(operation);
});

test.each([
  ['an admin who asks', anna.userId, 'settings'],
  ['an admin whom others can ask', ben.userId, 'ask'],
])('%s is named as help', async (_, admin, offer) => {
  const { ledger, database } = await start();
  const policies = createPolicies({ ...ledger, db: database.db });
  const profile = async (id: string) => ({
    admin: id === admin,
    foreign: false,
    deleted: false,
    timeZone: undefined,
  });
  const people = { configuredAdmins: [admin], profile, missingScopes: () => [] } as unknown as People;
  const who = { people, policies, person: anna };
  expect((await findHelp(who)).offer).toBe(offer);
  for (const [reason, thrown] of [
    ['admin', undefined],
    ['not-admin', UserError],
    ['unknown', RolesUnknown],
  ] as const) {
    const decide = async () => ({ allowed: thrown === undefined, reason, trace: [] });
    const asserted = assertAdminFor('no', '', { ...who, decide } as unknown as Context);
    expect(await asserted.catch((error: Error) => error.constructor)).toBe(thrown);
  }
});

test.skipIf(postgres.skip)('of five requests side by side three are made', async () => {
  const { ledger } = await createLedgerHarness(await postgres.emptyDatabase());
  const made = [1, 2, 3, 4, 5].map((nth) => proposeByAssistant(ledger, another(nth)));
  const kept = (await Promise.allSettled(made)).filter(({ status }) => status === 'fulfilled');
  expect(kept).toHaveLength(3);
});

const pathOf = (variableId: number) => `/compute/script/301/variables/${variableId}`;
const sendFormOf = (ledger: Ledger, variableId: number, requester = olivia) => {
  const message = { text: 'Type the value' };
  return sendFormByAssistant(ledger, { requester, path: pathOf(variableId), message, minutes: 30 });
};

test('a form that was used counts as its request only', async () => {
  const { ledger, advance } = await start();
  for (let variableId = 1; variableId <= 3; variableId += 1) {
    await sendFormOf(ledger, variableId);
    const variable = { kind: 'variable-update', scriptId: '301', variableId: `${variableId}` } as const;
    const change = makeProposal({ ...variable, required: true }, olivia, { ...policy, changeApprovals: 0 });
    await propose(ledger, { ...change, via: 'assistant', isConfirmed: true });
  }
  advance(1);
  expect([await sendFormOf(ledger, 1), await sendFormOf(ledger, 1)]).toEqual([true, false]);
});

test('at most twenty approvers get a card of their own', async () => {
  const { ledger } = await start();
  const approvers = Array.from({ length: 25 }, (_, nth) => `U0APPROVER${nth}`);
  await propose(ledger, { ...makeProposal(), approvers });
  const cards = ledger.db.selectFrom('outbox').select('id').where('kind', '=', 'operation-card');
  expect(await cards.execute()).toHaveLength(20);
});

test('forms and requests together are three that are open, and ten a day', async () => {
  const { ledger, advance } = await start();
  const sendForm = (variableId: number) => sendFormOf(ledger, variableId);
  // Those of workflows and of others, and what the person asks for themselves, do not count.
  for (const other of [anna, { ...olivia, teamId: 'T0BETA000' }])
    for (let nth = 0; nth < 3; nth += 1) await sendFormOf(ledger, nth, other);
  for (const via of ['workflow', undefined])
    for (let nth = 0; nth < 3; nth += 1) await propose(ledger, { ...asked, via });
  await proposeByAssistant(ledger, asked);
  // Side by side one form of a variable is sent.
  expect((await Promise.all([sendForm(1), sendForm(1), sendForm(2)])).toSorted()).toEqual([
    false,
    true,
    true,
  ]);
  await expect(sendForm(3)).rejects.toThrow(UserError);
  for (let variableId = 3; variableId < 10; variableId += 1) {
    advance(31);
    expect(await sendForm(variableId)).toBe(true);
  }
  advance(31);
  await expect(sendForm(10)).rejects.toThrow(UserError);
  await expect(proposeByAssistant(ledger, asked)).rejects.toThrow(UserError);
  advance(24 * 60);
  expect(await sendForm(10)).toBe(true);
});

const run = 'Fx0000000001';

interface StoredEnd {
  readonly end: StepRunEnd;
  readonly unlessProposed?: true;
}

async function startWithStep() {
  const { ledger: plain, advance } = await start();
  /** The ends of the run, in order. */
  const ends: StoredEnd[] = [];
  const ledger: Ledger = {
    ...plain,
    async enqueue(job, data, options) {
      if (job.name === completeStepJob.name) {
        expect(options?.key).toBe(run);
        ends.push(data as unknown as StoredEnd);
      }
      return plain.enqueue(job, data, options);
    },
  };
  await beginStepRun(ledger, { run, installation: olivia }, { now: ledger.now(), ifItDies: 'it died' });
  return { ledger, ends, advance };
}

const proposal = { ...makeProposal(), stepRun: run };

/** Each way in which an operation ends, with the outputs of its step. */
const endings: readonly [
  string,
  (ledger: Ledger, id: string, advance: (minutes: number) => void) => Promise<unknown>,
][] = [
  [
    'deleted',
    async (ledger, id) => {
      await approveNow(ledger, id, ben);
      await beginNow(ledger, id);
      await settle(ledger, id, { state: 'succeeded', outcome: { word: 'done', instances: ['a', 'b'] } });
    },
  ],
  [
    'failed',
    async (ledger, id) => {
      await approveNow(ledger, id, ben);
      await beginNow(ledger, id);
      await settle(ledger, id, { state: 'failed', outcome: { word: 'not-detached' } });
    },
  ],
  [
    'unknown',
    async (ledger, id) => {
      await approveNow(ledger, id, ben);
      await beginNow(ledger, id);
      await settle(ledger, id, { state: 'unknown', outcome: { word: 'unanswered' } });
      // The step was told already.
      const context = makeContext(ben, { requester: olivia, approvals: [] });
      await confirmOutcome(ledger, id, ben, { state: 'succeeded', context });
    },
  ],
  [
    'denied',
    (ledger, id) =>
      deny(ledger, id, anna, {
        reason: 'It is in use',
        context: makeContext(anna, { requester: olivia, approvals: [] }),
      }),
  ],
  [
    'failed, void',
    async (ledger, id) => {
      await ledger.db.updateTable('operations').set({ reason: 'Another one' }).execute();
      await approveNow(ledger, id, ben);
    },
  ],
  ['cancelled', (ledger, id) => cancel(ledger, id, olivia)],
  ['cancelled, key gone', (ledger) => cancelUnbegun(ledger, { person: olivia, tenant: acme })],
  ['cancelled, app gone', (ledger) => cancelUnbegun(ledger, { person: undefined, tenant: acme })],
  [
    'expired',
    async (ledger, _, advance) => {
      advance(policy.expiryMinutes + 1);
      await expireOverdue(ledger);
    },
  ],
];

test.each(endings)('a step ends as %s, once, with its operation', async (name, end) => {
  const [outcome] = name.split(',');
  const { ledger, ends, advance } = await startWithStep();
  const operation: Operation = await propose(ledger, proposal);
  expect(ends).toMatchObject([{ end: { error: 'it died' }, unlessProposed: true }]);
  await end(ledger, operation.id, advance);
  expect(ends).toHaveLength(2);
  expect(ends[1]?.end).toMatchObject({ outputs: { outcome, reference: operation.id } });
  expect(JSON.parse(JSON.stringify(ends[1]?.end).replace(operation.id, 'its number'))).toMatchSnapshot();
});

test('a step asks for one operation, and for none once it was closed', async () => {
  const { ledger } = await startWithStep();
  const first = await propose(ledger, proposal);
  await expect(propose(ledger, proposal)).rejects.toThrow(UserError);
  const stranger = { ...olivia, teamId: 'T0OTHER00' };
  await expect(propose(ledger, { ...proposal, requester: stranger })).rejects.toThrow(UserError);
  const rows = await ledger.db.selectFrom('operations').select('id').execute();
  expect(rows).toEqual([{ id: first.id }]);
  expect(await closeStepRun(ledger.db, run, new Date())).toBe(false);

  const { ledger: closed } = await startWithStep();
  expect(await closeStepRun(closed.db, run, new Date())).toBe(true);
  await expect(propose(closed, proposal)).rejects.toThrow(UserError);
});
