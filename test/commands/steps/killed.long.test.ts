import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../../simulator/cdn/server.ts';
import { readManifest } from '../../../simulator/slack/manifest.ts';
import { type SlackSimulator, type Step, startSlack } from '../../../simulator/slack/server.ts';
import { environment } from '../../support/bot.ts';
import { copyEmbeddedDatabase } from '../../support/database-templates.ts';
import { type BotProcess, startBotProcess } from '../../support/process.ts';
import { says } from '../operations/words.ts';
import { alice, bob, carol, configure, deploys, type Member, ops } from '../operations/workspace.ts';

const completion = 'functions.completeSuccess';

describe('killed while a step waits for a deletion', () => {
  let slack: SlackSimulator;
  let cdn: CdnSimulator;
  let dataDir: string;
  let env: Record<string, string>;
  let running: BotProcess;
  let deletions = 0;
  let people: Record<'alice' | 'bob' | 'carol', Member>;

  beforeAll(async () => {
    [slack, cdn, dataDir] = await Promise.all([
      startSlack(readManifest()),
      startCdn({ zones: 5 }),
      mkdtemp(join(tmpdir(), 'chatops-steps-')),
    ]);
    await copyEmbeddedDatabase(dataDir);
    env = {
      ...environment({ slack, cdn, dataDir }),
      ADMIN_USER_IDS: carol,
    };
    people = { alice: slack.as(alice), bob: slack.as(bob), carol: slack.as(carol) };
    await begin();
    const self = slack.as(alice, ops);
    await self.slash('connect');
    await self.waitForModal(/key/i);
    await self.submit({ accessKey: cdn.key });
    await self.waitForModal(/connected/i);
    await self.closeModal();
    await configure(people.carol, { operators: [alice], approvers: [bob], approvalChannel: deploys });
  }, 60_000);

  afterAll(async () => {
    await running.kill('SIGTERM');
    await Promise.all([slack.close(), cdn.close()]);
    await rm(dataDir, { recursive: true, force: true });
  }, 60_000);

  async function begin(): Promise<void> {
    running = startBotProcess(env);
    await running.waitForOutput('"ready"', 60_000);
  }

  async function killAndRestart(): Promise<void> {
    await running.kill('SIGKILL');
    await begin();
  }

  /** Asks by a step; answers the card of the approvers. */
  async function ask(
    volume: string,
  ): Promise<{ readonly step: Step; readonly card: { readonly ts: string } }> {
    const app = cdn.data.apps[0];
    if (!app) throw new Error('the CDN has no app');
    app.volumes[volume] = [{ id: `${volume}-1`, detached: true }];
    const inputs = { app: app.id, volume, reason: 'A test of what lasts' };
    const step = await slack.step('delete_volume', inputs, { by: alice });
    const { ts } = await people.bob.waitForMessage(says.asksToDelete(volume), 60_000);
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
    await people.bob.press('approvals:deny', card);
    await people.bob.waitForModal('approvals:deny-submit', 20_000);
    await people.bob.submit({ reason: 'It is in use' });
    expect(await endOf(step)).toEqual({ outcome: 'denied', taken: 1, deletions: 0 });
  }, 200_000);

  test('between the decision and its completion: Slack is told once', async () => {
    const { step, card } = await ask('between');
    const held = slack.script.hold(completion, 'before');
    await people.bob.press('approvals:approve', card);
    await held.reached;
    await running.kill('SIGKILL');
    // What the dead process had sent never arrives.
    slack.script.fail(completion, 'internal_error');
    held.release();
    await begin();
    expect(await endOf(step)).toEqual({ outcome: 'deleted', taken: 1, deletions: 1 });
  }, 200_000);

  test('after Slack was told, before it was known: nothing changes', async () => {
    const { step, card } = await ask('after');
    const held = slack.script.hold(completion, 'after');
    await people.bob.press('approvals:approve', card);
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
