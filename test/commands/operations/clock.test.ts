import { expect, test } from 'vitest';
import { SealError } from '../../../src/auth/keys/sealing.ts';
import { approve, cancel } from '../../../src/commands/operations/approvals.ts';
import { executeOperationJob, operationClockJob } from '../../../src/commands/operations/execute.ts';
import { findOperation } from '../../../src/commands/operations/model.ts';
import { type Ledger, loadDecisionContext } from '../../../src/commands/operations/transitions.ts';
import { UserError } from '../../../src/errors.ts';
import { prepareEngines } from '../../support/engines.ts';
import { readStable } from '../../support/words.ts';
import { requester, startJobs } from './job-harness.ts';
import { says } from './words.ts';
import { alice, bob, carol, dave } from './workspace.ts';

const { embedded } = await prepareEngines();
const minute = 60_000;

const start = async (settings?: Parameters<typeof startJobs>[1]) =>
  startJobs(await embedded.emptyDatabase(), settings);

/** A deletion that was asked for: its card is posted. */
async function startRequested() {
  const harness = await start();
  const operation = await harness.proposeDeletion();
  await harness.runJobs();
  const { tenant, id } = operation;
  const find = () => findOperation(harness.ledger, tenant, id);
  return {
    ...harness,
    operation,
    find,
    state: async () => (await find())?.state,
    /** An approval by Bob, by the rights of now. */
    async approve() {
      const facts = await loadDecisionContext(harness.context.ports.authorizer(requester), operation, bob);
      return approve(harness.ledger, id, { ...requester, userId: bob }, facts);
    },
    execute: (context = harness.context) => executeOperationJob.run({ tenant, id }, context),
    countSent: () => harness.cdn.requests.filter(({ method }) => method === 'DELETE').length,
  };
}

async function startApproved() {
  const harness = await startRequested();
  expect(await harness.approve()).toMatchObject({ kind: 'approved' });
  return harness;
}

test.each([undefined, 'assistant'])(
  'approvers are reminded once, at half time, below the card (of %s)',
  async (via) => {
    const { db, proposeDeletion, runJobs, advance, context, findMessages } = await start();
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
    // Whose request it is is not reminded.
    const stored = db.selectFrom('outbox').select('id').where('id', 'like', '%:reminder');
    expect(await stored.execute()).toHaveLength(1);
  },
);

test('of what is decided before its reminder is posted nobody is reminded', async () => {
  const harness = await startRequested();
  const { advance, context, runJobs, findMessages } = harness;
  const before = findMessages(bob, says.reminds).length;
  advance(16 * minute);
  await operationClockJob.run({}, context);
  await harness.approve();
  await runJobs();
  expect(findMessages(bob, says.reminds)).toHaveLength(before);
});

test.each([
  [500, 'unknown'],
  [503, 'unknown'],
  [429, 'failed'],
  [403, 'failed'],
])('a deletion that the CDN answers with %i is %s', async (status, expected) => {
  const { cdn, execute, state, countSent } = await startApproved();
  cdn.faults.add({ match: { method: 'DELETE' }, status });
  await execute();
  expect([await state(), countSent()]).toEqual([expected, 1]);
});

test('a request without approval expires, and its messages say so', async () => {
  const { runJobs, advance, context, findMessages, state, countSent } = await startRequested();
  advance(30 * minute);
  await operationClockJob.run({}, context);
  await runJobs();
  expect(await state()).toBe('expired');
  expect(findMessages(alice, /Your request[^]*expired[^]*Nothing was changed/).length).toBeGreaterThan(0);
  expect(findMessages(bob, /asked to delete[^]*expired/).length).toBeGreaterThan(0);
  expect(countSent()).toBe(0);
});

test.each([
  ['refuses the card', 'C0GONE000', 1],
  ['people of another organization read', 'C0SHARED0', 0],
])('an approval channel that %s: every approver gets it directly', async (_what, approvalChannel, tries) => {
  const { proposeDeletion, runJobs, findMessages, slack } = await start({ approvalChannel });
  const countCards = () => [bob, dave].map((who) => findMessages(who, says.asksToDelete()).length);
  const before = countCards();
  await proposeDeletion();
  await runJobs();
  expect(countCards()).toEqual(before.map((cards) => cards + 1));
  const posted = slack.calls.filter(
    ({ method, args }) => method === 'chat.postMessage' && args['channel'] === approvalChannel,
  );
  expect(posted).toHaveLength(tries);
});

test.each(['rate_limited', 'ekm_access_denied', 'internal_error'])(
  'an approval channel that answers %s for minutes: every approver gets the card directly, within the request’s time',
  async (code) => {
    const { proposeDeletion, runJobs, findMessages, slack } = await start();
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
  const { proposeDeletion, runJobs, findMessages, slack } = await start();
  const count = () =>
    [findMessages(alice, /Your request/), findMessages(bob, says.asksToDelete())].map(
      (found) => found.length,
    );
  const [requests = 0, cards = 0] = count();
  slack.script.drop('chat.postMessage', 2);
  await proposeDeletion();
  await runJobs();
  // The card is in a channel, where its marker is found; the requester's direct messages cannot be read.
  expect(count()).toEqual([requests + 2, cards + 1]);
});

test('an outcome that Slack does not take as an edit is told in a message of its own', async () => {
  const { runJobs, findMessages, slack } = await startApproved();
  slack.script.fail('chat.update', 'edit_window_closed', 20);
  await runJobs();
  expect(findMessages(alice, says.yourRequest('data', says.notDone))).toHaveLength(1);
});

test('an outcome is told in a message of its own where the one before it was not taken', async () => {
  const { proposeDeletion, ledger, runJobs, findMessages, slack, context } = await start();
  slack.script.fail('chat.postMessage', 'invalid_blocks', 2, 200, `"channel":"${alice}"`);
  const operation = await proposeDeletion();
  await runJobs();
  expect(findMessages(alice, /Your request/)).toEqual([]);
  const facts = await loadDecisionContext(context.ports.authorizer(requester), operation, bob);
  await approve(ledger, operation.id, { ...requester, userId: bob }, facts);
  await runJobs();
  expect(findMessages(alice, says.yourRequest('data', says.notDone))).toHaveLength(1);
});

test.each([
  ['to no approver: its requester is told why, once', [bob, dave], 1],
  ['to one approver: nobody is told', [bob], 0],
])('a request that Slack takes %s', async (_, refusing, notices) => {
  const { proposeDeletion, runJobs, findMessages, slack } = await start({ approvalChannel: undefined });
  for (const approver of refusing)
    slack.script.fail('chat.postMessage', 'messages_tab_disabled', 9, 200, `"channel":"${approver}"`);
  await proposeDeletion();
  await runJobs();
  expect(findMessages(alice, /messages_tab_disabled/)).toHaveLength(notices);
});

test('a key that is gone at execution: the requester is told, nothing is sent', async () => {
  const { runJobs, keyStore, findMessages, find, countSent } = await startApproved();
  await keyStore.forget(requester, { cause: 'disconnect' });
  await runJobs();
  expect(await find()).toMatchObject({
    state: 'failed',
    outcome: { word: 'void', why: 'requester-may-not' },
  });
  expect(
    findMessages(alice, /void and will not run: the requester is no longer allowed to do this/).length,
  ).toBeGreaterThan(0);
  expect(countSent()).toBe(0);
});

test('a request decided while its card is on its way to Slack is shown decided', async () => {
  const harness = await start();
  const { proposeDeletion, runJobs, findMessages, slack, ledger, context } = harness;
  const operation = await proposeDeletion();
  const held = slack.script.hold('chat.postMessage', 'after');
  const running = runJobs();
  await held.reached;
  const facts = await loadDecisionContext(context.ports.authorizer(requester), operation, bob);
  await approve(ledger, operation.id, { ...requester, userId: bob }, facts);
  held.release();
  await running;
  await runJobs();
  const card = findMessages(bob, /asked to delete/).at(-1);
  expect(card?.reads).toContain('approved by');
  expect(JSON.stringify(card)).not.toContain('approvals:approve');
});

test('an execution finds only what its workspace asked for', async () => {
  const { operation, context, state, countSent } = await startApproved();
  await executeOperationJob.run({ tenant: 'T0OTHER00', id: operation.id }, context);
  expect([await state(), countSent()]).toEqual(['approved', 0]);
});

test('an execution whose key does not open moves nothing', async () => {
  const { db, execute, state, countSent } = await startApproved();
  await db.updateTable('linked_keys').set({ version: 1 }).execute();
  // Its job is tried again.
  await expect(execute()).rejects.toThrow(SealError);
  expect(await state()).toBe('approved');
  expect(countSent()).toBe(0);
});

test('a deletion whose outcome cannot be stored at once is stored later, and sent once', async () => {
  const { ledger, context, find, execute, countSent } = await startApproved();
  let failures = 1;
  const audit: Ledger['audit'] = {
    ...ledger.audit,
    async record(entry, trx) {
      if (/operation-(?:succeeded|failed|unknown)/u.test(entry.event) && failures-- > 0)
        throw new Error('the database is away');
      return ledger.audit.record(entry, trx);
    },
  };
  await execute({ ...context, ports: { ...context.ports, ledger: { ...ledger, audit } } });
  expect(failures).toBe(-1);
  expect(await find()).toMatchObject({ state: 'failed', outcome: { word: 'not-found' } });
  expect(countSent()).toBe(1);
});

test.each(['put aside after two deaths', 'run again after a death'])(
  'an execution that is %s is told as unknown at once, and not sent again',
  async (how) => {
    const { operation, cdn, context, runJobs, findMessages, state, execute, countSent } =
      await startApproved();
    const held = Promise.withResolvers<void>();
    cdn.faults.add({ match: { method: 'DELETE' }, until: held.promise });
    const running = execute();
    await expect.poll(state).toBe('executing');
    const job = { tenant: operation.tenant, id: operation.id };
    await (how === 'run again after a death' ? execute() : executeOperationJob.putAside?.(job, context));
    expect(await state()).toBe('unknown');
    await runJobs();
    expect(findMessages(alice, new RegExp(says.outcomeUnknown, 'u')).length).toBeGreaterThan(0);
    held.resolve();
    await running;
    expect(countSent()).toBe(1);
  },
);

test('settings that change while an execution reads them decide at its next try', async () => {
  const { policies, policy, slack, find, execute, countSent } = await startApproved();
  const held = slack.script.hold('users.info', 'after');
  const running = execute();
  await held.reached;
  // Alice is no operator from now on; the execution has read that she is one.
  const change = { base: policy.version, policy: { ...policy, operators: [] }, by: carol, difference: [] };
  await policies.save({ tenant: requester.teamId, ...change });
  held.release();
  await expect(running).rejects.toThrow(UserError);
  await execute();
  expect(await find()).toMatchObject({
    state: 'failed',
    outcome: { word: 'void', why: 'requester-may-not' },
  });
  expect(countSent()).toBe(0);
});

test('a request that ended before its messages were posted is told once', async () => {
  const { proposeDeletion, runJobs, findMessages, ledger } = await start();
  const before = findMessages(alice, /Your request/).length;
  const { id } = await proposeDeletion();
  await cancel(ledger, id, requester);
  await runJobs();
  expect(findMessages(alice, /Your request/)).toHaveLength(before + 1);
});
