import { afterAll, expect, onTestFinished, test } from 'vitest';
import { buildApp } from '../../src/app/build-app.ts';
import { readConfig } from '../../src/app/config.ts';
import { saveSettings } from '../commands/exports/bot.ts';
import { connect, createPublicUrl, install, startBot } from '../support/bot.ts';
import { createMemoryLog } from '../support/engines.ts';
import { alice, offers, says } from './words.ts';

// The same user id in two workspaces is two people; U0ALICE00 is in both.
const acmeOps = 'C0OPS0000';

const env = await createPublicUrl();
const bot = await startBot({ transport: 'http', install: 'oauth', env });
afterAll(async () => {
  await bot.stop();
});

test('a command of a workspace without the app is refused first, also where it needs no right', async () => {
  const person = bot.slack.as(alice, acmeOps);
  await person.slash('connect');
  // A response_url needs no token, so even this person hears something.
  await person.waitForMessage(says.notInstalled);
  expect(person.messages().some(offers('connect:open'))).toBe(false);
});

test('each workspace is answered with its own token, also when they interleave', async () => {
  const { acme, beta } = bot.slack.workspaces;
  for (const { id } of [acme, beta]) expect((await install(bot, id)).status).toBe(200);
  const inAcme = bot.slack.as(alice, acmeOps, acme.id);
  const inBeta = bot.slack.as(alice, channelIn(beta.id), beta.id);
  // Drawing the Home tab needs the token of the workspace it is in.
  const findPublished = () => bot.slack.calls.filter(({ method, ok }) => method === 'views.publish' && ok);
  for (let round = 1; round <= 5; round += 1) {
    await Promise.all([inAcme.openHome(), inBeta.openHome()]);
    await expect.poll(() => findPublished().length).toBe(2 * round);
  }
  for (const { id } of [acme, beta])
    expect(findPublished().filter(({ teamId }) => teamId === id)).toHaveLength(5);
});

test('a key linked in one workspace is not used in another with the same user id', async () => {
  const { beta } = bot.slack.workspaces;
  await connect(bot, alice, acmeOps);
  const inBeta = bot.slack.as(alice, channelIn(beta.id), beta.id);
  await inBeta.slash('zones');
  await inBeta.waitForMessage(/not connected/i);
});

test('uninstalling destroys the token and every key of that workspace', async () => {
  const { acme } = bot.slack.workspaces;
  await bot.slack.event({ type: 'app_uninstalled' }, { teamId: acme.id });
  // The event is stored, and worked off after its acknowledgement.
  await expect.poll(() => bot.logs.join(''), { timeout: 5_000 }).toContain('access ended');
  const person = bot.slack.as(alice, acmeOps);
  const before = person.messages().length;
  await person.slash('zones');
  await person.waitForMessage(
    (message) => says.notInstalled.test(message.reads) && person.messages().length > before,
  );
});

test('behind a proxy with a path, only listed workspaces and organizations install', async () => {
  const { PORT, PUBLIC_URL } = await createPublicUrl();
  const listed = await startBot({
    transport: 'http',
    install: 'oauth',
    env: { PORT, PUBLIC_URL: `${PUBLIC_URL}/bot/`, ALLOWED_WORKSPACES: 'T0ACME000,E0CORP0000' },
  });
  try {
    const { acme, beta, corp } = listed.slack.workspaces;
    const installThere = async (team: string): Promise<number> => {
      const page = await fetch(`${PUBLIC_URL}/slack/install`);
      const cookie = page.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
      const link =
        /href="([^"]+authorize[^"]*)"/.exec(await page.text())?.[1]?.replaceAll('&amp;', '&') ?? '';
      expect(new URL(link).searchParams.get('redirect_uri')).toBe(`${PUBLIC_URL}/bot/slack/oauth_redirect`);
      const allowed = await fetch(`${link}&team=${team}`, { redirect: 'manual' });
      // As the proxy passes it on.
      const back = (allowed.headers.get('location') ?? '').replace('/bot/', '/');
      return (await fetch(back, { headers: { cookie } })).status;
    };
    const countRevoked = () => listed.slack.calls.filter(({ method }) => method === 'auth.revoke').length;
    expect(await installThere(acme.id)).toBe(200);
    expect(await installThere(corp.id)).toBe(200);
    expect(countRevoked()).toBe(0);
    // The revocation fails: Slack goes on delivering.
    listed.slack.script.fail('auth.revoke', 'internal_error');
    expect(await installThere(beta.id)).toBeGreaterThanOrEqual(400);
    expect(countRevoked()).toBe(1);
    const inBeta = listed.slack.as(alice, channelIn(beta.id), beta.id);
    await inBeta.slash('connect');
    await inBeta.waitForMessage(says.notAllowed);
  } finally {
    await listed.stop();
  }
});

test('a job of a workspace that is no longer listed sends nothing to the CDN', async () => {
  const env = await createPublicUrl();
  // Its jobs are left to others.
  const first = await startBot({ transport: 'http', install: 'oauth', role: 'web', env });
  onTestFinished(() => first.stop());
  const { acme } = first.slack.workspaces;
  await install(first, acme.id);
  await connect(first, alice, acmeOps, first.cdn.key, acme.id);
  await saveSettings(first.slack, { operators: [alice] });
  const person = first.slack.as(alice, acmeOps, acme.id);
  const [script] = first.cdn.data.scripts;
  await person.slash(`variable ${script?.Id} ${script?.variables[0]?.Id}`);
  await person.waitForModal('variables:submit');
  await person.submit({ required: 'true' });
  await first.app.stop();

  const before = first.cdn.requests.length;
  const log = createMemoryLog();
  const config = readConfig({ ...first.env, ALLOWED_WORKSPACES: 'T0OTHER00' });
  const second = await buildApp({ config, log });
  onTestFinished(() => second.stop());
  await second.start();
  await expect.poll(() => JSON.stringify(log.entries)).toMatch(/"job":"operation-run"/);
  expect(first.cdn.requests.slice(before)).toEqual([]);
});

function channelIn(teamId: string): string {
  const channels = [...bot.slack.world.channels.values()];
  return channels.find((channel) => channel.teamId === teamId && channel.kind === 'channel')?.id ?? '';
}
