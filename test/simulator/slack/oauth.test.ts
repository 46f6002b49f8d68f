import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../../simulator/slack/server.ts';
import { callWebApi } from './stub-app.ts';

let slack: SlackSimulator;
let clock = 1_800_000_000_000;
const redirectUri = 'http://127.0.0.1:3000/slack/oauth_redirect';

beforeEach(async () => {
  slack = await startSlack({ now: () => clock });
});
afterEach(() => slack.close());

function authorize(team?: string): Promise<Response> {
  const query = new URLSearchParams({
    client_id: slack.clientId,
    scope: 'commands,chat:write',
    state: 's1',
    redirect_uri: redirectUri,
  });
  if (team !== undefined) query.set('team', team);
  return fetch(`${slack.url}/oauth/v2/authorize?${query.toString()}`, { redirect: 'manual' });
}

async function codeFor(team: string): Promise<string> {
  const { searchParams } = new URL((await authorize(team)).headers.get('location') ?? '');
  expect(searchParams.get('state')).toBe('s1');
  return searchParams.get('code') ?? '';
}

const exchange = (code: string, more: Record<string, unknown> = {}) =>
  callWebApi(
    slack,
    'oauth.v2.access',
    {
      client_id: slack.clientId,
      client_secret: slack.clientSecret,
      code,
      redirect_uri: redirectUri,
      ...more,
    },
    '',
  );

test('a code dies after ten minutes, and the secret and address must be right', async () => {
  const old = await codeFor('T0ACME000');
  clock += 10 * 60 * 1000 + 1;
  expect(await exchange(old)).toMatchObject({ error: 'invalid_code' });
  expect(await exchange(await codeFor('T0ACME000'), { client_secret: 'wrong' })).toMatchObject({
    error: 'bad_client_secret',
  });
  expect(await exchange(await codeFor('T0ACME000'), { redirect_uri: 'http://e.eu/' })).toMatchObject({
    error: 'bad_redirect_uri',
  });
  expect(JSON.stringify(slack.calls)).not.toContain(slack.clientSecret);
});

test('after uninstalling, a new installation has a new token', async () => {
  const secrets = { client_id: slack.clientId, client_secret: slack.clientSecret };
  expect(await callWebApi(slack, 'apps.uninstall', secrets)).toMatchObject({ ok: true });
  expect(await callWebApi(slack, 'auth.test')).toMatchObject({ error: 'account_inactive' });
  const { access_token: fresh } = await exchange(await codeFor('T0ACME000'));
  expect(fresh).not.toBe(slack.botToken);
  expect(await callWebApi(slack, 'auth.test', {}, String(fresh))).toMatchObject({
    ok: true,
    team_id: 'T0ACME000',
  });
  expect(await callWebApi(slack, 'auth.test')).toMatchObject({ error: 'invalid_auth' });
});
