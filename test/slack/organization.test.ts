import { afterEach, expect, test } from 'vitest';
import { memberKey } from '../../simulator/slack/world.ts';
import { ask, connect, createPublicUrl, followMessages, install, useBot } from '../support/bot.ts';
import { openSettings } from '../support/settings.ts';
import { readStable } from '../support/words.ts';
import { offers, says } from './words.ts';

/* One installation for all workspaces of corp. Frank administers it from T0CORPONE, Grace works in T0CORPTWO. */

const [one, two, group] = ['T0CORPONE', 'T0CORPTWO', 'S0CORPOPS'];
const shared = 'C0CORPSHR';

const bot = await useBot({ transport: 'http', install: 'oauth', env: await createPublicUrl() }, []);
const { world } = bot.slack;
world.userGroups.push({
  id: group,
  teamId: one,
  handle: 'corp-ops',
  name: 'Corp Ops',
  users: ['U0GRACE00'],
});
world.channels.set(shared, {
  id: shared,
  name: 'corp-shared',
  kind: 'channel',
  teamId: one,
  members: new Set([
    memberKey(one, 'U0FRANK00'),
    memberKey(two, 'U0GRACE00'),
    memberKey('T0RIVAL00', 'U0EVE0000'),
  ]),
  botIsMember: true,
  archived: false,
  shared: true,
});
await install(bot, world.workspaces.corp.id);
const frank = bot.slack.as('U0FRANK00', 'C0CORPONE', one);
const grace = bot.slack.as('U0GRACE00', 'C0CORPTWO', two);
const eve = bot.slack.as('U0EVE0000', shared);
const heidi = bot.slack.as('U0GRACE00', shared, two);
afterEach(async () => {
  for (const person of [frank, grace]) while (person.modal()) await person.closeModal();
});

async function mention(person: typeof frank) {
  const { next } = followMessages(person);
  person.say('<@U0CORPBOT> whoami');
  return next((message) => message.bot);
}

test('a user group is stored with its workspace, by deliveries that carry no team', async () => {
  await openSettings(frank, 'operatorGroups');
  const options = await frank.suggest('operatorGroups', 'corp');
  expect(options.map(({ value }) => value)).toEqual([`${one}/${group}`]);
  await frank.choose('operatorGroups', [`${one}/${group}`]);
  const { errors } = await frank.submit({});
  expect(errors).toBeUndefined();
  expect(readStable(await frank.waitForModal('settings:done'))).toMatchSnapshot('saved');
});

test('its members have the role in every workspace of the organization', async () => {
  const why = await ask(grace, 'why export');
  // The role is there; what lacks is a key.
  expect(why.text).toMatch(/: no-key\.$/);
  expect((await ask(frank, 'why export')).text).toMatch(/: not-operator\.$/);
  const teams = bot.slack.calls.flatMap(({ method, args, ok }) =>
    method === 'usergroups.users.list' ? [[args['team_id'], ok]] : [],
  );
  expect(new Set(teams.map(String))).toEqual(new Set([`${one},true`]));
});

test('people of other organizations are refused, also by a command that names no home team', async () => {
  const said = new Set<string>();
  for (const words of ['help', 'whoami', 'why export']) said.add(readStable(await ask(eve, words)));
  expect([...said]).toHaveLength(1);
  const [refusal = ''] = said;
  expect(refusal).toMatchSnapshot('refused: another organization');
  // Where a form would open, too.
  expect(readStable(await ask(eve, 'settings'))).toBe(refusal);
  expect(eve.modal()).toBeUndefined();
});

test('people of another workspace of the organization are at home', async () => {
  expect((await ask(heidi, 'why zones')).text).toMatch(/: no-key\.$/);
});

test('where Slack does not say whose person it is, nothing is answered but that', async () => {
  const { world } = bot.slack;
  const ivan = { ...world.people.find(({ id }) => id === 'U0FRANK00'), id: 'U0IVAN000', name: 'ivan' };
  (world.people as unknown[]).push(ivan);
  world.channels.get(shared)?.members.add(memberKey(one, 'U0IVAN000'));
  bot.slack.script.rateLimit('users.info', 1);
  const person = bot.slack.as('U0IVAN000', shared, one);
  expect(readStable(await ask(person, 'whoami'))).toMatchInlineSnapshot(`
    ":warning: Slack can’t say right now who is an admin or in a user group, so this can’t be decided.
    Try again in a minute, or in a channel that no other organization reads. Slack’s reason is in the bot’s log.
    Reference <reference>"
  `);
  await expect
    .poll(async () => (await ask(person, 'why zones')).text, { timeout: 5_000, interval: 300 })
    .toMatch(/: no-key\.$/);
});

test('a mention is answered in every workspace of the organization, and refused to visitors', async () => {
  for (const person of [frank, grace, heidi]) {
    const answer = await mention(person);
    expect([answer.ephemeral, offers('connect:open')(answer) || offers('connect:forget')(answer)]).toEqual([
      true,
      true,
    ]);
  }
  expect((await mention(eve)).reads).toMatch(says.ownPeopleOnly);
});

test('a step of a workflow works in every workspace of the organization, and not for visitors', async () => {
  await connect(bot, 'U0FRANK00', 'C0CORPONE', bot.cdn.key, one);
  const end = async (by: string, teamId: string) =>
    (await bot.slack.step('zones_needing_attention', {}, { by, teamId })).ended();
  for (const teamId of [one, two])
    expect(await end('U0FRANK00', teamId)).toMatchObject({ outputs: { zones: 25 } });
  expect(await end('U0EVE0000', one)).toMatchObject({
    error: expect.stringMatching(says.ownPeopleOnly) as string,
  });
});
