import { LogLevel, WebClient } from '@slack/web-api';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlackSimulator, startSlack } from '../../simulator/slack/server.ts';
import type { Installation, People, Profile } from '../../src/auth/identity.ts';
import { findOtherAdmins, RolesUnknown } from '../../src/auth/policy/authorizer.ts';
import { createPeople, type PeopleOf } from '../../src/slack/people.ts';
import { createMemoryLog } from '../support/engines.ts';

const acme: Installation = { teamId: 'T0ACME000' };
const beta: Installation = { teamId: 'T0BETA000' };

let slack: SlackSimulator;
let now: number;
let log: ReturnType<typeof createMemoryLog>;
beforeEach(async () => {
  now = Date.UTC(2026, 10, 21);
  slack = await startSlack({ now: () => now });
  log = createMemoryLog();
});
afterEach(async () => {
  await slack.close();
});

const peopleOf = (place: Installation, adminIds?: readonly string[]): People =>
  createPeopleOf(adminIds)(place);

/** The people of a process, each call for one click. */
function createPeopleOf(adminIds: readonly string[] = []): PeopleOf {
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
  });
}

const countCalls = (method: string): number => slack.calls.filter((call) => call.method === method).length;

/** For each call of a method, the calls in the minute that ends with it. */
function countPerMinute(method: string): number[] {
  const moments = slack.calls.filter((call) => call.method === method).map(({ at }) => at);
  return moments.map((last) => moments.filter((at) => at > last - 60_000 && at <= last).length);
}

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

test.each([
  [45, 1],
  [120, 2],
  [390, 4],
])('the last of %i people is found to be an admin, at the latest in attempt %i', async (count, most) => {
  const { people } = slack.world;
  const [bob] = people.filter(({ id }) => id === 'U0BOB0000');
  const ids = Array.from({ length: count }, (_, nth) => `U0P${nth}`);
  for (const id of ids)
    (people as unknown as object[]).push({ ...bob, id, admin: id === ids.at(-1), name: id, realName: id });
  const createOf = createPeopleOf();
  let found: readonly string[] = [];
  for (let attempt = 1; attempt <= most && found.length === 0; attempt += 1) {
    found = await findOtherAdmins(createOf(acme), ids, 'U0ALICE00').catch((error: unknown) => {
      if (error instanceof RolesUnknown) return [];
      throw error;
    });
    now += 61_000;
  }
  expect(found).toEqual([ids.at(-1)]);
});

test('equal ids in two workspaces are two people', async () => {
  expect((await peopleOf(acme).profile('U0ALICE00'))?.admin).toBe(true);
  expect((await peopleOf(beta).profile('U0ALICE00'))?.admin).toBe(false);
});

test('a guest of another organization is foreign', async () => {
  const people = peopleOf(acme);
  expect(await people.profile('U0EVE0000')).toMatchObject({ foreign: true, admin: false });
  expect(people.missingScopes()).toEqual([]);
});

test.each(['user_not_found', 'users_not_found', 'user_not_visible', 'user_disabled'])(
  'somebody of whom Slack says %s is no member',
  async (code) => {
    slack.script.fail('users.info', code, 1);
    const people = peopleOf(acme);
    expect(await people.profile('U0ALICE00')).toMatchObject({ foreign: true, admin: false });
    expect(people.missingScopes()).toEqual([]);
  },
);

const corp: Installation = { teamId: 'T0CORPONE', enterpriseId: 'E0CORP0000' };
const inCorp = { enterprise_id: 'E0CORP0000', teams: ['T0CORPONE'] };

test.each<[string, Installation, object, Partial<Profile>]>([
  ['an owner', acme, { team_id: acme.teamId, is_owner: true }, { admin: true, foreign: false }],
  [
    'the primary owner',
    acme,
    { team_id: acme.teamId, is_primary_owner: true },
    { admin: true, foreign: false },
  ],
  ['somebody without a workspace', acme, {}, { admin: false, foreign: false }],
  [
    'a member of a workspace in an organization',
    acme,
    { team_id: acme.teamId, enterprise_user: inCorp },
    { admin: false, foreign: false },
  ],
  [
    'a deactivated admin',
    acme,
    { team_id: acme.teamId, is_admin: true, deleted: true },
    { admin: false, foreign: false },
  ],
  [
    'a bot',
    acme,
    { team_id: acme.teamId, is_admin: true, is_bot: true },
    { admin: false, foreign: false, bot: true },
  ],
  [
    'a stranger',
    acme,
    { team_id: acme.teamId, is_admin: true, is_stranger: true },
    { admin: false, foreign: true },
  ],
  [
    'an admin who is at home in several workspaces',
    acme,
    { team_id: 'T9', is_admin: true, enterprise_user: { teams: [acme.teamId] } },
    { admin: true, foreign: false },
  ],
  [
    'an admin of one workspace of an organization',
    corp,
    { team_id: corp.teamId, is_admin: true, enterprise_user: inCorp },
    { admin: false, foreign: false },
  ],
  [
    'an admin of the organization',
    corp,
    { team_id: 'T9', enterprise_user: { ...inCorp, is_admin: true } },
    { admin: true, foreign: false },
  ],
  [
    'an admin of another organization',
    corp,
    { team_id: corp.teamId, enterprise_user: { enterprise_id: 'E9', is_admin: true } },
    { admin: false, foreign: true },
  ],
])('%s has the roles that Slack names', async (_, place, user, roles) => {
  const client = { users: { info: async () => ({ user }) } } as unknown as WebClient;
  const people = createPeople({ adminIds: [], now: () => new Date(now), log, client: async () => client });
  expect(await people(place).profile('U1')).toMatchObject(roles);
});

test('groups are those that were not disabled', async () => {
  const usergroups = [
    { id: 'S1', name: 'Ops', handle: 'ops' },
    { id: 'S2', date_delete: 1 },
  ];
  const client = { usergroups: { list: async () => ({ usergroups }) } } as unknown as WebClient;
  const people = createPeople({ adminIds: [], now: () => new Date(now), log, client: async () => client });
  expect(await people(acme).groups()).toEqual([{ id: 'S1', name: 'Ops', handle: 'ops' }]);
});

test('once a minute’s fresh reads are spent, what was read is a minute old at most', async () => {
  const peopleNow = createPeopleOf();
  for (let n = 0; n < 60; n += 1) await peopleNow(acme).profile('U0ALICE00', { fresh: true });
  const spent = countCalls('users.info');
  now += 59_000;
  await peopleNow(acme).profile('U0BOB0000', { fresh: true });
  await peopleNow(acme).profile('U0ALICE00', { fresh: true });
  now += 1_000;
  await peopleNow(acme).profile('U0ALICE00', { fresh: true });
  expect([spent, countCalls('users.info')]).toEqual([50, 52]);
});

test('what is older than a minute is read again although all fresh reads are spent', async () => {
  const peopleNow = createPeopleOf();
  const read = (id: string) => peopleNow(acme).profile(id, { fresh: true });
  await read('U0BOB0000');
  now += 30_000;
  for (let n = 0; n < 49; n += 1) await read('U0ALICE00');
  now += 31_000;
  await read('U0ALICE00');
  await read('U0BOB0000');
  expect(countCalls('users.info')).toBe(52);
  await read('U0BOB0000');
  expect(countCalls('users.info')).toBe(52);
});

test('group members are cached for three minutes, and read once by each click that changes something', async () => {
  const peopleNow = createPeopleOf();
  const click = (): People => peopleNow(acme);
  expect(await click().members('S0OPERATE')).toEqual(['U0BOB0000']);
  await click().members('S0OPERATE');
  expect(countCalls('usergroups.users.list')).toBe(1);
  const one = click();
  for (let n = 0; n < 3; n += 1) await one.members('S0OPERATE', { fresh: true });
  expect(countCalls('usergroups.users.list')).toBe(2);
  await click().members('S0OPERATE', { fresh: true });
  expect(countCalls('usergroups.users.list')).toBe(3);
  expect(await one.members('S0DELETED')).toEqual([]);
  expect(one.missingScopes()).toEqual([]);
});

test('a hundred clicks a minute stay inside the tier of each method, whatever they ask for', async () => {
  const peopleNow = createPeopleOf();
  const click = (): People => peopleNow(acme);
  for (let n = 0; n < 150; n += 1) {
    now += 600;
    const one = click();
    for (const group of ['S0OPERATE', 'S0APPROVE'])
      expect(await one.members(group, { fresh: true })).toHaveLength(1);
    for (const id of ['U0ALICE00', 'U0BOB0000', 'U0CAROL00'])
      expect((await one.profile(id, { fresh: true }))?.unread).toBeUndefined();
  }
  for (const [method, most] of [
    ['usergroups.users.list', 20],
    ['users.info', 100],
  ] as const)
    expect(Math.max(...countPerMinute(method))).toBeLessThanOrEqual(most);
});

test.each(['missing_scope', 'plan_upgrade_required', 'unknown_method', 'paid_teams_only', 'user_is_bot'])(
  'with %s from Slack everyone is non-admin; it is logged once and retried soon',
  async (error) => {
    slack.script.fail('users.info', error, 1);
    slack.script.fail('usergroups.users.list', error, 2);
    const people = peopleOf(acme);
    expect(await people.profile('U0ALICE00')).toBeUndefined();
    expect(await people.members('S0OPERATE')).toEqual([]);
    expect(await people.members('S0APPROVE')).toEqual([]);
    expect(people.missingScopes()).toEqual([
      { lookup: 'admins', reason: error, lasting: true },
      { lookup: 'groups', reason: error, lasting: true },
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

test.each<[string, () => void]>([
  ['ratelimited', () => slack.script.fail('*', 'ratelimited', 2)],
  ['internal_error', () => slack.script.fail('*', 'internal_error', 2)],
  ['access_denied', () => slack.script.fail('*', 'access_denied', 2)],
  ['503', () => slack.script.fail('*', 'service_unavailable', 2, 503)],
  [
    'a broken connection',
    () => ['users.info', 'usergroups.users.list'].forEach((one) => slack.script.drop(one)),
  ],
])('%s says nothing of a person or a group: they are unread, and asked for again', async (_, fail) => {
  fail();
  const peopleNow = createPeopleOf();
  const people = peopleNow(acme);
  expect(await people.profile('U0ALICE00')).toMatchObject({ unread: true, admin: false });
  expect(await people.members('S0OPERATE')).toBeUndefined();
  expect(people.missingScopes()).toMatchObject([
    { lookup: 'admins', lasting: false },
    { lookup: 'groups', lasting: false },
  ]);
  expect(await people.members('S0OPERATE')).toBeUndefined();
  expect(await peopleNow(acme).members('S0OPERATE', { fresh: true })).toEqual(['U0BOB0000']);
  now += 5_000;
  expect((await people.profile('U0ALICE00'))?.admin).toBe(true);
  expect(people.missingScopes()).toEqual([]);
});

test('after a 429 not even a fresh read asks before Slack’s pause is over', async () => {
  const peopleNow = createPeopleOf();
  slack.script.rateLimit('usergroups.users.list', 40);
  expect(await peopleNow(acme).members('S0OPERATE', { fresh: true })).toBeUndefined();
  now += 39_000;
  expect(await peopleNow(acme).members('S0OPERATE', { fresh: true })).toBeUndefined();
  expect(countCalls('usergroups.users.list')).toBe(1);
  now += 1_000;
  expect(await peopleNow(acme).members('S0OPERATE', { fresh: true })).toEqual(['U0BOB0000']);
});

test('configured admins count everywhere, or in the named workspace only', () => {
  const ids = ['U0BOB0000', 'T0BETA000/U0ALICE00', 'E0CORP0000/U0FRANK00', `${corp.teamId}/U0GRACE00`];
  expect(peopleOf(acme, ids).configuredAdmins).toEqual(['U0BOB0000']);
  expect(peopleOf(beta, ids).configuredAdmins).toEqual(['U0BOB0000', 'U0ALICE00']);
  expect(peopleOf(corp, ids).configuredAdmins).toEqual(['U0BOB0000', 'U0FRANK00', 'U0GRACE00']);
});

test('a failed list of groups is not requested again by each of a thousand commands', async () => {
  slack.script.fail('usergroups.list', 'missing_scope', 10);
  const people = peopleOf(acme);
  for (let n = 0; n < 1000; n += 1) expect(await people.groups()).toEqual([]);
  now += 29_999;
  expect(await people.groups()).toEqual([]);
  expect(countCalls('usergroups.list')).toBe(1);
});

test('a person of whom Slack says nothing in time is unread', async () => {
  const people = createPeople({
    adminIds: [],
    now: () => new Date(now),
    log,
    client: () => new Promise<WebClient>(() => undefined),
  });
  expect(await people(acme).profile('U0ALICE00')).toMatchObject({ unread: true });
});
