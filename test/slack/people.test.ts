import { LogLevel, WebClient } from '@slack/web-api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import type { People } from '../../src/auth/identity.ts';
import { createPeople } from '../../src/slack/people.ts';
import type { Workspace } from '../../src/slack/sender.ts';
import { createMemoryLog } from '../support/engines.ts';

const acme: Workspace = { teamId: 'T0ACME000', enterpriseId: undefined, isEnterpriseInstall: false };
const beta: Workspace = { teamId: 'T0BETA000', enterpriseId: undefined, isEnterpriseInstall: false };

let slack: SlackSimulator;
let now: number;
let log: ReturnType<typeof createMemoryLog>;
beforeEach(async () => {
  slack = await startSlack();
  now = Date.UTC(2026, 10, 21);
  log = createMemoryLog();
});
afterEach(async () => {
  await slack.close();
});

function peopleOf(workspace: Workspace, adminIds: readonly string[] = []): People {
  return createPeople({
    adminIds,
    now: () => new Date(now),
    log,
    client: async ({ teamId }) =>
      new WebClient(
        teamId === 'T0BETA000' ? slack.workspaces.beta.botToken : slack.workspaces.acme.botToken,
        {
          slackApiUrl: `${slack.url}/api/`,
          logLevel: LogLevel.ERROR,
          retryConfig: { retries: 0 },
          rejectRateLimitedCalls: true,
        },
      ),
  })(workspace);
}

const countCalls = (method: string): number => slack.calls.filter((call) => call.method === method).length;

test('a workspace admin is one for five minutes, then Slack is asked again', async () => {
  const people = peopleOf(acme);
  const [first] = await Promise.all(Array.from({ length: 10 }, () => people.profile('U0ALICE00')));
  expect(first).toEqual({ admin: true, foreign: false, deleted: false, timeZone: expect.any(String) });
  expect(countCalls('users.info')).toBe(1);
  now += 5 * 60_000 - 1;
  await people.profile('U0ALICE00');
  expect(countCalls('users.info')).toBe(1);
  now += 1;
  await people.profile('U0ALICE00');
  expect(countCalls('users.info')).toBe(2);
});

test('equal ids in two workspaces are two people', async () => {
  expect((await peopleOf(acme).profile('U0ALICE00'))?.admin).toBe(true);
  expect((await peopleOf(beta).profile('U0ALICE00'))?.admin).toBe(false);
});

test('a guest of another organisation is foreign, and an unknown id has no profile', async () => {
  const people = peopleOf(acme);
  expect(await people.profile('U0EVE0000')).toMatchObject({ foreign: true, admin: false });
  expect(await people.profile('U0NOBODY0')).toBeUndefined();
  expect(people.missingScopes()).toEqual([]);
});

test('group members are cached for three minutes, and fresh before a change', async () => {
  const people = peopleOf(acme);
  expect(await people.members('S0OPERATE')).toEqual(['U0BOB0000']);
  await people.members('S0OPERATE');
  expect(countCalls('usergroups.users.list')).toBe(1);
  await people.members('S0OPERATE', { fresh: true });
  expect(countCalls('usergroups.users.list')).toBe(2);
  expect(await people.members('S0DELETED')).toEqual([]);
  expect(people.missingScopes()).toEqual([]);
});

test.each(['missing_scope', 'plan_upgrade_required', 'unknown_method', 'ratelimited', 'internal_error'])(
  'with %s from Slack everyone is non-admin; it is logged once and retried soon',
  async (error) => {
    slack.script.fail('users.info', error, 1);
    slack.script.fail('usergroups.users.list', error, 2);
    const people = peopleOf(acme);
    expect(await people.profile('U0ALICE00')).toBeUndefined();
    expect(await people.members('S0OPERATE')).toEqual([]);
    expect(await people.members('S0APPROVE')).toEqual([]);
    expect(people.missingScopes()).toEqual([
      { lookup: 'admins', reason: error },
      { lookup: 'groups', reason: error },
    ]);
    expect(log.entries.map(({ fields }) => fields)).toMatchObject([
      { lookup: 'admins' },
      { lookup: 'groups' },
    ]);
    await people.profile('U0ALICE00');
    expect(countCalls('users.info')).toBe(1);
    now += 30_000;
    expect((await people.profile('U0ALICE00'))?.admin).toBe(true);
    expect(await people.members('S0OPERATE')).toEqual(['U0BOB0000']);
    expect(people.missingScopes()).toEqual([]);
  },
);

test('a broken connection grants nothing', async () => {
  slack.script.drop('users.info');
  const people = peopleOf(acme);
  expect(await people.profile('U0ALICE00')).toBeUndefined();
  expect(people.missingScopes()).toEqual([{ lookup: 'admins', reason: 'no-answer' }]);
});

test('configured admins count everywhere, or in the named workspace only', () => {
  const ids = ['U0BOB0000', 'T0BETA000/U0ALICE00', 'E0CORP0000/U0FRANK00'];
  expect(peopleOf(acme, ids).configuredAdmins).toEqual(['U0BOB0000']);
  expect(peopleOf(beta, ids).configuredAdmins).toEqual(['U0BOB0000', 'U0ALICE00']);
  const corp: Workspace = { teamId: 'T0CORPONE', enterpriseId: 'E0CORP0000', isEnterpriseInstall: true };
  expect(peopleOf(corp, ids).configuredAdmins).toEqual(['U0BOB0000', 'U0FRANK00']);
});

test('a failed list of groups is not requested again by each of a thousand commands', async () => {
  slack.script.fail('usergroups.list', 'missing_scope', 10);
  const people = peopleOf(acme);
  for (let n = 0; n < 1000; n += 1) expect(await people.groups()).toEqual([]);
  expect(countCalls('usergroups.list')).toBe(1);
});
