import type { InstallationStore } from '@slack/oauth';
import { expect, test } from 'vitest';
import { NotInstalledError } from '../../src/auth/installations.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { createInstallationAccess, explainRefusedToken } from '../../src/slack/installations.ts';
import { createLibraryLog } from '../../src/slack/send/clients.ts';
import { createMemoryLog } from '../support/engines.ts';

const place = { teamId: 'T1' };
const installed = { bot: { token: 'xoxb-1' }, team: { id: 'T1' }, enterprise: { id: 'E1' } };
const gone = new NotInstalledError('T1');
const away = new Error('the database is away');

/** Access with this row, or the failure to read it, each of them once and the last one for ever, and a Slack that answers so. */
function open(
  given: object | readonly object[],
  { allowed = [], code }: { allowed?: readonly string[]; code?: string } = {},
) {
  const secret = new Secret('any');
  let asked = 0;
  const rows = [given].flat();
  const access = createInstallationAccess({
    installing: { kind: 'oauth', clientId: '1', clientSecret: secret, stateSecret: secret, allowed },
    apiUrl: 'https://slack.test/api/',
    logger: createLibraryLog(createMemoryLog()),
    installations: {
      async fetchInstallation() {
        const row = rows.length > 1 ? rows.shift() : rows[0];
        if (row instanceof Error) throw row;
        return row;
      },
    } as unknown as InstallationStore,
    async fetch() {
      asked += 1;
      return Response.json(code === undefined ? { ok: true } : { ok: false, error: code });
    },
  });
  return { access, asked: () => asked };
}

test.each<[string, object, string | undefined, unknown, number]>([
  ['has the app', installed, undefined, true, 1],
  ['has no row', gone, undefined, false, 0],
  ['has a row without a token of the bot', { team: { id: 'T1' } }, undefined, false, 0],
  ['took the app out', installed, 'account_inactive', false, 1],
  ['is not known of, since Slack does not say', installed, 'internal_error', 'failed', 1],
  ['is not known of, since the database is away', away, undefined, 'failed', 0],
])('a workspace that %s', async (_, row, code, expected, questions) => {
  const { access, asked } = open(row, code === undefined ? {} : { code });
  expect(await access.isInstalled(place).catch(() => 'failed')).toBe(expected);
  expect(asked()).toBe(questions);
});

test.each<[string, object, string[], RegExp | undefined]>([
  ['any workspace that has the app', installed, [], undefined],
  ['a listed workspace', installed, ['T9', 'T1'], undefined],
  ['a workspace of a listed organization', installed, ['E1'], undefined],
  ['a workspace that is not listed, also where it has the app', installed, ['T9'], /ALLOWED_WORKSPACES/u],
  ['a workspace that is not listed and has none', gone, ['T9'], /ALLOWED_WORKSPACES/u],
  ['a listed workspace that has none', gone, ['T1'], /install link/u],
  ['a workspace whose row cannot be read', away, [], /the database is away/u],
])('the token for %s', async (_, row, allowed, refusal) => {
  const told = await open(row, { allowed })
    .access.token(place)
    .then(
      (token) => token.reveal(),
      ({ message, hint = '' }: Error & { hint?: string }) => `${message} ${hint}`,
    );
  expect(told).toMatch(refusal ?? /^xoxb-1$/u);
});

const lost = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });

test.each<[string, object[], string]>([
  ['known, while the database cannot be reached', [installed, lost], 'xoxb-1'],
  ['not known after a removal', [installed, gone, lost], 'none'],
  ['not known of another failure', [installed, away], 'none'],
  ['not known at the start', [lost], 'none'],
])('the token of the last reading is %s', async (_, rows, expected) => {
  const { access } = open(rows);
  const read = () =>
    access.token(place).then(
      (token) => token.reveal(),
      () => 'none',
    );
  for (let before = 1; before < rows.length; before += 1) await read();
  expect(await read()).toBe(expected);
  // Of another workspace nothing was read.
  expect(await access.token({ teamId: 'T2' }).catch(() => 'none')).toBe('none');
});

test.each([
  [{ data: { error: 'invalid_auth' } }, 'invalid_auth'],
  [{ data: { error: 'ratelimited' } }, 'ratelimited'],
  [{ code: 'slack_webapi_rate_limited_error', retryAfter: 30 }, 'ratelimited'],
  [{ data: { error: 'internal_error' } }, 'internal_error'],
  [{ cause: { code: 'ECONNREFUSED' } }, 'slack.test'],
  [new Error('odd'), 'slack.test'],
])('a start that Slack refuses with %j says what to do', (error, named) => {
  const told = explainRefusedToken('SLACK_BOT_TOKEN', 'Copy it again.', {
    error,
    apiUrl: 'https://slack.test/api/',
  });
  expect(told.message).toContain(named);
  expect([told.hint === 'Copy it again.', told.hint === '']).toEqual([named === 'invalid_auth', false]);
});

const start = (answer: object) =>
  createInstallationAccess({
    installing: { kind: 'single', botToken: new Secret('xoxb-1') },
    apiUrl: 'https://slack.test/api/',
    logger: createLibraryLog(createMemoryLog()),
    installations: {} as InstallationStore,
    fetch: async () => Response.json(answer),
  });

test('the only token is verified at the start, which tells of whom it is', async () => {
  const access = start({ ok: true, team_id: 'T1', enterprise_id: 'E1' });
  expect(access.own()).toBeUndefined();
  await access.verify();
  expect(access.own()).toEqual({ teamId: 'T1', enterpriseId: 'E1' });
  const refused = start({ ok: false, error: 'invalid_auth' });
  await expect(refused.verify()).rejects.toThrow('SLACK_BOT_TOKEN');
});
