import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/app/config.ts';
import { UserError } from '../../src/errors.ts';
import { createTempDirectory } from '../support/temp-directory.ts';

const key = Buffer.alloc(32, 7).toString('base64');
const signingSecret = '0123456789abcdef'.repeat(2);
const enough = { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_APP_TOKEN: 'xapp-1' };

function readProblems(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof UserError) return `${error.message}\n${error.hint}`;
    throw error;
  }
  return 'accepted';
}

test('everything that is wrong is named at once, each by its variable, and no value is repeated', () => {
  const said = readProblems({
    SLACK_APP_TOKEN: 'xoxb-swapped',
    SLACK_API_URL: 'http://slack.example.com/api/',
    CDN_API_URL: 'ftp://cdn.example.com',
    CDN_ORIGIN_LOGGING_URL: 'https://user:hunter22@logs.example.com',
    DATABASE_URL: 'mysql://u:hunter22@db/chat',
    ENCRYPTION_KEYS: 'k1:aHVudGVyMjI=',
    PORT: 'many',
    LOG_LEVEL: 'loud',
    PUBLIC_URL: 'nowhere',
  });
  expect(said).toMatchSnapshot();
  expect(said).not.toMatch(/hunter22|aHVudGVyMjI|xoxb-swapped/);
});

test.each([
  [
    'http to this machine',
    { ...enough, CDN_API_URL: 'http://127.0.0.1:8080', SLACK_API_URL: 'http://localhost:1/api/' },
  ],
  ['one workspace over HTTP', { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_SIGNING_SECRET: signingSecret }],
  [
    'PostgreSQL with its keys',
    { ...enough, DATABASE_URL: 'postgres://db/chat', ENCRYPTION_KEYS: `k1:${key}` },
  ],
  [
    'many workspaces',
    {
      SLACK_CLIENT_ID: '1',
      SLACK_CLIENT_SECRET: 'c',
      SLACK_STATE_SECRET: 's'.repeat(16),
      SLACK_SIGNING_SECRET: signingSecret,
      ALLOWED_WORKSPACES: 'T0ACME000, E0CORP0000',
    },
  ],
])('%s is accepted', (_what, env) => {
  expect(readProblems(env)).toBe('accepted');
});

test('what is wrong or excludes another is refused by its name, without its value', () => {
  const oauth = { SLACK_CLIENT_ID: '1', SLACK_CLIENT_SECRET: 'c', SLACK_STATE_SECRET: 's'.repeat(16) };
  const many = { ...oauth, SLACK_SIGNING_SECRET: signingSecret };
  const onPostgres = { ...enough, DATABASE_URL: 'postgres://db/chat', ENCRYPTION_KEYS: `k1:${key}` };
  const refused = {
    'a host that only begins like this machine': { ...enough, CDN_API_URL: 'http://127.0.0.1.example.com' },
    'PostgreSQL without keys': { ...enough, DATABASE_URL: 'postgres://db/chat' },
    'a way to encrypt that is none': { ...onPostgres, PGSSLMODE: 'verify_full' },
    'the same in the address': { ...onPostgres, DATABASE_URL: 'postgres://db/chat?sslmode=on' },
    'one workspace and many': { ...enough, SLACK_CLIENT_ID: '1' },
    'half of OAuth': { SLACK_CLIENT_ID: '1', SLACK_APP_TOKEN: 'xapp-1' },
    'a name of a workspace': { ...enough, ALLOWED_WORKSPACES: 'T0ACME000, hunter22' },
    'a short signing secret': { ...many, SLACK_SIGNING_SECRET: 'hunter22hunter2' },
    'a signing secret that is none': { ...many, SLACK_SIGNING_SECRET: `${signingSecret.slice(1)}g` },
    'a short state secret': { ...many, SLACK_STATE_SECRET: 'hunter22hunter2' },
    'a user token': { ...enough, SLACK_BOT_TOKEN: 'xoxp-hunter22' },
    'an app token for the bot': { ...enough, SLACK_BOT_TOKEN: 'xapp-hunter22' },
    'a bot token for the app': { ...enough, SLACK_APP_TOKEN: 'xoxb-hunter22' },
  };
  const said = Object.fromEntries(
    Object.entries(refused).map(([what, env]) => [what, readProblems(env).split('\n').slice(1, -1)]),
  );
  expect(said).toMatchSnapshot();
  expect(JSON.stringify(said)).not.toContain('hunter22');
});

test.each(['"', "'"])('values in %s quotes, as env files write them, lose them', (quote) => {
  const quoted = Object.entries({ ...enough, ADMIN_USER_IDS: 'U1, U2' }).map(([name, value]) => [
    name,
    ` ${quote}${value}${quote}\r`,
  ]);
  const { slack, adminIds } = readConfig(Object.fromEntries(quoted));
  expect(slack.appToken?.reveal()).toBe('xapp-1');
  expect(adminIds).toEqual(['U1', 'U2']);
});

test('each secret can be in a file, whose fault is told once', async () => {
  const directory = await createTempDirectory();
  const secrets = {
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_CLIENT_SECRET: 'c',
    SLACK_STATE_SECRET: 's'.repeat(16),
    DATABASE_URL: 'postgres://db/chat',
    ENCRYPTION_KEYS: `k1:${key}`,
    OTEL_EXPORTER_OTLP_HEADERS: 'a=b',
  };
  const env: Record<string, string> = { SLACK_CLIENT_ID: '1' };
  for (const [name, value] of Object.entries(secrets)) {
    env[`${name}_FILE`] = join(directory, name);
    await writeFile(join(directory, name), `\uFEFF${value}\r\n`);
  }
  const { slack, store } = readConfig(env);
  expect(slack.signingSecret?.reveal()).toBe(signingSecret);
  expect(store.databaseUrl?.reveal()).toBe('postgres://db/chat');

  await writeFile(join(directory, 'empty'), ' ');
  const said = readProblems({
    SLACK_BOT_TOKEN_FILE: join(directory, 'none'),
    SLACK_APP_TOKEN_FILE: join(directory, 'empty'),
    DATABASE_URL: 'postgres://db/chat',
    DATABASE_URL_FILE: join(directory, 'DATABASE_URL'),
    ENCRYPTION_KEYS: `k1:${key}`,
  });
  expect(said.replaceAll(directory, '<directory>')).toMatchSnapshot();
});

test('pages of the panel have defaults, another address with an id in it, or none', () => {
  const { keys, ...ofThings } = readConfig(enough).panel;
  for (const page of Object.values(ofThings)) expect(page).toMatch(/^https:.*\{id\}/u);
  expect(keys).toMatch(/^https:/u);
  const own = {
    PANEL_URL_ZONE: 'https://panel.example/zones/{id}',
    PANEL_URL_APP: 'none',
    PANEL_URL_KEYS: 'https://panel.example/keys',
  };
  expect(readConfig({ ...enough, ...own }).panel).toEqual({
    ...ofThings,
    zone: 'https://panel.example/zones/{id}',
    app: undefined,
    keys: 'https://panel.example/keys',
  });
  for (const wrong of ['https://panel.example/', 'javascript:{id}', 'http://panel.example/{id}'])
    expect(readProblems({ ...enough, PANEL_URL_ZONE: wrong })).toContain('PANEL_URL_ZONE must');
  expect(readProblems({ ...enough, PANEL_URL_KEYS: 'http://panel.example/' })).toContain(
    'PANEL_URL_KEYS must',
  );
});
