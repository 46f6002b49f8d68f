import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmulator, type Emulator } from 'emulate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type CdnSimulator, startCdn } from '../../simulator/cdn/server.ts';
import { findFreePort } from '../../simulator/free-port.ts';
import { buildApp } from '../../src/app/build-app.ts';
import { readConfig } from '../../src/app/config.ts';
import type { ChatApp } from '../../src/app/wire.ts';
import { createLogger } from '../../src/telemetry/log.ts';

// A Slack Web API that was not written here, with its own trigger ids, view hashes and OAuth: a second opinion on
// what the bot sends. It delivers no commands, so these are signed and posted by hand.

const signingSecret = '51309a7ed5190c5ec4e7000000000000';
const token = 'xoxb-emulated';
let slack: Emulator;
let cdn: CdnSimulator;
let app: ChatApp;
let dataDir: string;

beforeAll(async () => {
  cdn = await startCdn({ zones: 12 });
  dataDir = await mkdtemp(join(tmpdir(), 'chatops-'));
  slack = await createEmulator({
    service: 'slack',
    port: await findFreePort(),
    seed: {
      tokens: { [token]: { login: 'alice', scopes: ['chat:write', 'im:write', 'views:write'] } },
      slack: {
        team: { name: 'Acme', domain: 'acme' },
        users: [
          { name: 'alice', real_name: 'Alice' },
          { name: 'bob', real_name: 'Bob' },
        ],
        channels: [{ name: 'ops' }],
      },
    },
  });
  const config = readConfig({
    SLACK_BOT_TOKEN: token,
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_API_URL: `${slack.url}/api/`,
    CDN_API_URL: cdn.url,
    CDN_ORIGIN_LOGGING_URL: cdn.originLoggingUrl,
    DATA_DIR: dataDir,
    PORT: '0',
  });
  app = await buildApp({ config, log: createLogger('error') });
  await app.start();
});
afterAll(async () => {
  await app?.stop();
  await Promise.all([slack?.close(), cdn?.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

const answer = z.looseObject({ ok: z.boolean(), error: z.string().optional() });

async function web(method: string, args: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const response = await fetch(`${slack.url}/api/${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(args),
  });
  return answer.parse(await response.json());
}

/** Slack's signed delivery of something a person did. */
async function deliver(form: Record<string, string>): Promise<Response> {
  const body = new URLSearchParams(form).toString();
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex');
  return fetch(`http://127.0.0.1:${app.port()}/slack/events`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${signature}`,
    },
    body,
  });
}

test('the connect form opens with a real trigger, once', async () => {
  const me = await web('auth.test');
  const { trigger_id: triggerId } = await web('views.generateTriggerId', { user_id: String(me['user_id']) });
  expect(triggerId).toBeTypeOf('string');
  const command = {
    command: '/cdn',
    text: 'connect',
    team_id: String(me['team_id']),
    user_id: String(me['user_id']),
    channel_id: 'C000000001',
    trigger_id: String(triggerId),
  };
  const acknowledged = await deliver(command);
  expect(acknowledged.status).toBe(200);
  // The emulator says that a trigger was used by refusing it: the bot's views.open got there first.
  await expect
    .poll(
      async () =>
        (
          await web('views.open', {
            trigger_id: String(triggerId),
            view: '{"type":"modal","title":{"type":"plain_text","text":"x"},"blocks":[]}',
          })
        )['error'],
    )
    .toBe('exchanged_trigger_id');
});

test('an answer without a response_url and a channel arrives as a direct message', async () => {
  const me = await web('auth.test');
  // Not the token's own user: nobody has a conversation with themselves here.
  const { members } = z
    .object({ members: z.array(z.object({ id: z.string(), name: z.string() })) })
    .parse(await web('users.list'));
  const user = members.find(({ name }) => name === 'bob')?.id ?? '';
  const command = { command: '/cdn', text: 'whoami', team_id: String(me['team_id']), user_id: user };
  expect((await deliver({ ...command, trigger_id: '1.1.emulated' })).status).toBe(200);
  const { channel } = z
    .object({ channel: z.object({ id: z.string() }) })
    .parse(await web('conversations.open', { users: user }));
  await expect
    .poll(async () => JSON.stringify(await web('conversations.history', { channel: channel.id })))
    .toContain('No API key connected.');
});
