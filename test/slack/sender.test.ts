import { expect, test } from 'vitest';
import { personInput } from '../../src/commands/steps.ts';
import { readSender, readShownName, storeEnds } from '../../src/slack/sender.ts';

const person = { teamId: 'T0ACME000', userId: 'U0ALICE00' };

test.each([
  ['a command', { user_name: 'alice', team_domain: 'acme' }, '@alice in acme.slack.com'],
  [
    'a press',
    { user: { username: 'alice', name: 'Alice' }, team: { domain: 'acme' } },
    '@alice in acme.slack.com',
  ],
  [
    'a press with a name only',
    { user: { name: 'alice' }, team: { domain: 'acme' } },
    '@alice in acme.slack.com',
  ],
  ['a press in an organization', { user: { username: 'alice' }, team: null }, '@alice in T0ACME000'],
  ['nothing readable', { user_name: 7, team_domain: '', user: 'x' }, 'U0ALICE00 in T0ACME000'],
  ['no delivery at all', undefined, 'U0ALICE00 in T0ACME000'],
])('the page names somebody by what came with %s', (_, body, name) => {
  expect(readShownName(body, person)).toBe(name);
});

const acme = 'T0ACME000';
const own = { teamId: acme, enterpriseId: undefined };
const press = (user: object, more: object = {}) => ({
  team: { id: acme },
  user: { id: 'U1', ...user },
  ...more,
});
const grid = { enterprise: { id: 'E1' }, is_enterprise_install: true };

test.each([
  ['a press of somebody at home', press({ team_id: acme }), undefined, false],
  ['a press of somebody of another workspace', press({ team_id: 'T0RIVAL00' }), undefined, true],
  ['a command, which says no home', { team_id: acme, user_id: 'U1' }, own, undefined],
  ['a command from a workspace that is not the only one', { team_id: 'T9', user_id: 'U1' }, own, true],
  [
    'a command from elsewhere in the organization of the only one',
    { team_id: 'T9', enterprise_id: 'E1', user_id: 'U1' },
    { teamId: acme, enterpriseId: 'E1' },
    undefined,
  ],
  ['a press where the whole organization has the app', press({ team_id: 'T9' }, grid), undefined, undefined],
])('%s says so much of whose person it is', (_, body, only, foreign) => {
  expect(readSender(body, only)).toMatchObject({ person: { userId: 'U1' }, foreign });
});

test.each([
  ['the person who runs it', personInput.type, 'U1'],
  ['nobody where its author may fill in the person', 'slack#/types/user_id', undefined],
])('a step of a workflow is from %s', (_, type, userId) => {
  const inputs = { [personInput.name]: { id: 'U1', secret: 'vouched' } };
  const called = { input_parameters: [{ name: personInput.name, type }] };
  const event = { type: 'function_executed', function: called, inputs };
  expect(readSender({ team_id: acme, event })?.person.userId).toBe(userId);
});

const corp = {
  authorizations: [{ team_id: null, enterprise_id: 'E1', is_enterprise_install: true }],
  team_id: 'T1',
  enterprise_id: 'E1',
};
const gone = (user: object) => ({ type: 'user_change', user: { id: 'U1', deleted: true, ...user } });

/** What an event ends, and whose profile is read again. */
async function findEnds(event: object, body: object = { team_id: acme }) {
  const seen: unknown[] = [];
  await storeEnds(
    { event_id: 'Ev1', event_time: 1, event, ...body },
    {
      store: async (_, ends) => void seen.push(...ends.map(({ teamId, cause }) => [teamId, cause])),
      changed: (_, userId) => void seen.push(userId),
    },
  );
  return seen;
}

test.each([
  ['an uninstallation', { type: 'app_uninstalled' }, undefined, [[acme, 'app-uninstalled']]],
  [
    'a token of the bot withdrawn',
    { type: 'tokens_revoked', tokens: { bot: ['U0'] } },
    undefined,
    [[acme, 'tokens-revoked']],
  ],
  ['a token of a person withdrawn', { type: 'tokens_revoked', tokens: { oauth: ['U0'] } }, undefined, []],
  [
    'a workspace taken out of an organization',
    { type: 'team_access_revoked', team_ids: ['T2'] },
    corp,
    [['T2', 'team-access-revoked']],
  ],
  ['a person of this workspace', gone({ team_id: acme }), undefined, ['U1', [acme, 'user-deleted']]],
  ['a person without a workspace', gone({}), undefined, ['U1', [acme, 'user-deleted']]],
  [
    'a person whose organization has this workspace',
    gone({ team_id: 'T9', enterprise_user: { teams: [acme] } }),
    undefined,
    ['U1', [acme, 'user-deleted']],
  ],
  [
    'a person of this organization',
    gone({ enterprise_user: { enterprise_id: 'E1' } }),
    corp,
    ['U1', ['T1', 'user-deleted']],
  ],
  ['a person whose profile changed', gone({ deleted: false }), undefined, ['U1']],
  ['a stranger with the same id', gone({ team_id: acme, is_stranger: true }), undefined, []],
  ['somebody of another workspace', gone({ team_id: 'T0RIVAL00' }), undefined, []],
  ['somebody of another organization', gone({ enterprise_user: { enterprise_id: 'E2' } }), corp, []],
])('what ends with %s', async (_, event, body, ends) => {
  expect(await findEnds(event, body)).toEqual(ends);
});
