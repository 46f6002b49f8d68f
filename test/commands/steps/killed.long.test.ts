import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readManifest } from '../../../simulator/slack/manifest.ts';
import type { Step } from '../../../simulator/slack/server.ts';
import { prepareEngines } from '../../support/engines.ts';
import { prepareKilledBot } from '../../support/killed-bot.ts';
import { says } from '../operations/words.ts';
import { alice, bob, carol, configure, deploys, ops } from '../operations/workspace.ts';

const { embedded } = await prepareEngines();
const running = await prepareKilledBot(await embedded.createLocation(), {
  env: { ADMIN_USER_IDS: carol },
  slack: readManifest(),
});
const { slack, cdn, start, kill, killAndRestart } = running;
const completion = 'functions.completeSuccess';

describe('killed while a step waits for a deletion', () => {
  const approver = slack.as(bob);
  let deletions = 0;

  beforeAll(async () => {
    await start();
    await running.connect(alice, ops);
    await configure(slack.as(carol), { operators: [alice], approvers: [bob], approvalChannel: deploys });
  }, 60_000);

  afterAll(() => running.stop(), 60_000);

  /** Asks by a step; answers the card of the approvers. */
  async function ask(
    volume: string,
  ): Promise<{ readonly step: Step; readonly card: { readonly ts: string } }> {
    const app = cdn.data.apps[0];
    if (!app) throw new Error('the CDN has no app');
    app.volumes[volume] = [{ id: `${volume}-1`, detached: true }];
    const inputs = { app: app.id, volume, reason: 'A test of what lasts' };
    const step = await slack.step('delete_volume', inputs, { by: alice });
    const { ts } = await approver.waitForMessage(says.asksToDelete(volume), 60_000);
    return { step, card: { ts } };
  }

  const completed = ({ executionId }: Step) =>
    slack.calls.filter(
      ({ method, args }) => method === completion && args['function_execution_id'] === executionId,
    );

  /** The outcome that the workflow got, how often Slack took one, and the deletions that were sent since the last test. */
  async function endOf(step: Step) {
    const end = await step.ended(150_000);
    const count = () => completed(step).filter(({ ok }) => ok).length;
    // Slack ends the step before it answers.
    await expect.poll(count, { timeout: 30_000 }).toBeGreaterThan(0);
    const sent = cdn.requests.filter(({ method }) => method === 'DELETE').length;
    const since = sent - deletions;
    deletions = sent;
    return { outcome: 'outputs' in end && end.outputs['outcome'], taken: count(), deletions: since };
  }

  test('before anybody has decided: the step ends with the decision', async () => {
    const { step, card } = await ask('before');
    await killAndRestart();
    await approver.press('approvals:deny', card);
    await approver.waitForModal('approvals:deny-submit', 20_000);
    await approver.submit({ reason: 'It is in use' });
    expect(await endOf(step)).toEqual({ outcome: 'denied', taken: 1, deletions: 0 });
  }, 200_000);

  test('between the decision and its completion: Slack is told once', async () => {
    const { step, card } = await ask('between');
    const held = slack.script.hold(completion, 'before');
    await approver.press('approvals:approve', card);
    await held.reached;
    await kill();
    // What the dead process had sent never arrives.
    slack.script.fail(completion, 'internal_error');
    held.release();
    await start();
    expect(await endOf(step)).toEqual({ outcome: 'deleted', taken: 1, deletions: 1 });
  }, 200_000);

  test('after Slack was told, before it was known: nothing changes', async () => {
    const { step, card } = await ask('after');
    const held = slack.script.hold(completion, 'after');
    await approver.press('approvals:approve', card);
    await held.reached;
    await killAndRestart();
    held.release();
    await expect.poll(() => completed(step).length, { timeout: 60_000 }).toBe(2);
    expect(await endOf(step)).toEqual({ outcome: 'deleted', taken: 1, deletions: 1 });
    expect(completed(step)[1]).toMatchObject({ error: 'execution_not_in_running_state' });
  }, 200_000);

  test('a rate limit of Slack is waited for', async () => {
    slack.script.rateLimit(completion, 2);
    const step = await slack.step('zones_needing_attention', {}, { by: alice });
    expect(await step.ended(30_000)).toMatchObject({ outputs: { zones: 5 } });
    expect(running.output()).not.toContain('job failed');
  }, 60_000);

  test('all this broke no rule of Slack', () => {
    expect(slack.problems).toEqual([]);
    expect(running.output()).not.toContain(cdn.key);
  });
});
