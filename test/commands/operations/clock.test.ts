import { expect, onTestFinished, test } from 'vitest';
import type { Ports } from '../../../src/app/jobs.ts';
import { jobs } from '../../../src/app/jobs.ts';
import { initialPolicy, type Policy } from '../../../src/auth/policy/policy.ts';
import { approve } from '../../../src/commands/operations/decide.ts';
import { operationClockJob } from '../../../src/commands/operations/expiry.ts';
import type { Operation } from '../../../src/commands/operations/model.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { findOperation } from '../../../src/commands/operations/queries.ts';
import { loadDecisionContext } from '../../../src/commands/operations/validity.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { JobContext } from '../../../src/store/queue/define-job.ts';
import { createPortsHarness, type PortsHarness } from '../../slack/send/ports-harness.ts';
import { prepareEngines } from '../../support/engines.ts';
import { readStable } from '../../support/words.ts';
import { toRequested } from './ledger-harness.ts';
import { says } from './words.ts';
import { alice, bob, carol, dave, deploys } from './workspace.ts';

const { embedded } = await prepareEngines();
const minute = 60_000;
const requester = { teamId: 'T0ACME000', userId: alice };

interface ClockHarness extends PortsHarness {
  readonly context: JobContext<Ports>;
  readonly proposeDeletion: () => Promise<Operation>;
  /** Runs the enqueued jobs, each at its time, until there are none. */
  readonly runJobs: () => Promise<void>;
  readonly advance: (ms: number) => void;
  /** The messages that a person sees and that match. */
  readonly findMessages: (
    userId: string,
    what: RegExp,
  ) => readonly { readonly reads: string; readonly ts: string; readonly threadTs?: string | undefined }[];
  readonly policy: Policy;
}

async function startHarness(settings: Partial<Policy> = {}): Promise<ClockHarness> {
  const database = await embedded.emptyDatabase();
  let now = Date.parse('2026-11-21T03:00:00Z');
  const due: { readonly at: number; readonly run: () => Promise<void> }[] = [];
  const harness = await createPortsHarness({
    database,
    now: () => new Date(now),
    async enqueue(job, data, { at } = {}) {
      const found = jobs.find(({ name }) => name === job.name);
      if (!found) throw new Error(`there is no job ${job.name}`);
      due.push({ at: at?.getTime() ?? now, run: () => found.run(data, context) });
      return '';
    },
  });
  const { db, ports, log } = harness;
  const { signal } = new AbortController();
  const context: JobContext<Ports> = {
    db,
    ports,
    log,
    now: () => new Date(now),
    signal,
    attempt: 1,
  };
  await harness.keyStore.link(requester, new Secret(harness.cdn.key, 'cdn-key'));
  const wanted: Policy = {
    ...initialPolicy,
    operators: [alice],
    approvers: [bob, dave],
    approvalChannel: deploys,
    ...settings,
  };
  const saved = await harness.policies.save({
    tenant: requester.teamId,
    base: 0,
    policy: wanted,
    by: carol,
    difference: [],
  });
  if (!saved.saved) throw new Error('the settings were not saved');
  const { policy } = saved;
  onTestFinished(() => {
    expect(harness.slack.problems).toEqual([]);
  });
  onTestFinished(() => harness[Symbol.asyncDispose]());
  return {
    ...harness,
    findMessages: (userId, what) =>
      harness.slack
        .as(userId)
        .messages()
        .filter(({ reads }) => what.test(reads)),
    context,
    policy,
    advance: (ms) => {
      now += ms;
    },
    proposeDeletion: () =>
      propose(harness.ledger, {
        requester,
        channelId: undefined,
        ...toRequested({ kind: 'volume-delete', appId: 'app0api00000001', volumeId: 'data' }),
        reason: 'The node is gone',
        snapshot: { zonesTotal: 0, zones: [], summary: 'read' },
        policy,
        approvers: [bob, dave],
      }),
    async runJobs() {
      for (;;) {
        due.sort((a, b) => a.at - b.at);
        const next = due.shift();
        if (!next) return;
        now = Math.max(now, next.at);
        await next.run();
      }
    },
  };
}

test('approvers are reminded once, at half time, below the card', async () => {
  const { proposeDeletion, runJobs, advance, context, findMessages } = await startHarness();
  await proposeDeletion();
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
  expect(readStable(reminders[0])).toMatchInlineSnapshot(
    `":hourglass_flowing_sand: @Bob Brown @Dave Dunn This still waits: @Alice Adams asks to delete volume data of app app0api00000001, every instance. It needs 1 approval and expires <date>."`,
  );
  expect(reminders[0]?.threadTs).toBe(card?.ts);
});

test('a request without approval expires, and its messages say so', async () => {
  const { proposeDeletion, runJobs, advance, context, ledger, findMessages, cdn } = await startHarness();
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

test('an approval channel that refuses the card: every approver gets it directly', async () => {
  const { proposeDeletion, runJobs, findMessages } = await startHarness({ approvalChannel: 'C0GONE000' });
  const before = {
    bob: findMessages(bob, says.asksToDelete()).length,
    dave: findMessages(dave, says.asksToDelete()).length,
  };
  await proposeDeletion();
  await runJobs();
  expect(findMessages(bob, says.asksToDelete())).toHaveLength(before.bob + 1);
  expect(findMessages(dave, says.asksToDelete())).toHaveLength(before.dave + 1);
});

test('a post whose answer is lost is repeated only where the bot cannot look for it', async () => {
  const { proposeDeletion, runJobs, findMessages, slack } = await startHarness();
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
  const { proposeDeletion, runJobs, ledger, keyStore, context, policy, findMessages, cdn } =
    await startHarness();
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
    findMessages(alice, /voided and will not run: the requester is no longer allowed to do this/).length,
  ).toBeGreaterThan(0);
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
});
