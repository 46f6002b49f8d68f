import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi, startStubApp } from './stub-app.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';
const mention = '<@U0CDNBOT0>';

let slack: SlackSimulator;
let app: Awaited<ReturnType<typeof startStubApp>>;
beforeEach(async () => {
  slack = await startSlack();
  app = await startStubApp(slack);
});
afterEach(async () => {
  await app.close();
  await slack.close();
});

test('what people say to each other, and what the app may not hear, is no event', async () => {
  expect(await slack.as(alice, ops).say('hello').heard).toBeUndefined();
  expect(await slack.as(alice, 'C0RANDOM0').say(`${mention} zones`).heard).toBeUndefined();
  expect(slack.as(alice, 'C0RANDOM0').notices()).toHaveLength(1);
  slack.script.withholdScopes(['app_mentions:read']);
  expect(await slack.as(alice, ops).say(`${mention} zones`).heard).toBeUndefined();
  expect((await slack.as(alice, `D${alice}`).say('zones').heard)?.status).toBe(200);
  slack.script.withholdScopes(['im:history', 'users:read']);
  expect(await slack.as(alice, `D${alice}`).say('zones').heard).toBeUndefined();
  expect(await callWebApi(slack, 'users.info', { user: alice })).toMatchObject({ error: 'missing_scope' });
  slack.script.withholdScopes([]);
  expect(await callWebApi(slack, 'users.info', { user: alice })).toMatchObject({ ok: true });
});

test('an ephemeral message is seen in threads that have replies, and in no others', async () => {
  const person = slack.as(alice, ops);
  const { ts } = person.say('The shop is slow');
  const whisper = () =>
    callWebApi(slack, 'chat.postEphemeral', { channel: ops, user: alice, text: 'psst', thread_ts: ts });
  await whisper();
  expect(slack.problems).toHaveLength(1);
  const reply = person.say('Since when?', { thread: ts });
  await whisper();
  expect(slack.problems).toHaveLength(1);
  await callWebApi(slack, 'chat.postEphemeral', {
    channel: ops,
    user: alice,
    text: 'x',
    thread_ts: reply.ts,
  });
  expect(slack.problems).toHaveLength(2);
});

test('typed text becomes what Slack keeps: mentions, links and hostnames are marked', async () => {
  const response = await fetch(`${slack.url}/ui/say`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: alice, channel: ops, text: '@cdn errors shop.example.com & <more>' }),
  });
  expect(response.status).toBe(200);
  const text = `${mention} errors <http://shop.example.com|shop.example.com> &amp; &lt;more&gt;`;
  expect(slack.as(alice, ops).messages().at(-1)?.text).toBe(text);
});
