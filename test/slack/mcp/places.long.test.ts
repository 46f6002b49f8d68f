import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Assistant } from '../../../simulator/slack/assistant.ts';
import { type Bot, connect, createPublicUrl, install, startBot } from '../../support/bot.ts';
import { saveSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';

const [alice, frank, grace] = ['U0ALICE00', 'U0FRANK00', 'U0GRACE00'];
let bot: Bot;
let origin: string;

beforeAll(async () => {
  const env = await createPublicUrl();
  origin = env.PUBLIC_URL;
  bot = await startBot({ transport: 'http', install: 'oauth', zones: 30, env });
  // Acme is a workspace of an organisation, too, and has installed the app by itself.
  Object.assign(bot.slack.workspaces.acme, { enterpriseId: 'E0ACMECO0' });
  for (const person of bot.slack.world.people)
    if (person.id === alice) Object.assign(person, { admin: true });
});
afterAll(() => bot.stop());

const channelIn = (teamId: string): string =>
  [...bot.slack.world.channels.values()].find((one) => one.teamId === teamId && one.kind === 'channel')?.id ??
  '';

/** Connects a key to an account with so many zones of its own, and lets the assistant read. */
async function prepare(user: string, team: string, zones: number): Promise<Assistant> {
  const key = `${team}-1111-2222-3333-444455556666`;
  const names = Array.from({ length: zones }, (_, nth) => `${team.toLowerCase()}-${nth}`);
  const own = names.flatMap((Name, nth) =>
    bot.cdn.data.zones.slice(nth, nth + 1).map((zone) => ({ ...zone, Name })),
  );
  bot.cdn.addAccount({ key, zones: own });
  await connect(bot, user, channelIn(team), key, team);
  await saveSettings(bot.slack.as(user, channelIn(team), team), { assistant: 'reading' });
  return bot.slack.assistant(user, { origin, teamId: team });
}

async function listZones(own: Assistant): Promise<string[]> {
  const { facts } = await own.call('list_zones', { limit: 50 });
  return (facts as { data: { zones: { name: string }[] } }).data.zones.map(({ name }) => name);
}

const refusalOf = async (own: Assistant) => {
  const { isError, text } = await own.call('list_zones');
  return { isError, text: readStable(text) };
};

test('people of two organisations and a workspace get their own zones, by the installation there is', async () => {
  const { acme, beta, corp } = bot.slack.workspaces;
  const [one = '', two = ''] = corp.workspaces.map(({ id }) => id);
  for (const { id } of [acme, corp]) await install(bot, id);
  const missing = bot.slack.assistant(alice, { origin, teamId: beta.id });
  expect(await refusalOf(missing)).toMatchSnapshot('no installation');
  await install(bot, beta.id);

  // The ids of a workspace and of its organisation stand in both calls: the installations tell them apart.
  const ofAcme = await prepare(alice, acme.id, 3);
  const ofCorp = await prepare(frank, one, 5);
  // Another human with the same id.
  const ofBeta = await prepare(alice, beta.id, 2);
  for (const [own, team, count] of [
    [ofAcme, acme.id, 3],
    [ofCorp, one, 5],
    [ofBeta, beta.id, 2],
  ] as const) {
    const names = await listZones(own);
    expect(names).toHaveLength(count);
    expect(names.every((name) => name.startsWith(team.toLowerCase()))).toBe(true);
    const others = await own.call('get_zone', { zone: team === acme.id ? `${one}-0` : `${acme.id}-0` });
    expect(others.isError).toBe(true);
  }
  const colleague = bot.slack.assistant(grace, { origin, teamId: two });
  expect(await refusalOf(colleague)).toMatchSnapshot('no key in the same organisation');
  await Promise.all([missing, ofAcme, ofCorp, ofBeta, colleague].map((own) => own.close()));
  expect(bot.slack.problems).toEqual([]);
});

test('a CDN that answers after 70 seconds: the call ends before, and the CDN sees the connection end', async () => {
  const before = bot.cdn.requests.length;
  bot.cdn.faults.add({ match: { path: /^\/pullzone/u }, times: Number.POSITIVE_INFINITY, delayMs: 70_000 });
  const own = bot.slack.assistant(alice, { origin, longestMs: 55_000 });
  const { isError, text, withoutAnswer } = await own.call('list_zones');
  expect({ isError, text: readStable(text), withoutAnswer }).toMatchSnapshot();
  const sent = bot.cdn.requests.slice(before);
  expect(sent.length).toBeGreaterThan(0);
  await expect.poll(() => sent.every(({ abandoned }) => abandoned)).toBe(true);
  // Nothing goes on reading behind the answer.
  expect(bot.cdn.requests).toHaveLength(before + sent.length);
  await own.close();
});
