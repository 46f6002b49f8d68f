import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi, postJson, startStubApp } from './stub-app.ts';

const ops = 'C0OPS0000';
let slack: SlackSimulator;
let peer: Awaited<ReturnType<typeof startStubApp>>;

beforeEach(async () => {
  const words = { name: 'Name', description: 'What it does' };
  slack = await startSlack({
    shortcuts: [
      { callbackId: 'a:global', kind: 'global', ...words },
      { callbackId: 'a:message', kind: 'message', ...words },
    ],
  });
  peer = await startStubApp(slack);
});
afterEach(async () => {
  await peer.close();
  await slack.close();
});

const payload = (): Record<string, unknown> => peer.received.at(-1)?.body ?? {};

test('a global shortcut has a trigger, and neither a channel nor a response_url', async () => {
  const exchange = await slack.as('U0ALICE00', ops).shortcut('a:global');
  expect(exchange.status).toBe(200);
  expect(payload()).toMatchObject({
    type: 'shortcut',
    callback_id: 'a:global',
    user: { id: 'U0ALICE00', team_id: 'T0ACME000' },
    team: { id: 'T0ACME000' },
    trigger_id: expect.any(String) as string,
  });
  expect(payload()).not.toHaveProperty('channel');
  expect(payload()).not.toHaveProperty('response_url');
});

test('a message shortcut brings the message, also where the bot is not, and its answers stand beside it', async () => {
  const attachments = [{ from_url: 'https://b.example' }];
  const { ts } = slack.as('U0BOB0000', 'C0RANDOM0').say('see <https://a.example>', { attachments });
  const alice = slack.as('U0ALICE00', 'C0RANDOM0');
  await alice.shortcut('a:message', { ts });
  const sent = payload();
  expect(sent).toMatchObject({
    type: 'message_action',
    callback_id: 'a:message',
    channel: { id: 'C0RANDOM0', name: 'random' },
    message_ts: ts,
    message: { type: 'message', user: 'U0BOB0000', ts, text: 'see <https://a.example>', attachments },
  });
  expect(await postJson(String(sent['response_url']), { text: 'for you' })).toMatchObject({ status: 200 });
  expect(alice.messages().map(({ reads, ephemeral }) => [reads, ephemeral])).toEqual([
    ['see https://a.example', false],
    ['for you', true],
  ]);
  const view = { type: 'modal', title: { type: 'plain_text', text: 'Hello' }, blocks: [] };
  const opened = await callWebApi(slack, 'views.open', { trigger_id: sent['trigger_id'], view });
  expect(opened['ok']).toBe(true);
});

test('a shortcut that the manifest does not declare, or of another kind, cannot be chosen', async () => {
  const alice = slack.as('U0ALICE00', ops);
  const { ts } = alice.say('hello');
  await expect(alice.shortcut('a:other')).rejects.toThrow('declares no global shortcut a:other');
  await expect(alice.shortcut('a:message')).rejects.toThrow('no global shortcut a:message');
  await expect(alice.shortcut('a:global', { ts })).rejects.toThrow('no message shortcut a:global');
  expect(peer.received).toEqual([]);
});

test('an ephemeral message has no menu', async () => {
  const alice = slack.as('U0ALICE00', ops);
  await callWebApi(slack, 'chat.postEphemeral', { channel: ops, user: 'U0ALICE00', text: 'psst' });
  const ts = alice.messages().at(-1)?.ts ?? '';
  await expect(alice.shortcut('a:message', { ts })).rejects.toThrow('ephemeral message has no shortcuts');
});
