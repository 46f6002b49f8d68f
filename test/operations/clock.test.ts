import { expect, onTestFinished, test } from 'vitest';
import type { Ports } from '../../src/app/jobs/registry.ts';
import { initialPolicy, type Policy } from '../../src/auth/policy/policy.ts';
import { operationClockJob } from '../../src/operations/jobs/clock.ts';
import { executeOperationJob } from '../../src/operations/jobs/execute.ts';
import { showOperationJob } from '../../src/operations/jobs/messages.ts';
import { loadDecisionContext } from '../../src/operations/load-context.ts';
import type { Operation } from '../../src/operations/model.ts';
import { Secret } from '../../src/secrets/secret.ts';
import type { JobContext } from '../../src/store/queue/define-job.ts';
import { createPortsHarness, type PortsHarness } from '../slack/send/ports-harness.ts';
import { prepareEngines } from '../support/engines.ts';
import { alice, bob, carol, dave, deploys } from './workspace.ts';

const { embedded } = await prepareEngines();
const minute = 60_000;
const requester = { teamId: 'T0ACME000', userId: alice };

interface Desk extends PortsHarness {
  readonly context: JobContext<Ports>;
  readonly ask: () => Promise<Operation>;
  /** Runs what the moves so far have enqueued, as the queue would. */
  readonly settle: () => Promise<void>;
  readonly later: (ms: number) => void;
  /** What somebody sees of this kind. */
  readonly said: (
    userId: string,
    what: RegExp,
  ) => readonly { readonly reads: string; readonly ts: string; readonly threadTs?: string | undefined }[];
  readonly policy: Policy;
}

async function desk(settings: Partial<Policy> = {}): Promise<Desk> {
  const database = await embedded.emptyDatabase();
  let now = Date.parse('2026-11-21T03:00:00Z');
  const due: (() => Promise<void>)[] = [];
  const bench = await createPortsHarness({
    database,
    now: () => new Date(now),
    enqueue: () => Promise.reject(new Error('these jobs start no others')),
    ledger: {
      enqueue: async ({ tenant, id }) =>
        void due.push(() => executeOperationJob.run({ tenant, id }, context)),
      follow: async ({ tenant, id, state, approvals }) => {
        const first = state === 'proposed' && approvals.length === 0;
        due.push(() => showOperationJob.run({ tenant, id, first }, context));
      },
    },
  });
  const { db, ports, log } = bench;
  const { signal } = new AbortController();
  const context: JobContext<Ports> = {
    db,
    ports,
    log,
    now: () => new Date(now),
    signal,
    attempt: 1,
    lastAttempt: false,
  };
  await bench.keyStore.link(requester, new Secret(bench.cdn.key, 'cdn-key'));
  const wanted: Policy = {
    ...initialPolicy,
    operators: [alice],
    approvers: [bob, dave],
    approvalChannel: deploys,
    ...settings,
  };
  const saved = await bench.policies.save({
    tenant: requester.teamId,
    base: 0,
    policy: wanted,
    by: carol,
    difference: [],
  });
  if (!saved.saved) throw new Error('the settings were not saved');
  const { policy } = saved;
  onTestFinished(() => {
    expect(bench.slack.problems).toEqual([]);
  });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  return {
    ...bench,
    said: (userId, what) =>
      bench.slack
        .as(userId)
        .messages()
        .filter(({ reads }) => what.test(reads)),
    context,
    policy,
    later: (ms) => {
      now += ms;
    },
    ask: () =>
      bench.operations.propose({
        requester,
        channelId: undefined,
        request: { kind: 'volume-delete', appId: 'app0api00000001', volumeId: 'data' },
        reason: 'The node is gone',
        snapshot: { zonesTotal: 0, zones: [], summary: 'read' },
        policy,
      }),
    async settle() {
      while (due.length > 0) await due.shift()?.();
    },
  };
}

test('approvers are reminded once, at half time, below the card', async () => {
  const { ask, settle, later, context, said } = await desk();
  await ask();
  await settle();
  const [card] = said(bob, /asks to delete every instance/);
  const before = said(bob, /This still waits/).length;
  later(14 * minute);
  await operationClockJob.run({}, context);
  expect(said(bob, /This still waits/)).toHaveLength(before);
  later(2 * minute);
  await operationClockJob.run({}, context);
  await operationClockJob.run({}, context);
  const reminders = said(bob, /This still waits/).slice(before);
  expect(reminders.map(({ reads }) => reads)).toEqual([
    expect.stringMatching(/@Bob Brown @Dave Dunn This still waits/),
  ]);
  expect(reminders[0]?.threadTs).toBe(card?.ts);
});

test('what nobody approved expires, and the requester and the approvers are told', async () => {
  const { ask, settle, later, context, operations, said, cdn } = await desk();
  const operation = await ask();
  await settle();
  later(30 * minute);
  await operationClockJob.run({}, context);
  await settle();
  expect(await operations.find(operation.tenant, operation.id)).toMatchObject({ state: 'expired' });
  expect(said(alice, /Your request[^]*expired[^]*Nothing was sent to the CDN/).length).toBeGreaterThan(0);
  expect(said(bob, /asked to delete[^]*expired/).length).toBeGreaterThan(0);
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
});

test('where the approval channel cannot be written into, approvers are written to one by one', async () => {
  const { ask, settle, said } = await desk({ approvalChannel: 'C0GONE000' });
  const before = { bob: said(bob, /asks to delete/).length, dave: said(dave, /asks to delete/).length };
  await ask();
  await settle();
  expect(said(bob, /asks to delete/)).toHaveLength(before.bob + 1);
  expect(said(dave, /asks to delete/)).toHaveLength(before.dave + 1);
});

test('a post that Slack could not answer is tried again, and a card that is there is not posted twice', async () => {
  const { ask, settle, operations, context, slack } = await desk();
  slack.script.fail('chat.postMessage', 'internal_error');
  const operation = await ask();
  await expect(settle()).rejects.toThrow('internal_error');
  await showOperationJob.run({ tenant: operation.tenant, id: operation.id, first: true }, context);
  await showOperationJob.run({ tenant: operation.tenant, id: operation.id, first: true }, context);
  const found = await operations.find(operation.tenant, operation.id);
  expect(found?.messages.map(({ role }) => role).toSorted()).toEqual(['approval', 'requester']);
});

test('whose key is gone when it runs is told so, and nothing is sent', async () => {
  const { ask, settle, operations, keyStore, context, policy, said, cdn } = await desk();
  const operation = await ask();
  await settle();
  const facts = await loadDecisionContext(context.ports.authorizer(requester), operation, bob);
  expect(facts.policy.version).toBe(policy.version);
  expect(await operations.approve(operation.id, { ...requester, userId: bob }, facts)).toMatchObject({
    kind: 'approved',
  });
  await keyStore.forget(requester, { cause: 'disconnect' });
  await settle();
  const after = await operations.find(operation.tenant, operation.id);
  expect(after).toMatchObject({ state: 'failed', outcome: { word: 'void', why: 'requester-may-not' } });
  expect(
    said(alice, /voided and will not run: whoever asked for it may not do this any more/).length,
  ).toBeGreaterThan(0);
  expect(cdn.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
});
