import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ask,
  type Bot,
  connect,
  createPublicUrl,
  findConnectLink,
  install,
  requestConnectLink,
  startBot,
} from '../../support/bot.ts';
import { fetchPage, parseForm, submitForm, submitKey } from '../../support/page-client.ts';
import { readStable } from '../../support/words.ts';
import { alice, bob, offers, ops, says } from '../words.ts';

const keysAt = 'https://panel.example/keys';

describe('with an address of its own, the bot', () => {
  let bot: Bot;
  beforeAll(async () => {
    bot = await startBot({ zones: 25, env: { ...(await createPublicUrl()), PANEL_URL_KEYS: keysAt } });
  });
  afterAll(() => bot.stop());

  test('answers the command with a private link, and no form opens', async () => {
    const person = bot.slack.as(alice, ops);
    const url = await requestConnectLink(person);
    expect(url).toMatch(new RegExp(`^${bot.env['PUBLIC_URL']}/connect/[\\w-]{22}[\\da-f]{12}$`));
    const offer = person.messages().at(-1);
    expect(offer).toMatchObject({ ephemeral: true });
    expect(readStable(offer)).toMatchSnapshot();
    // A notification shows the text: the link is not in it.
    expect(offer?.text).not.toContain('/connect/');
    expect(person.modal()).toBeUndefined();
    expect(bot.slack.as(bob, ops).messages().some(findConnectLink)).toBe(false);
    const { text, html } = await fetchPage(url);
    expect(text).toContain(says.keyFor('alice', 'acme'));
    expect(html).toContain(`<a href="${keysAt}"`);
  });

  test('has the key from the page, says so in a direct message, and forgets it when that was not them', async () => {
    const person = bot.slack.as(alice, ops);
    const done = await submitKey(await requestConnectLink(person), bot.cdn.key);
    expect(done.text).toContain('sees 25 zones.');
    const inbox = bot.slack.as(alice, `D${alice}`);
    const told = await inbox.waitForMessage(offers('connect:forget'));
    expect(told.reads).toContain('25 zones');
    expect(told.reads).toContain(/Fingerprint (\w+)/.exec(done.text)?.[1] ?? 'none');
    await person.slash('zones');
    await person.waitForMessage(/25 zones.*this month/);

    const open = await requestConnectLink(person);
    await inbox.press('connect:forget');
    await inbox.waitForMessage(/Disconnected/);
    // Nor does a link that was still open bring one back.
    expect((await fetchPage(open)).text).toContain(says.page.takenBack);
    expect(await ask(person, 'zones')).toSatisfy(offers('connect:open'));
  });

  test('sends every button for connecting to the page: a refused key, whoami, Home', async () => {
    const person = bot.slack.as(bob, ops);
    await connect(bot, bob, ops);
    bot.cdn.faults.add({ status: 401, times: 5 });
    expect(await ask(person, 'zones')).toSatisfy(offers('connect:open'));
    bot.cdn.faults.clear();
    const older = bot.slack.as(bob).messages().map(findConnectLink);
    const links = new Set<string>();
    const pressConnect = async (): Promise<void> => {
      const known = links.size;
      await person.press('connect:open');
      const offer = await bot.slack.as(bob).waitForMessage((message) => {
        const link = findConnectLink(message);
        return link !== undefined && !links.has(link) && !older.includes(link);
      });
      links.add(findConnectLink(offer) ?? '');
      expect(links.size).toBe(known + 1);
    };
    await pressConnect();
    expect(await ask(person, 'whoami')).toSatisfy(offers('connect:forget'));
    await pressConnect();
    await person.openHome();
    await person.waitForHome(offers('connect:forget'));
    await pressConnect();
    expect(person.modal()).toBeUndefined();
    for (const link of links) expect((await fetchPage(link)).text).toContain(says.keyFor('bob', 'acme'));
  });

  test('is not asked for anything by a press of the link itself, which Slack delivers too', async () => {
    const person = bot.slack.as(alice, ops);
    await requestConnectLink(person);
    const before = person.messages().length;
    expect(await person.press('connect:link')).toMatchObject({ status: 200 });
    await ask(person, 'whoami');
    expect(person.messages()).toHaveLength(before + 1);
  });
});

describe('with many workspaces', () => {
  let bot: Bot;
  beforeAll(async () => {
    bot = await startBot({ transport: 'http', install: 'oauth', env: await createPublicUrl() });
  });
  afterAll(() => bot.stop());

  test('a link of one workspace is useless in another, and ends with the installation', async () => {
    const { acme, beta } = bot.slack.workspaces;
    const betaChannel = [...bot.slack.world.channels.values()].find(
      ({ teamId, kind }) => teamId === beta.id && kind === 'channel',
    );
    for (const { id } of [acme, beta]) await install(bot, id);
    const inAcme = bot.slack.as(alice, ops, acme.id);
    const inBeta = bot.slack.as(alice, betaChannel?.id, beta.id);
    const [here, there] = await Promise.all([requestConnectLink(inAcme), requestConnectLink(inBeta)]);
    expect((await fetchPage(there)).text).toContain(says.keyFor('alice', 'beta'));
    expect((await submitKey(here, bot.cdn.key)).status).toBe(200);
    expect(await ask(inBeta, 'whoami')).toSatisfy(offers('connect:open'));
    expect(await ask(inAcme, 'whoami')).toSatisfy(offers('connect:forget'));
    expect((await fetchPage(there)).status).toBe(200);
    await bot.slack.event({ type: 'app_uninstalled' }, { teamId: beta.id });
    // The event is acknowledged before its work: the page is asked until the link is gone, which it must be.
    await expect.poll(async () => (await fetchPage(there)).status).toBe(404);
    expect((await fetchPage(here)).text).toContain(says.page.used);
  });

  test('in an organization-wide installation a key entered on the page serves all its workspaces', async () => {
    const { corp } = bot.slack.workspaces;
    await install(bot, corp.id);
    const person = [...bot.slack.world.people].find(({ teamId }) => teamId === corp.workspaces[0]?.id);
    const id = person?.id ?? '';
    const somewhere = bot.slack.as(id, undefined, person?.teamId);
    const url = await requestConnectLink(somewhere);
    expect((await fetchPage(url)).text).toContain('in corp-one.slack.com');
    expect((await submitKey(url, bot.cdn.key)).status).toBe(200);
    await somewhere.waitForMessage(offers('connect:forget'));
    expect(await ask(somewhere, 'whoami')).toSatisfy(offers('connect:forget'));
  });
});

test('a stop lets a key that is being checked come to its end', async () => {
  const bot = await startBot({ env: await createPublicUrl() });
  const url = await requestConnectLink(bot.slack.as(alice, ops));
  const { action, fields } = parseForm(await fetchPage(url), url);
  bot.cdn.faults.add({ delayMs: 500 });
  const sending = submitForm(action, { ...fields, accessKey: bot.cdn.key });
  await expect.poll(() => bot.cdn.requests.length).toBe(1);
  const stopping = bot.stop();
  // Whoever waits still gets an answer.
  expect((await sending).status).toBe(200);
  await stopping;
});
