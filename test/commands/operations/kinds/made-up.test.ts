import { expect, test } from 'vitest';
import { ApiError, type ApiErrorFacts } from '../../../../src/api/http/errors.ts';
import { approve } from '../../../../src/commands/operations/approvals.ts';
import { executeOperationJob } from '../../../../src/commands/operations/execute.ts';
import { type Execution, indexKinds, type Kind } from '../../../../src/commands/operations/kinds/kind.ts';
import { operationKinds } from '../../../../src/commands/operations/kinds/list.ts';
import { findOperation } from '../../../../src/commands/operations/model.ts';
import { propose } from '../../../../src/commands/operations/propose.ts';
import { loadDecisionContext } from '../../../../src/commands/operations/transitions.ts';
import { prepareEngines } from '../../../support/engines.ts';
import { readStable } from '../../../support/words.ts';
import { requester, startJobs } from '../job-harness.ts';
import { alice, bob } from '../workspace.ts';

const { embedded } = await prepareEngines();

/* A kind that the bot does not have: all of it stands here. */

const sent: string[] = [];

const purge: Kind<{ readonly zoneId: string }> = {
  name: 'zone-purge',
  right: 'change',
  parse: ({ path }) => ({ zoneId: path.split('/')[2] ?? '' }),
  request: ({ zoneId }) => ({ method: 'POST', path: `/pullzone/${zoneId}/purgeCache`, body: null }),
  consequences: (snapshot) => ({ text: `*${Number(snapshot)} files* are read from the origin again.` }),
  describe: ({ zoneId }) => `purge the cache of zone ${zoneId}`,
  describeOutcome: ({ word }) => (word === 'done' ? 'The cache is empty.' : undefined),
  check: { done: 'It is empty', notDone: 'It is not', look: 'Look at it.' },
  audit: ({ zoneId }) => ({ zone: zoneId }),
  async send({ path, cdn, approvedBy }) {
    // With the requester's key.
    cdn();
    sent.push(`${path} approved by ${approvedBy.join(' ')}`);
    return { state: 'succeeded', outcome: { word: 'done', requestId: 'purge-1' } };
  },
};
const kinds = [...operationKinds, purge];

test('a kind of one file and one line is requested, approved, sent once, told and recorded', async () => {
  const harness = await startJobs(await embedded.emptyDatabase(), { changeApprovals: 1 }, kinds);
  const { ledger, context, policy, findMessages, runJobs, audit } = harness;
  const asked = await propose(ledger, {
    kind: purge,
    request: { zoneId: '4711' },
    requester,
    channelId: undefined,
    reason: 'Old prices',
    snapshot: 1200,
    policy,
    approvers: [bob],
  });
  await runJobs();
  const card = findMessages(bob, /purge the cache/).at(-1);
  expect(card && readStable(card)).toMatchSnapshot('card');

  const facts = await loadDecisionContext(context.ports.authorizer(requester), asked, bob);
  await approve(ledger, asked.id, { ...requester, userId: bob }, facts);
  await runJobs();
  expect(sent).toEqual([`/pullzone/4711/purgeCache approved by ${bob}`]);
  expect(await findOperation(ledger, asked.tenant, asked.id)).toMatchObject({
    kind: purge,
    state: 'succeeded',
    request: { zoneId: '4711' },
  });
  const told = findMessages(alice, /Your request/).at(-1);
  expect(told && readStable(told)).toMatchSnapshot('told');
  const records = await audit.recent(requester.teamId, 10);
  expect(records.find(({ event }) => event === 'operation-succeeded')?.detail).toMatchObject({
    kind: 'zone-purge',
    zone: '4711',
  });
});

const says = 'What the CDN says';
const outcomes: readonly [string, Omit<ApiErrorFacts, 'operation'>, object][] = [
  [
    'never reached the CDN',
    { code: 'unreachable', sent: false },
    { state: 'failed', outcome: { word: 'not-sent' } },
  ],
  ['got no answer', { code: 'timeout', sent: true }, { state: 'unknown', outcome: { word: 'unanswered' } }],
  [
    'was refused for its key with 401',
    { code: 'key_refused', status: 401, sent: true, serviceMessage: says },
    { state: 'failed', outcome: { word: 'key-refused', facts: { reference: expect.any(String) as string } } },
  ],
  [
    'was refused for its key with 403',
    { code: 'key_refused', status: 403, sent: true, serviceMessage: says },
    { state: 'failed', outcome: { word: 'key-refused', facts: expect.objectContaining({ says }) as object } },
  ],
  [
    'was refused with 401 for another reason',
    { code: 'refused', status: 401, sent: true, serviceMessage: says },
    { state: 'failed', outcome: { word: 'refused', facts: expect.objectContaining({ says }) as object } },
  ],
];

test.each(outcomes)('what is known of a request that %s', async (_, facts, expected) => {
  const error = new ApiError({ operation: 'purge', ...facts });
  const failing: typeof purge = { ...purge, send: () => Promise.reject(error) };
  const harness = await startJobs(await embedded.emptyDatabase(), { changeApprovals: 0 }, [failing]);
  const { ledger, policy, context } = harness;
  const proposal = { requester, channelId: undefined, reason: undefined, snapshot: 1, policy, approvers: [] };
  const { tenant, id } = await propose(ledger, { ...proposal, kind: failing, request: { zoneId: '1' } });
  await executeOperationJob.run({ tenant, id }, context);
  const { state, outcome } = (await findOperation(ledger, tenant, id)) ?? {};
  expect({ state, outcome }).toMatchObject(expected);
  const isOfKey = facts.status === 401 && facts.code === 'key_refused';
  expect(isOfKey && outcome?.facts?.['says']).toBe(isOfKey ? undefined : false);
});

test('a kind without a key is sent without one, and cannot ask the CDN', async () => {
  const ways = [
    async () => ({ state: 'succeeded', outcome: { word: 'done' } }) as const,
    async ({ cdn }: Execution) => {
      cdn();
      return { state: 'succeeded', outcome: { word: 'done' } } as const;
    },
  ];
  for (const [nth, send] of ways.entries()) {
    const keyless: typeof purge = { ...purge, keyless: true, send };
    const harness = await startJobs(await embedded.emptyDatabase(), { changeApprovals: 0 }, [keyless]);
    const { ledger, policy, context, db } = harness;
    const proposal = {
      requester,
      channelId: undefined,
      reason: undefined,
      snapshot: 1,
      policy,
      approvers: [],
    };
    const { tenant, id } = await propose(ledger, { ...proposal, kind: keyless, request: { zoneId: '1' } });
    // A key that does not open is not looked at.
    await db.updateTable('linked_keys').set({ version: 1 }).execute();
    const running = executeOperationJob.run({ tenant, id }, context);
    const failed = await running.catch((error: Error) => error.message);
    expect(failed?.includes('does not ask the CDN')).toBe(nth === 0 ? undefined : true);
    const state = nth === 0 ? 'succeeded' : 'executing';
    expect(await findOperation(ledger, tenant, id)).toMatchObject({ state });
  }
});

test('an execution that ends with a bug is not told as failed: whether it was sent is not known', async () => {
  const broken: typeof purge = { ...purge, send: () => Promise.reject(new TypeError('a bug')) };
  const harness = await startJobs(await embedded.emptyDatabase(), { changeApprovals: 0 }, [broken]);
  const { ledger, policy, context } = harness;
  const proposal = { requester, channelId: undefined, reason: undefined, snapshot: 1, policy, approvers: [] };
  const { tenant, id } = await propose(ledger, { ...proposal, kind: broken, request: { zoneId: '1' } });
  await expect(executeOperationJob.run({ tenant, id }, context)).rejects.toThrow('a bug');
  expect(await findOperation(ledger, tenant, id)).toMatchObject({ state: 'executing' });
});

test('a row of a kind that is not there any more reads as unreadable, and a press voids it', async () => {
  const harness = await startJobs(await embedded.emptyDatabase(), { changeApprovals: 1 }, kinds);
  const { ledger, policy, context } = harness;
  const proposal = { requester, channelId: undefined, reason: undefined, snapshot: 1, policy, approvers: [] };
  const asked = await propose(ledger, { ...proposal, kind: purge, request: { zoneId: '1' } });
  expect(asked.request).toEqual({ zoneId: '1' });
  const older = { ...ledger, kinds: indexKinds(operationKinds) };
  expect((await findOperation(older, asked.tenant, asked.id))?.request).toBeUndefined();
  const facts = await loadDecisionContext(context.ports.authorizer(requester), asked, bob);
  expect(await approve(older, asked.id, { ...requester, userId: bob }, facts)).toMatchObject({
    kind: 'void',
    why: 'changed',
  });
});
