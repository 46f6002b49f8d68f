import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi, startStubApp } from './stub-app.ts';

let slack: SlackSimulator;

beforeEach(async () => {
  slack = await startSlack();
});
afterEach(() => slack.close());

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
