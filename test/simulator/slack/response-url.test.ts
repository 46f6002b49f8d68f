import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi, postJson, type Received, startStubApp } from './stub-app.ts';

let slack: SlackSimulator;
let peer: { received: Received[]; close(): Promise<void> };
let clock = 1_800_000_000_000;

beforeEach(async () => {
  slack = await startSlack({ now: () => clock });
  peer = await startStubApp(slack);
});
afterEach(async () => {
  await peer.close();
  await slack.close();
});

async function slashUrl(): Promise<string> {
  await slack.as('U0ALICE00').slash('zones');
  return String(peer.received.at(-1)?.body['response_url']);
}

const buttons = [
  { type: 'section', text: { type: 'mrkdwn', text: 'Page 1' } },
  {
    type: 'actions',
    elements: [
      { type: 'button', action_id: 'zones:page', value: '2', text: { type: 'plain_text', text: 'Next' } },
    ],
  },
];

test('a response_url takes five uses, the sixth is refused', async () => {
  const url = await slashUrl();
  for (const text of ['1', '2', '3', '4', '5']) expect((await postJson(url, { text })).status).toBe(200);
  expect(await postJson(url, { text: '6' })).toEqual({
    status: 404,
    text: '{"ok":false,"error":"used_url"}',
  });
  expect(
    slack
      .as('U0ALICE00')
      .messages()
      .map(({ text }) => text),
  ).toEqual(['1', '2', '3', '4', '5']);
});

test('a response_url expires after 30 minutes', async () => {
  const url = await slashUrl();
  clock += 30 * 60 * 1000;
  expect((await postJson(url, { text: 'just in time' })).status).toBe(200);
  clock += 1;
  expect(await postJson(url, { text: 'too late' })).toEqual({
    status: 404,
    text: '{"ok":false,"error":"expired_url"}',
  });
  expect((await postJson(`${slack.url}/response/T0ACME000/unknown`, { text: 'x' })).status).toBe(404);
});

test('the address of a button replaces the message the button is in, ephemeral ones too', async () => {
  const alice = slack.as('U0ALICE00');
  await postJson(await slashUrl(), { text: 'Page 1', blocks: buttons });
  await alice.press('zones:page');
  const pressed = peer.received.at(-1)?.body;
  expect(pressed).toMatchObject({
    type: 'block_actions',
    user: { id: 'U0ALICE00', team_id: 'T0ACME000' },
    team: { id: 'T0ACME000' },
    container: {
      type: 'message',
      is_ephemeral: true,
      channel_id: 'C0OPS0000',
      message_ts: alice.messages()[0]?.ts,
    },
    actions: [{ type: 'button', action_id: 'zones:page', value: '2' }],
  });
  expect(pressed).not.toHaveProperty('message');
  await postJson(String(pressed?.['response_url']), { text: 'Page 2', replace_original: true });
  expect(alice.messages()).toMatchObject([{ text: 'Page 2', edited: true }]);
});

test('an ephemeral message cannot be made public, nor changed by chat.update', async () => {
  const alice = slack.as('U0ALICE00');
  const url = await slashUrl();
  await postJson(url, { text: 'secret' });
  const ts = String(alice.messages()[0]?.ts);
  expect(await callWebApi(slack, 'chat.update', { channel: 'C0OPS0000', ts, text: 'x' })).toMatchObject({
    ok: false,
    error: 'message_not_found',
  });
  await postJson(url, { text: 'open', replace_original: true, response_type: 'in_channel' });
  expect(slack.as('U0BOB0000').messages()).toEqual([]);
  expect(slack.problems).toEqual([
    'chat.update: an ephemeral message can only be changed through its response_url',
    'response_url: an ephemeral message cannot be made public by replacing it',
  ]);
});

test('a broken limit is refused and is a problem', async () => {
  const url = await slashUrl();
  const answer = await postJson(url, { text: 'x', blocks: [{ type: 'nonsense' }] });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({ ok: false, error: 'invalid_blocks' });
  expect(slack.problems).toEqual([
    'response_url: invalid_blocks [ERROR] unsupported type: nonsense [json-pointer:/blocks/0/type]',
  ]);
});

test('thread_ts answers in a thread, and 429s can be scripted', async () => {
  const url = await slashUrl();
  slack.script.rateLimit('response_url', 7);
  const limited = await fetch(url, { method: 'POST', body: '{"text":"x"}' });
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  await postJson(url, { text: 'in thread', thread_ts: '1.2' });
  expect(slack.as('U0ALICE00').messages()).toMatchObject([{ text: 'in thread', threadTs: '1.2' }]);
  expect(
    slack.calls.filter(({ method }) => method === 'response_url').map(({ ok, error }) => [ok, error]),
  ).toEqual([
    [false, 'ratelimited'],
    [true, undefined],
  ]);
});
