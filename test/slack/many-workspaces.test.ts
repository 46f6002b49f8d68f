import { expect, test } from 'vitest';
import {
  ask,
  type Bot,
  connect,
  createPublicUrl,
  install,
  requestConnectLink,
  startBot,
  useBot,
} from '../support/bot.ts';
import { fetchPage, submitKey } from '../support/page-client.ts';
import { saveSettings } from '../support/settings.ts';
import { readStable } from '../support/words.ts';
import { alice, bob, offers, ops, says } from './words.ts';

// The same user id in two workspaces is two people; U0ALICE00 is in both.
const betaOps = 'C0BETAOPS';

const env = await createPublicUrl();
const bot = await useBot({ transport: 'http', install: 'oauth', zones: 3, env }, []);
const { acme, beta, corp } = bot.slack.workspaces;
const inAcme = bot.slack.as(alice, ops, acme.id);
const inBeta = bot.slack.as(alice, betaOps, beta.id);
const bobInAcme = bot.slack.as(bob, ops, acme.id);

const hasKey = async (person: ReturnType<Bot['slack']['as']>): Promise<boolean> =>
  offers('connect:forget')(await ask(person, 'whoami'));

test('a command of a workspace without the app is refused first, also where it needs no right', async () => {
  await inAcme.slash('connect');
  // A response_url needs no token, so even this person hears something.
  await inAcme.waitForMessage(says.notInstalled);
  expect(inAcme.messages().some(offers('connect:open'))).toBe(false);
});

/** Drawing the Home tab needs the token of the workspace it is in. */
const findPublished = () => bot.slack.calls.filter(({ method, ok }) => method === 'views.publish' && ok);

test('each workspace is answered with its own token, also when they interleave', async () => {
  for (const { id } of [acme, beta]) expect((await install(bot, id)).status).toBe(200);
  for (let round = 1; round <= 5; round += 1) {
    await Promise.all([inAcme.openHome(), inBeta.openHome()]);
    await expect.poll(() => findPublished().length).toBe(2 * round);
  }
  for (const { id } of [acme, beta])
    expect(findPublished().filter(({ teamId }) => teamId === id)).toHaveLength(5);
});

test('a link and a key of one workspace are useless in another with the same user id', async () => {
  const [here, there] = await Promise.all([requestConnectLink(inAcme), requestConnectLink(inBeta)]);
  expect((await fetchPage(there)).text).toContain(says.keyFor('alice', 'beta'));
  expect((await submitKey(here, bot.cdn.key)).status).toBe(200);
  expect([await hasKey(inAcme), await hasKey(inBeta)]).toEqual([true, false]);
  expect(await ask(inBeta, 'zones')).toSatisfy(offers('connect:open'));
  expect((await fetchPage(there)).status).toBe(200);
  expect((await fetchPage(here)).text).toContain(says.page.used);
});

test('settings of one workspace hold there only', async () => {
  await Promise.all([connect(bot, alice, betaOps, bot.cdn.key, beta.id), connect(bot, bob, ops)]);
  // The namesake is no admin over there.
  await inBeta.slash('settings');
  await Promise.all([
    saveSettings(inAcme, { operators: [alice] }),
    inBeta.waitForModal(offers('why settings')),
  ]);
  await Promise.all([inAcme.closeModal(), inBeta.closeModal()]);
  const answers = new Set<string>();
  for (let round = 0; round < 3; round += 1) {
    const [here, there] = await Promise.all([ask(inAcme, 'why export'), ask(inBeta, 'why export')]);
    answers.add(`${readStable(here)}\n\nin the other workspace:\n\n${readStable(there)}`);
  }
  expect([...answers]).toMatchSnapshot();
});

test('uninstalling destroys the token, every key and every link of that workspace', async () => {
  const link = await requestConnectLink(bobInAcme);
  await bot.slack.event({ type: 'app_uninstalled' }, { teamId: acme.id });
  await expect.poll(async () => (await fetchPage(link)).status).toBe(404);
  await expect.poll(async () => (await ask(bobInAcme, 'zones')).reads).toMatch(says.notInstalled);
  expect(await hasKey(inBeta)).toBe(true);
});

test('in an organization-wide installation a key entered on the page serves all its workspaces', async () => {
  await install(bot, corp.id);
  const person = [...bot.slack.world.people].find(({ teamId }) => teamId === corp.workspaces[0]?.id);
  const somewhere = bot.slack.as(person?.id ?? '', undefined, person?.teamId);
  const url = await requestConnectLink(somewhere);
  expect((await fetchPage(url)).text).toContain('in corp-one.slack.com');
  expect((await submitKey(url, bot.cdn.key)).status).toBe(200);
  await somewhere.waitForMessage(offers('connect:forget'));
  expect(await hasKey(somewhere)).toBe(true);
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
    const inBeta = listed.slack.as(alice, betaOps, beta.id);
    await inBeta.slash('connect');
    await inBeta.waitForMessage(says.notAllowed);
  } finally {
    await listed.stop();
  }
});
