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
