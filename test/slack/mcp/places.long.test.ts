import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bot, connect, createPublicUrl, install, startBot } from '../../support/bot.ts';
import { saveSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';

const [alice, frank, grace] = ['U0ALICE00', 'U0FRANK00', 'U0GRACE00'];
let bot: Bot;
let origin: string;

beforeAll(async () => {
  const env = await createPublicUrl();
  origin = env.PUBLIC_URL;
  bot = await startBot({ transport: 'http', install: 'oauth', zones: 12, env });
  const { acme, corp } = bot.slack.workspaces;
  for (const { id } of [acme, corp]) await install(bot, id);
});
afterAll(() => bot.stop());

const channelIn = (teamId: string): string =>
  [...bot.slack.world.channels.values()].find((one) => one.teamId === teamId && one.kind === 'channel')?.id ??
  '';

test('each person of two organisations gets their own, by the installation there is', async () => {
  const { acme, beta, corp } = bot.slack.workspaces;
  const [one, two] = corp.workspaces.map(({ id }) => id);
  const people = [
    { user: alice, team: acme.id },
    // An installation of the whole organisation: the call names the workspace, and the organisation beside it.
    { user: frank, team: one ?? '' },
  ];
  for (const { user, team } of people) {
    await connect(bot, user, channelIn(team), bot.cdn.key, team);
    const admin = bot.slack.as(user, channelIn(team), team);
    await saveSettings(admin, { assistant: 'reading' });
    const own = bot.slack.assistant(user, { origin, teamId: team });
    expect(await own.call('list_zones')).toMatchObject({ isError: false });
    await own.close();
  }
  // The same organisation without a key, and a workspace that has no installation.
  const others = [
    bot.slack.assistant(grace, { origin, teamId: two ?? '' }),
    bot.slack.assistant(alice, { origin, teamId: beta.id }),
  ];
  const told = await Promise.all(others.map((one) => one.call('list_zones')));
  expect(told.map(({ isError, text }) => ({ isError, text: readStable(text) }))).toMatchSnapshot();
  await Promise.all(others.map((one) => one.close()));
});

test('a CDN that does not answer ends the call before Slack gives up, and the reading with it', async () => {
  const own = bot.slack.assistant(alice, { origin });
  bot.cdn.faults.add({
    match: { path: /^\/pullzone/u },
    times: Number.POSITIVE_INFINITY,
    delayMs: Number.POSITIVE_INFINITY,
  });
  // The double ends a call after 60 seconds, as Slack does.
  const { isError, text } = await own.call('list_zones');
  expect({ isError, text: readStable(text) }).toMatchSnapshot();
  await own.close();
});
