import { expect, test } from 'vitest';
import { SealError } from '../../../src/auth/keys/sealing.ts';
import { RolesUnknown } from '../../../src/auth/policy/authorizer.ts';
import { approve } from '../../../src/commands/operations/approvals.ts';
import { executeOperationJob, operationClockJob } from '../../../src/commands/operations/execute.ts';
import { findOperation, type Operation } from '../../../src/commands/operations/model.ts';
import { type Ledger, loadDecisionContext } from '../../../src/commands/operations/transitions.ts';
import { UserError } from '../../../src/errors.ts';
import { prepareEngines } from '../../support/engines.ts';
import { readStable } from '../../support/words.ts';
import { type JobHarness, requester, startJobs } from './job-harness.ts';
import { says } from './words.ts';
import { alice, bob, carol, dave } from './workspace.ts';

const { embedded } = await prepareEngines();
const minute = 60_000;

test.each([undefined, 'assistant'])(
  'approvers are reminded once, at half time, below the card (of %s)',
  async (via) => {
    const { proposeDeletion, runJobs, advance, context, findMessages } = await startJobs(
      await embedded.emptyDatabase(),
    );
    await proposeDeletion(via);
    await runJobs();
    const [card] = findMessages(bob, says.asksToDelete());
    const before = findMessages(bob, says.reminds).length;
    advance(14 * minute);
    await operationClockJob.run({}, context);
    expect(findMessages(bob, says.reminds)).toHaveLength(before);
    advance(2 * minute);
    await operationClockJob.run({}, context);
    await operationClockJob.run({}, context);
    await runJobs();
    const reminders = findMessages(bob, says.reminds).slice(before);
    expect(reminders).toHaveLength(1);
    expect(readStable(reminders[0])).toMatchSnapshot();
    expect(reminders[0]?.threadTs).toBe(card?.ts);
  },
);

test('a request without approval expires, and its messages say so', async () => {
  const { proposeDeletion, runJobs, advance, context, ledger, findMessages, cdn } = await startJobs(
    await embedded.emptyDatabase(),
  );
  const operation = await proposeDeletion();
  await runJobs();
  advance(30 * minute);
  await operationClockJob.run({}, context);
  await runJobs();
  expect(await findOperation(ledger, operation.tenant, operation.id)).toMatchObject({ state: 'expired' });
  expect(findMessages(alice, /Your request[^]*expired[^]*Nothing was changed/).length).toBeGreaterThan(0);
  expect(findMessages(bob, /asked to delete[^]*expired/).length).toBeGreaterThan(0);
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
});

test.each([
  ['refuses the card', 'C0GONE000', 1],
  ['people of another organization read', 'C0SHARED0', 0],
])('an approval channel that %s: every approver gets it directly', async (_what, approvalChannel, tries) => {
  const { proposeDeletion, runJobs, findMessages, slack } = await startJobs(await embedded.emptyDatabase(), {
    approvalChannel,
  });
  const posted = () =>
    slack.calls.filter(
      ({ method, args }) => method === 'chat.postMessage' && args['channel'] === approvalChannel,
    );
  const before = {
    bob: findMessages(bob, says.asksToDelete()).length,
    dave: findMessages(dave, says.asksToDelete()).length,
  };
  await proposeDeletion();
  await runJobs();
  expect(findMessages(bob, says.asksToDelete())).toHaveLength(before.bob + 1);
  expect(findMessages(dave, says.asksToDelete())).toHaveLength(before.dave + 1);
  expect(posted()).toHaveLength(tries);
});

test.each(['rate_limited', 'ekm_access_denied', 'internal_error'])(
  'an approval channel that answers %s for minutes: every approver gets the card directly, within the request’s time',
  async (code) => {
    const { proposeDeletion, runJobs, findMessages, slack } = await startJobs(await embedded.emptyDatabase());
    slack.script.withholdScopes(['channels:history']);
    slack.script.fail('chat.postMessage', code, 100, 200, '"channel":"C0DEPLOY0"');
    const { expiresAt } = await proposeDeletion();
    await runJobs();
    const [card, ...others] = findMessages(dave, says.asksToDelete());
    expect(others).toEqual([]);
    expect(Number(card?.ts) * 1000).toBeLessThan(expiresAt.getTime());
  },
);

test('a post whose answer is lost is repeated only where the bot cannot look for it', async () => {
  const { proposeDeletion, runJobs, findMessages, slack } = await startJobs(await embedded.emptyDatabase());
  const before = {
    alice: findMessages(alice, /Your request/).length,
    bob: findMessages(bob, says.asksToDelete()).length,
  };
  slack.script.drop('chat.postMessage', 2);
  await proposeDeletion();
  await runJobs();
  // The card is in a channel, where its marker is found; the requester's direct messages cannot be read.
  expect(findMessages(bob, says.asksToDelete())).toHaveLength(before.bob + 1);
  expect(findMessages(alice, /Your request/)).toHaveLength(before.alice + 2);
});

test('a key that is gone at execution: the requester is told, nothing is sent', async () => {
  const { proposeDeletion, runJobs, ledger, keyStore, context, policy, findMessages, cdn } = await startJobs(
    await embedded.emptyDatabase(),
  );
  const operation = await proposeDeletion();
  await runJobs();
  const facts = await loadDecisionContext(context.ports.authorizer(requester), operation, bob);
  expect(facts.policy.version).toBe(policy.version);
  expect(await approve(ledger, operation.id, { ...requester, userId: bob }, facts)).toMatchObject({
    kind: 'approved',
  });
  await keyStore.forget(requester, { cause: 'disconnect' });
  await runJobs();
  const after = await findOperation(ledger, operation.tenant, operation.id);
  expect(after).toMatchObject({ state: 'failed', outcome: { word: 'void', why: 'requester-may-not' } });
  expect(
    findMessages(alice, /void and will not run: the requester is no longer allowed to do this/).length,
  ).toBeGreaterThan(0);
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
});

/** An approval by Bob, by the rights of now. */
async function approveByBob({ ledger, context }: JobHarness, operation: Operation) {
  const facts = await loadDecisionContext(context.ports.authorizer(requester), operation, bob);
  return approve(ledger, operation.id, { ...requester, userId: bob }, facts);
}

test('a request decided while its card is on its way to Slack is shown decided', async () => {
  const harness = await startJobs(await embedded.emptyDatabase());
  const { proposeDeletion, runJobs, findMessages, slack } = harness;
  const operation = await proposeDeletion();
  const held = slack.script.hold('chat.postMessage', 'after');
  const running = runJobs();
  await held.reached;
  expect(await approveByBob(harness, operation)).toMatchObject({ kind: 'approved' });
  held.release();
  await running;
  await runJobs();
  const card = findMessages(bob, /asked to delete/).at(-1);
  expect(card?.reads).toContain('approved by');
  expect(JSON.stringify(card)).not.toContain('approvals:approve');
});

test.each([
  ['a press, while Slack does not say who somebody is', 'users.info', RolesUnknown],
  ['an execution, while Slack does not say who somebody is', 'users.info', RolesUnknown],
  ['an execution whose key does not open', 'key', SealError],
] as const)('%s moves nothing', async (what, fails, error) => {
  const harness = await startJobs(await embedded.emptyDatabase());
  const { proposeDeletion, runJobs, slack, ledger, cdn, context, db } = harness;
  const { tenant, id, ...operation } = await proposeDeletion();
  await runJobs();
  const find = async () => (await findOperation(ledger, tenant, id))?.state;
  const isPress = what.startsWith('a press');
  if (!isPress) await approveByBob(harness, { tenant, id, ...operation });
  const work = (): Promise<unknown> =>
    isPress
      ? approveByBob(harness, { tenant, id, ...operation })
      : executeOperationJob.run({ tenant, id }, context);
  const before = await find();
  // Its job is tried again.
  if (fails === 'key') await db.updateTable('linked_keys').set({ version: 1 }).execute();
  else slack.script.fail(fails, 'internal_error', 40);
  await expect(work()).rejects.toThrow(error);
  expect(await find()).toBe(before);
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
});

test('a deletion whose outcome cannot be stored at once is stored later, and sent once', async () => {
  const harness = await startJobs(await embedded.emptyDatabase());
  const { proposeDeletion, runJobs, ledger, cdn, context } = harness;
  const operation = await proposeDeletion();
  await runJobs();
  await approveByBob(harness, operation);
  let failures = 1;
  const audit: Ledger['audit'] = {
    ...ledger.audit,
    async record(entry, trx) {
      if (/operation-(?:succeeded|failed|unknown)/u.test(entry.event) && failures-- > 0)
        throw new Error('the database is away');
      return ledger.audit.record(entry, trx);
    },
  };
  const ports = { ...context.ports, ledger: { ...ledger, audit } };
  await executeOperationJob.run({ tenant: operation.tenant, id: operation.id }, { ...context, ports });
  expect(failures).toBe(-1);
  expect(await findOperation(ledger, operation.tenant, operation.id)).toMatchObject({
    state: 'failed',
    outcome: { word: 'not-found' },
  });
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

test('an execution that is put aside after two deaths is told as unknown at once, and not sent again', async () => {
  const harness = await startJobs(await embedded.emptyDatabase());
  const { proposeDeletion, runJobs, ledger, cdn, context, findMessages } = harness;
  const operation = await proposeDeletion();
  await runJobs();
  await approveByBob(harness, operation);
  const { tenant, id } = operation;
  const held = Promise.withResolvers<void>();
  cdn.faults.add({ match: { method: 'DELETE' }, until: held.promise });
  const running = executeOperationJob.run({ tenant, id }, context);
  const find = async () => (await findOperation(ledger, tenant, id))?.state;
  await expect.poll(find).toBe('executing');
  await executeOperationJob.putAside?.({ tenant, id }, context);
  expect(await find()).toBe('unknown');
  await runJobs();
  expect(findMessages(alice, new RegExp(says.outcomeUnknown, 'u')).length).toBeGreaterThan(0);
  held.resolve();
  await running;
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

test('settings that change while an execution reads them decide at its next try', async () => {
  const harness = await startJobs(await embedded.emptyDatabase());
  const { proposeDeletion, runJobs, ledger, cdn, context, policies, policy, slack } = harness;
  const operation = await proposeDeletion();
  await runJobs();
  await approveByBob(harness, operation);
  const held = slack.script.hold('users.info', 'after');
  const { tenant, id } = operation;
  const running = executeOperationJob.run({ tenant, id }, context);
  await held.reached;
  // Alice is no operator from now on; the execution has read that she is one.
  await policies.save({
    tenant: operation.tenant,
    base: policy.version,
    policy: { ...policy, operators: [] },
    by: carol,
    difference: [],
  });
  held.release();
  await expect(running).rejects.toThrow(UserError);
  await executeOperationJob.run({ tenant, id }, context);
  expect(await findOperation(ledger, tenant, id)).toMatchObject({
    state: 'failed',
    outcome: { word: 'void', why: 'requester-may-not' },
  });
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
});
