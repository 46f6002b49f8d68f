import { expect, onTestFinished } from 'vitest';
import type { Ports } from '../../../src/app/jobs.ts';
import { jobs } from '../../../src/app/jobs.ts';
import { initialPolicy, type Policy } from '../../../src/auth/policy/policy.ts';
import { indexKinds, type Kind } from '../../../src/commands/operations/kinds/kind.ts';
import { operationKinds } from '../../../src/commands/operations/kinds/list.ts';
import { propose } from '../../../src/commands/operations/propose.ts';
import { Secret } from '../../../src/secrets/secret.ts';
import type { Database } from '../../../src/store/database.ts';
import type { JobContext } from '../../../src/store/queue.ts';
import { createPortsHarness } from '../../slack/send/ports-harness.ts';
import { toRequested } from './ledger-harness.ts';
import { alice, bob, carol, dave, deploys } from './workspace.ts';

export const requester = { teamId: 'T0ACME000', userId: alice };

/** The real jobs, ports and simulators, with a clock that is moved by hand. */
export async function startJobs(
  database: Database,
  settings: Partial<Policy> = {},
  kinds: readonly Kind<unknown>[] = operationKinds,
) {
  let now = Date.parse('2026-11-21T03:00:00Z');
  const due: { readonly at: number; readonly run: () => Promise<void> }[] = [];
  const harness = await createPortsHarness({
    database,
    now: () => new Date(now),
    async enqueue(job, data, { at } = {}) {
      const found = jobs.find(({ name }) => name === job.name);
      if (!found) throw new Error(`there is no job ${job.name}`);
      due.push({ at: at?.getTime() ?? now, run: () => found.run(data, context) });
    },
  });
  const { db, log } = harness;
  const ledger = { ...harness.ledger, kinds: indexKinds(kinds) };
  const ports = { ...harness.ports, ledger };
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
    ports,
    ledger,
    /** The messages that a person sees and that match. */
    findMessages: (userId: string, what: RegExp) =>
      harness.slack
        .as(userId)
        .messages()
        .filter(({ reads }) => what.test(reads)),
    context,
    policy,
    advance: (ms: number) => {
      now += ms;
    },
    proposeDeletion: (via?: string) =>
      propose(ledger, {
        via,
        requester,
        channelId: undefined,
        ...toRequested({ kind: 'volume-delete', appId: 'app0api00000001', volumeId: 'data' }),
        reason: 'The node is gone',
        snapshot: { zonesTotal: 0, zones: [], summary: 'read' },
        policy,
        approvers: [bob, dave],
      }),
    /** Runs the enqueued jobs, each at its time, until there are none. */
    runJobs: async () => {
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
