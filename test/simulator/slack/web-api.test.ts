import { WebClient } from '@slack/web-api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi, startStubApp } from './stub-app.ts';

let slack: SlackSimulator;
let client: WebClient;

beforeEach(async () => {
  slack = await startSlack();
  client = new WebClient(slack.botToken, { slackApiUrl: `${slack.url}/api/`, retryConfig: { retries: 0 } });
});
afterEach(() => slack.close());

test('auth.test tells the SDK its identity', async () => {
  expect(await client.auth.test()).toMatchObject({
    ok: true,
    team_id: 'T0ACME000',
    user_id: 'U0CDNBOT0',
    bot_id: 'B0CDNBOT0',
  });
  expect(await callWebApi(slack, 'auth.test', {}, slack.workspaces.corp.botToken)).toMatchObject({
    enterprise_id: 'E0CORP0000',
    is_enterprise_install: true,
  });
});

test('a call needs a known token of the right kind; no record holds one', async () => {
  expect(await callWebApi(slack, 'auth.test', {}, '')).toMatchObject({ ok: false, error: 'not_authed' });
  expect(await callWebApi(slack, 'auth.test', {}, 'xoxb-stolen')).toMatchObject({ error: 'invalid_auth' });
  expect(await callWebApi(slack, 'auth.test', { token: slack.botToken }, '')).toMatchObject({ ok: true });
  expect(await callWebApi(slack, 'auth.test', {}, slack.appToken)).toMatchObject({
    error: 'not_allowed_token_type',
  });
  expect(await callWebApi(slack, 'apps.connections.open')).toMatchObject({ error: 'not_allowed_token_type' });
  expect(await callWebApi(slack, 'rtm.start')).toMatchObject({ error: 'unknown_method' });
  expect(slack.calls.map(({ token }) => token)).toEqual(['none', 'wrong', 'bot', 'app', 'bot', 'bot']);
  expect(JSON.stringify(slack.calls)).not.toContain('xoxb');
});

test('calls may be JSON as well as forms', async () => {
  const response = await fetch(`${slack.url}/api/chat.postMessage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ channel: 'C0OPS0000', text: 'hello', blocks: [{ type: 'divider' }] }),
  });
  expect(await response.json()).toMatchObject({
    ok: true,
    channel: 'C0OPS0000',
    message: { blocks: [{ type: 'divider' }] },
  });
  expect(slack.calls[0]?.args['blocks']).toEqual([{ type: 'divider' }]);
});

test('a message is read by everybody in the channel as people read it', async () => {
  const text =
    '*3* zones of <@U0ALICE00> at <https://e.eu|the shop> &amp; snake_case_name in `code`, _*all*_';
  const posted = await client.chat.postMessage({ channel: 'C0OPS0000', text });
  const [seen] = slack.as('U0BOB0000').messages();
  expect(seen).toMatchObject({ ts: posted.ts, text, ephemeral: false, bot: true, edited: false });
  expect(seen?.reads).toBe('3 zones of @Alice Adams at the shop & snake_case_name in code, all');
  expect(slack.as('U0EVE0000').messages()).toEqual([]);
});

test('a post goes where the bot is, to a person as a DM, and nowhere else', async () => {
  const post = (channel: string) => callWebApi(slack, 'chat.postMessage', { channel, text: 'x' });
  expect(await post('C0RANDOM0')).toMatchObject({ error: 'not_in_channel' });
  expect(await post('C0NOWHERE')).toMatchObject({ error: 'channel_not_found' });
  expect(await post('U0BOB0000')).toMatchObject({ ok: true, channel: 'DU0BOB0000' });
  expect(await post('U0GRACE00')).toMatchObject({ error: 'channel_not_found' });
  expect(slack.as('U0BOB0000').messages()).toHaveLength(1);
  expect(slack.as('U0ALICE00').messages()).toEqual([]);
  expect(slack.problems).toEqual([]);
  await post('#ops');
  expect(slack.problems).toEqual([
    'chat.postMessage: channel "#ops" is a name; channels are addressed by id',
  ]);
});

test("one workspace's token about another's channel is an error and a problem", async () => {
  const answer = await callWebApi(slack, 'chat.postMessage', { channel: 'C0BETAOPS', text: 'x' });
  expect(answer).toMatchObject({ ok: false, error: 'channel_not_found' });
  expect(await callWebApi(slack, 'users.list', { team_id: 'T0BETA000' })).toMatchObject({
    error: 'team_access_not_granted',
  });
  expect(slack.problems).toEqual([
    'chat.postMessage: the token of T0ACME000 was used for channel C0BETAOPS of T0BETA000',
    'users.list: the token of T0ACME000 was used with team_id T0BETA000',
  ]);
});

test('equal user ids in two workspaces are two people', async () => {
  await callWebApi(slack, 'chat.postMessage', { channel: 'U0ALICE00', text: 'for acme' });
  await callWebApi(
    slack,
    'chat.postMessage',
    { channel: 'U0ALICE00', text: 'for beta' },
    slack.workspaces.beta.botToken,
  );
  expect(
    slack
      .as('U0ALICE00')
      .messages()
      .map(({ text }) => text),
  ).toEqual(['for acme']);
  expect(
    slack
      .as('U0ALICE00', undefined, 'T0BETA000')
      .messages()
      .map(({ text }) => text),
  ).toEqual(['for beta']);
});

test('ephemeral messages reach one person who is in the channel', async () => {
  const say = (channel: string, user: string) =>
    callWebApi(slack, 'chat.postEphemeral', { channel, user, text: 'psst' });
  expect(await say('C0OPS0000', 'U0BOB0000')).toMatchObject({ ok: true, message_ts: expect.any(String) });
  expect(await say('C0RANDOM0', 'U0BOB0000')).toMatchObject({ error: 'not_in_channel' });
  expect(await say('C0OPS0000', 'U0EVE0000')).toMatchObject({ error: 'user_not_in_channel' });
  expect(await say('C0SHARED0', 'U0EVE0000')).toMatchObject({ ok: true });
  expect(slack.as('U0BOB0000').messages()).toMatchObject([{ ephemeral: true }]);
  expect(slack.as('U0CAROL00').messages()).toEqual([]);
});

test('the bot changes and deletes its own messages', async () => {
  const { ts = '' } = await client.chat.postMessage({
    channel: 'C0OPS0000',
    text: 'one',
    blocks: [{ type: 'divider' }],
  });
  await client.chat.update({ channel: 'C0OPS0000', ts, text: 'two' });
  expect(slack.as('U0ALICE00').messages()).toMatchObject([{ text: 'two', blocks: [], edited: true }]);
  expect(
    await callWebApi(slack, 'chat.update', { channel: 'C0OPS0000', ts, text: 'x'.repeat(4001) }),
  ).toMatchObject({ error: 'msg_too_long' });
  expect(
    await callWebApi(slack, 'chat.getPermalink', { channel: 'C0OPS0000', message_ts: ts }),
  ).toMatchObject({
    permalink: expect.stringContaining('/C0OPS0000/p'),
  });
  await client.reactions.add({ channel: 'C0OPS0000', timestamp: ts, name: 'eyes' });
  expect(
    await callWebApi(slack, 'reactions.add', { channel: 'C0OPS0000', timestamp: ts, name: 'eyes' }),
  ).toMatchObject({ error: 'already_reacted' });
  await client.chat.delete({ channel: 'C0OPS0000', ts });
  expect(slack.as('U0ALICE00').messages()).toEqual([]);
  expect(await callWebApi(slack, 'chat.delete', { channel: 'C0OPS0000', ts })).toMatchObject({
    error: 'message_not_found',
  });
});

test('a broken limit is refused as Slack refuses it, and is a problem', async () => {
  const blocks = [{ type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } }];
  const message = '[ERROR] must be less than 151 characters [json-pointer:/blocks/0/text/text]';
  expect(await callWebApi(slack, 'chat.postMessage', { channel: 'C0OPS0000', text: 'x', blocks })).toEqual({
    ok: false,
    error: 'invalid_blocks',
    errors: [message],
    response_metadata: { messages: [message] },
  });
  expect(slack.problems).toEqual([`chat.postMessage: invalid_blocks ${message}`]);
  expect(
    await callWebApi(slack, 'chat.postMessage', { channel: 'C0OPS0000', blocks: '[{"type":' }),
  ).toMatchObject({
    error: 'invalid_blocks_format',
  });
});

test('people, channels and groups are listed in pages, and an org install says of which workspace', async () => {
  const first = await client.users.list({ limit: 3 });
  const second = await client.users.list({ limit: 3, cursor: first.response_metadata?.next_cursor ?? '' });
  expect([...(first.members ?? []), ...(second.members ?? [])].map(({ name }) => name)).toEqual([
    'alice',
    'bob',
    'carol',
    'dave',
  ]);
  expect((await client.users.info({ user: 'U0ALICE00' })).user).toMatchObject({
    is_admin: true,
    tz: 'Europe/Berlin',
  });
  expect((await client.users.info({ user: 'U0EVE0000' })).user).toMatchObject({
    team_id: 'T0RIVAL00',
    is_stranger: false,
  });
  expect((await client.conversations.list()).channels?.map(({ name }) => name)).toEqual([
    'ops',
    'deploys',
    'random',
    'shared',
  ]);
  expect((await client.conversations.info({ channel: 'C0RANDOM0' })).channel).toMatchObject({
    is_member: false,
  });
  expect((await client.conversations.members({ channel: 'C0SHARED0' })).members).toContain('U0EVE0000');
  expect((await client.conversations.open({ users: 'U0BOB0000' })).channel).toEqual({ id: 'DU0BOB0000' });
  expect((await client.usergroups.list({ include_users: true })).usergroups).toMatchObject([
    { handle: 'operators', users: ['U0BOB0000'] },
    { handle: 'approvers' },
  ]);
  expect((await client.usergroups.users.list({ usergroup: 'S0APPROVE' })).users).toEqual(['U0CAROL00']);
  const { botToken } = slack.workspaces.corp;
  expect(await callWebApi(slack, 'users.list', {}, botToken)).toMatchObject({ error: 'missing_argument' });
  expect(await callWebApi(slack, 'users.list', { team_id: 'T0CORPTWO' }, botToken)).toMatchObject({
    members: [{ name: 'grace' }],
  });
  const grace = await callWebApi(slack, 'users.info', { user: 'U0GRACE00' }, botToken);
  expect(grace).toMatchObject({
    user: { enterprise_user: { enterprise_id: 'E0CORP0000', teams: ['T0CORPTWO'] } },
  });
});

test('the token of an organisation names the workspace of a user group', async () => {
  slack.world.userGroups.push({
    id: 'S0CORP000',
    teamId: 'T0CORPONE',
    handle: 'c',
    name: 'C',
    users: ['U0FRANK00'],
  });
  const { botToken } = slack.workspaces.corp;
  const read = (more: Record<string, string>) =>
    callWebApi(slack, 'usergroups.users.list', { usergroup: 'S0CORP000', ...more }, botToken);
  expect(await read({})).toMatchObject({ error: 'missing_argument' });
  expect(await read({ team_id: 'T0CORPTWO' })).toMatchObject({ error: 'no_such_subteam' });
  expect(await read({ team_id: 'T0CORPONE' })).toMatchObject({ users: ['U0FRANK00'] });
});

test('more calls of a method than its tier answers in a minute are 429, for this installation alone', async () => {
  const { acme, beta } = slack.workspaces;
  const read = (method: string, token: string) =>
    fetch(`${slack.url}/api/${method}`, { headers: { authorization: `Bearer ${token}` } });
  for (const [method, most] of [
    ['usergroups.list', 20],
    ['users.info?user=U0ALICE00', 100],
  ] as const) {
    for (let n = 0; n < most; n += 1) expect((await read(method, acme.botToken)).status).toBe(200);
    const limited = await read(method, acme.botToken);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(50);
    expect((await read(method, beta.botToken)).status).toBe(200);
  }
});

test('rate limits, refusals, delays and dropped connections happen when they are scripted, and as often', async () => {
  slack.script.rateLimit('chat.postMessage', 30);
  const limited = await fetch(`${slack.url}/api/chat.postMessage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${slack.botToken}` },
  });
  expect([limited.status, limited.headers.get('retry-after'), await limited.json()]).toEqual([
    429,
    '30',
    { ok: false, error: 'ratelimited' },
  ]);
  slack.script.fail('chat.postMessage', 'is_archived');
  expect(await callWebApi(slack, 'chat.postMessage', { channel: 'C0OPS0000', text: 'x' })).toMatchObject({
    error: 'is_archived',
  });
  slack.script.drop('chat.postMessage');
  await expect(
    callWebApi(slack, 'chat.postMessage', { channel: 'C0OPS0000', text: 'lost answer' }),
  ).rejects.toThrow('fetch failed');
  slack.script.delay('auth.test', 30);
  const before = performance.now();
  await callWebApi(slack, 'auth.test');
  expect(performance.now() - before).toBeGreaterThanOrEqual(29);
  expect(slack.as('U0ALICE00').messages()).toMatchObject([{ text: 'lost answer' }]);
});

test('a call is held before it is carried out, or with its answer', async () => {
  const texts = () =>
    slack
      .as('U0ALICE00')
      .messages()
      .map(({ text }) => text);
  const post = async (text: string) => callWebApi(slack, 'chat.postMessage', { channel: 'C0OPS0000', text });
  const before = slack.script.hold('chat.postMessage', 'before');
  const first = post('held before');
  await before.reached;
  expect(texts()).not.toContain('held before');
  before.release();
  expect(await first).toMatchObject({ ok: true });
  const after = slack.script.hold('chat.postMessage', 'after', 'held after');
  expect(await post('another text')).toMatchObject({ ok: true });
  const second = post('held after');
  await after.reached;
  expect(texts()).toContain('held after');
  after.release();
  expect(await second).toMatchObject({ ok: true });
});

test('a revoked token is dead and the app hears of it', async () => {
  const peer = await startStubApp(slack);
  expect(await callWebApi(slack, 'auth.revoke')).toMatchObject({ ok: true, revoked: true });
  expect(await callWebApi(slack, 'chat.postMessage', { channel: 'C0OPS0000', text: 'x' })).toMatchObject({
    error: 'token_revoked',
  });
  expect(await callWebApi(slack, 'auth.test')).toMatchObject({ error: 'account_inactive' });
  await expect.poll(() => peer.received[0]?.body['event']).toMatchObject({ type: 'tokens_revoked' });
  await slack.as('U0ALICE00').slash('zones');
  expect(slack.as('U0ALICE00').notices()).toEqual(['/cdn is not a valid command.']);
  await peer.close();
});

test('a channel’s history is read newest first, its threads apart, with metadata where it is asked for', async () => {
  const metadata = { event_type: 'digest_run', event_payload: { digest: 'k7f3q' } };
  const top = await client.chat.postMessage({ channel: 'C0OPS0000', text: 'top', metadata });
  await client.chat.postMessage({ channel: 'C0OPS0000', text: 'detail', thread_ts: top.ts ?? '' });
  await client.chat.postMessage({ channel: 'C0OPS0000', text: 'later' });
  const history = await client.conversations.history({ channel: 'C0OPS0000', include_all_metadata: true });
  expect(history.messages?.map(({ text }) => text)).toEqual(['later', 'top']);
  expect(history.messages?.[1]?.metadata).toEqual(metadata);
  const plain = await client.conversations.history({ channel: 'C0OPS0000' });
  expect(plain.messages?.[1]?.metadata).toBeUndefined();
  const replies = await client.conversations.replies({ channel: 'C0OPS0000', ts: top.ts ?? '' });
  expect(replies.messages?.map(({ text }) => text)).toEqual(['top', 'detail']);
  const first = await client.conversations.history({ channel: 'C0OPS0000', limit: 1 });
  expect(first).toMatchObject({ has_more: true, messages: [{ text: 'later' }] });
  expect(await callWebApi(slack, 'conversations.history', { channel: 'C0RANDOM0' })).toMatchObject({
    error: 'not_in_channel',
  });
});

test('a held call is carried out without an answer', async () => {
  slack.script.hold('chat.postMessage', 'after');
  const unanswered = fetch(`${slack.url}/api/chat.postMessage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ channel: 'C0OPS0000', text: 'taken' }),
    signal: AbortSignal.timeout(300),
  });
  await expect(unanswered).rejects.toThrow(/timeout/);
  expect(slack.as('U0ALICE00').messages()).toMatchObject([{ text: 'taken' }]);
});
