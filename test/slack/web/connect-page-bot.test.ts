import { expect, test } from 'vitest';
import {
  ask,
  connect,
  createPublicUrl,
  findConnectLink,
  requestConnectLink,
  useBot,
} from '../../support/bot.ts';
import { fetchPage, parseForm, submitForm, submitKey } from '../../support/page-client.ts';
import { readStable } from '../../support/words.ts';
import { alice, bob, offers, ops, says } from '../words.ts';

const keysAt = 'https://panel.example/keys';

const bot = await useBot({ zones: 25, env: { ...(await createPublicUrl()), PANEL_URL_KEYS: keysAt } }, []);

test('with an address of its own, the bot answers the command with a private link, and no form opens', async () => {
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

test('the bot has the key from the page, says so in a direct message, and forgets it when that was not them', async () => {
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

test('the bot sends every button for connecting to the page: a refused key, whoami, Home', async () => {
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
    const link = findConnectLink(offer) ?? '';
    links.add(link);
    expect(links.size).toBe(known + 1);
    expect((await fetchPage(link)).text).toContain(says.keyFor('bob', 'acme'));
  };
  await pressConnect();
  expect(await ask(person, 'whoami')).toSatisfy(offers('connect:forget'));
  await pressConnect();
  await person.openHome();
  await person.waitForHome(offers('connect:forget'));
  await pressConnect();
  expect(person.modal()).toBeUndefined();
});

test('the bot is not asked for anything by a press of the link itself, which Slack delivers too', async () => {
  const person = bot.slack.as(alice, ops);
  await requestConnectLink(person);
  const before = person.messages().length;
  expect(await person.press('connect:link')).toMatchObject({ status: 200 });
  await ask(person, 'whoami');
  expect(person.messages()).toHaveLength(before + 1);
});

test('the bot lets a key that is being checked come to its end before it stops', async () => {
  const url = await requestConnectLink(bot.slack.as(alice, ops));
  const { action, fields } = parseForm(await fetchPage(url), url);
  bot.cdn.faults.add({ delayMs: 500 });
  const asked = bot.cdn.requests.length;
  const sending = submitForm(action, { ...fields, accessKey: bot.cdn.key });
  await expect.poll(() => bot.cdn.requests.length).toBe(asked + 1);
  const stopping = bot.app.stop();
  // Whoever waits still gets an answer.
  expect((await sending).status).toBe(200);
  await stopping;
});
