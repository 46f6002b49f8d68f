import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CdnSimulator, startCdn } from '../../../simulator/cdn/server.ts';
import type { Assistant } from '../../../simulator/slack/assistant.ts';
import { readManifest } from '../../../simulator/slack/manifest.ts';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { alice, bob, carol, configure, deploys, ops } from '../../commands/operations/workspace.ts';
import { connect, createPublicUrl, environment } from '../../support/bot.ts';
import { prepareEngines } from '../../support/engines.ts';
import { type BotProcess, startBotProcess } from '../../support/process.ts';

const { embedded } = await prepareEngines();
const post = 'chat.postMessage';

describe('a bot that is killed after an assistant asked for a deletion, with a card to send', () => {
  let slack: SlackSimulator;
  let cdn: CdnSimulator;
  let env: Record<string, string>;
  let running: BotProcess;

  const begin = async (): Promise<void> => {
    running = startBotProcess(env);
    await running.waitForOutput('"ready"');
  };

  beforeAll(async () => {
    const [location, address] = await Promise.all([embedded.createLocation(), createPublicUrl()]);
    [slack, cdn] = await Promise.all([startSlack(readManifest({ assistant: true })), startCdn({ zones: 5 })]);
    env = {
      ...environment({ slack, cdn, dataDir: location.dataDir, transport: 'http' }),
      ...address,
      ADMIN_USER_IDS: carol,
    };
    // With two admins each would have to confirm what the other enlarges.
    for (const person of slack.world.people) if (person.id === alice) Object.assign(person, { admin: false });
    await begin();
    slack.deliverTo(`${address.PUBLIC_URL}/slack/events`);
    await connect({ slack, cdn, env }, alice, ops);
    const settings = {
      operators: [alice],
      approvers: [bob],
      approvalChannel: deploys,
      assistant: 'proposing',
    };
    await configure(slack.as(carol), settings);
  });

  afterAll(async () => {
    await running.kill('SIGTERM');
    await Promise.all([slack.close(), cdn.close()]);
  });

  test.each(['before', 'after'] as const)('%s Slack took it: one request, told once', async (when) => {
    const volume = `data-${when}`;
    const app = cdn.data.apps[0];
    if (!app) throw new Error('the CDN has no app');
    app.volumes[volume] = [{ id: `${volume}-1`, detached: true }];
    const args = { app: app.id, volume, reason: 'The node is gone' };
    const open = () => slack.assistant(alice, { origin: env['PUBLIC_URL'] ?? '' });
    const ask = async (own: Assistant) => {
      const { facts, text } = await own.call('propose_volume_deletion', args);
      if (!facts) throw new Error(text);
      return (facts as { data: { request: string } }).data.request;
    };
    const [first, second] = [open(), open()];
    // The card is sent from what the proposal committed, so the commit is behind.
    const held = slack.script.hold(post, when, `"channel":"${deploys}"`);
    const asked = ask(first);
    await Promise.race([held.reached, asked.then(() => held.reached)]);
    await running.kill('SIGKILL');
    // What the dead process had sent never arrives.
    if (when === 'before') slack.script.fail(post, 'internal_error');
    held.release();
    // The connection is gone, with an answer or without.
    await first.close();
    const before = await asked.catch(() => undefined);
    await begin();
    const again = await ask(second);
    await second.close();
    expect([undefined, again]).toContain(before);

    const card = await slack.as(bob).waitForMessage(({ reads }) => reads.includes(volume), 60_000);
    await slack.as(bob).press('approvals:approve', { ts: card.ts });
    const deletions = () =>
      cdn.requests.filter(({ method, path }) => method === 'DELETE' && path.endsWith(volume));
    await expect.poll(() => deletions().length, { timeout: 60_000 }).toBe(1);
    const posted = () =>
      slack.calls
        .filter(({ method, ok, args }) => method === post && ok && JSON.stringify(args).includes(volume))
        .map(({ args }) => (args['channel'] === deploys ? 'card' : 'own message'));
    // A conversation with a person cannot be searched: a message that was on its way there may be read twice.
    await expect.poll(posted, { timeout: 60_000 }).toContain('own message');
    expect(posted().filter((what) => what === 'card')).toHaveLength(1);
  });

  test('broke no rule of Slack', () => {
    expect(slack.problems).toEqual([]);
    expect(running.output()).not.toContain(cdn.key);
  });
});
