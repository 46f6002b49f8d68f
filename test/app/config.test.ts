import { expect, test } from 'vitest';
import { readConfig } from '../../src/app/config.ts';
import { UserError } from '../../src/errors.ts';

const key = Buffer.alloc(32, 7).toString('base64');
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
  expect(said).toMatchInlineSnapshot(`
    "The bot cannot start:
      - DATABASE_URL must begin with postgres:// (leave it out to use the embedded database).
      - LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent.
      - CDN_API_URL must be an https:// address (http:// only for this machine), without a user name in it.
      - CDN_ORIGIN_LOGGING_URL must be an https:// address (http:// only for this machine), without a user name in it.
      - SLACK_API_URL must be an https:// address (http:// only for this machine), without a user name in it.
      - SLACK_APP_TOKEN must begin with xapp- (Basic Information → App-Level Tokens).
      - PORT must be a port number.
      - PUBLIC_URL must be an https:// address (http:// only for this machine), without a user name in it.
      - SLACK_BOT_TOKEN is missing (OAuth & Permissions → Bot User OAuth Token). For many workspaces set SLACK_CLIENT_ID, SLACK_CLIENT_SECRET, SLACK_STATE_SECRET instead.
      - ENCRYPTION_KEYS: entry 1 holds a key of 8 bytes, not 32. An entry is kid:base64key. A new one: echo "k1:$(openssl rand -base64 32)", or npm run keys -- new
    The README says where each value comes from. To try everything without a Slack: npm run playground"
  `);
  expect(said).not.toMatch(/hunter22|aHVudGVyMjI|xoxb-swapped/);
});

test.each([
  [
    'http to this machine',
    { ...enough, CDN_API_URL: 'http://127.0.0.1:8080', SLACK_API_URL: 'http://localhost:1/api/' },
  ],
  [
    'one workspace over HTTP',
    { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_SIGNING_SECRET: '0123456789abcdef'.repeat(2) },
  ],
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
      SLACK_SIGNING_SECRET: 's'.repeat(16),
      ALLOWED_WORKSPACES: 'T0ACME000, E0CORP0000',
    },
  ],
])('%s is accepted', (_what, env) => {
  expect(readProblems(env)).toBe('accepted');
});

test.each([
  ['a host that only begins like this machine', { ...enough, CDN_API_URL: 'http://127.0.0.1.example.com' }],
  ['PostgreSQL without keys', { ...enough, DATABASE_URL: 'postgres://db/chat' }],
  ['one workspace and many', { ...enough, SLACK_CLIENT_ID: '1' }],
  ['a name of a workspace', { ...enough, ALLOWED_WORKSPACES: 'T0ACME000, acme' }],
  ['half of OAuth', { SLACK_CLIENT_ID: '1', SLACK_APP_TOKEN: 'xapp-1' }],
])('%s is refused', (_what, env) => {
  expect(readProblems(env)).toMatchSnapshot();
});

test.each(['SLACK_SIGNING_SECRET', 'SLACK_STATE_SECRET'])('a short %s is refused by its name', (name) => {
  const secrets = { SLACK_SIGNING_SECRET: 's'.repeat(16), SLACK_STATE_SECRET: 's'.repeat(16) };
  const oauth = { SLACK_CLIENT_ID: '1', SLACK_CLIENT_SECRET: 'c', ...secrets };
  expect(readProblems(oauth)).toBe('accepted');
  const said = readProblems({ ...oauth, [name]: 'hunter22hunter2' });
  expect(said).toMatchSnapshot();
  expect(said).not.toContain('hunter22');
});

test('pages of the panel have defaults, another address with an id in it, or none', () => {
  const defaults = readConfig(enough).panel;
  for (const page of Object.values(defaults)) expect(page).toMatch(/^https:.*\{id\}/u);
  const own = { PANEL_URL_ZONE: 'https://panel.example/zones/{id}', PANEL_URL_APP: 'none' };
  expect(readConfig({ ...enough, ...own }).panel).toEqual({
    ...defaults,
    zone: 'https://panel.example/zones/{id}',
    app: undefined,
  });
  for (const wrong of ['https://panel.example/', 'javascript:{id}', 'http://panel.example/{id}'])
    expect(readProblems({ ...enough, PANEL_URL_ZONE: wrong })).toContain('PANEL_URL_ZONE must');
});
