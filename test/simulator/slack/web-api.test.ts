import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi } from './stub-app.ts';

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
