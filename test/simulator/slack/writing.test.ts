import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi, type Received, startStubApp } from './stub-app.ts';

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

const events = (): unknown[] => app.received.map(({ body }: Received) => body['event']);

// The shapes of https://docs.slack.dev/reference/events/app_mention and …/message.im
test('a mention in a channel is an event with its channel, and with its thread in one', async () => {
  const person = slack.as(alice, ops);
  const first = person.say(`${mention} errors shop`);
  await first.heard;
  await person.say(`and ${mention} zones`, { thread: first.ts }).heard;
  expect(events()).toMatchObject([
    {
      type: 'app_mention',
      user: alice,
      text: `${mention} errors shop`,
      ts: first.ts,
      event_ts: first.ts,
      channel: ops,
      team: 'T0ACME000',
      client_msg_id: expect.any(String) as string,
      blocks: [{ type: 'rich_text' }],
    },
    { type: 'app_mention', channel: ops, thread_ts: first.ts, parent_user_id: alice },
  ]);
  expect(events()[0]).not.toHaveProperty('thread_ts');
  expect(app.received[0]?.body).toMatchObject({
    type: 'event_callback',
    team_id: 'T0ACME000',
    event_id: expect.stringMatching(/^Ev/) as string,
    authorizations: [{ user_id: 'U0CDNBOT0', is_bot: true, team_id: 'T0ACME000' }],
    is_ext_shared_channel: false,
  });
});

test('what is written in the conversation with the app is a message, mentioned or not', async () => {
  const person = slack.as(alice, `D${alice}`);
  await person.say('errors shop').heard;
  await person.say(`${mention} errors shop`).heard;
  expect(events()).toMatchObject([
    { type: 'message', channel_type: 'im', channel: `D${alice}`, user: alice, text: 'errors shop' },
    { type: 'message', channel_type: 'im', text: `${mention} errors shop` },
  ]);
});

test('a visitor’s mention in a shared channel names the visitor’s workspace', async () => {
  await slack.as('U0EVE0000', 'C0SHARED0').say(`${mention} zones`).heard;
  expect(events()).toMatchObject([{ team: 'T0RIVAL00', user_team: 'T0RIVAL00', source_team: 'T0RIVAL00' }]);
  expect(app.received[0]?.body).toMatchObject({ team_id: 'T0ACME000', is_ext_shared_channel: true });
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
