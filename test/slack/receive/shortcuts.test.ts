import { expect, test } from 'vitest';
import { useBot } from '../../support/bot.ts';
import { buttons } from '../../support/command-harness.ts';
import { readStable } from '../../support/words.ts';
import { alice, bob, offers, ops } from '../words.ts';

/** Where the bot is not a member. */
const random = 'C0RANDOM0';

const bot = await useBot();

const hostOf = (nth: number): string => bot.cdn.data.zones[nth]?.Hostnames?.[0]?.Value ?? '';
const nameOf = (nth: number): string => bot.cdn.data.zones[nth]?.Name ?? '';

test('the message shortcut looks up the link in a private modal', async () => {
  const { ts } = bot.slack.as(bob, random).say(`broken: <https://${hostOf(0)}/images/a.jpg?token=abc|look>`);
  const person = bot.slack.as(alice, random);
  const exchange = await person.shortcut('origin-errors:link', { ts });
  expect(exchange.status).toBe(200);
  const modal = await person.waitForModal(/origin errors? .* in/i);
  expect(modal.reads).toContain(nameOf(0));
  expect(modal.reads).not.toContain('token=abc');
  expect(
    bot.slack
      .as(bob, random)
      .messages()
      .map((message) => message.reads),
  ).toHaveLength(1);

  const [id, value] = buttons(modal).get('Yesterday') ?? [];
  await person.choose('menu:select:0', `${id} ${value}`);
  await person.waitForModal(/yesterday.* in/);
  // What the report leads to comes on top of it, and closing that leads back.
  const [showId, zoneId] = buttons(modal).get('The zone') ?? [];
  await person.choose('menu:more', `${showId} ${zoneId}`);
  await person.waitForModal(new RegExp(`${nameOf(0)}[^]*this month`, 'i'));
  expect(person.modals()).toHaveLength(2);
  await person.closeModal();
  expect(person.modal()?.reads).toMatch(/yesterday.* in/);
  await person.closeModal();
});

test('several links: one is chosen, and there is a way back to the others', async () => {
  const { ts } = bot.slack.as(bob, ops).say(`<https://${hostOf(2)}/a> or <https://${hostOf(3)}/b>`);
  const person = bot.slack.as(alice, ops);
  await person.shortcut('origin-errors:link', { ts });
  await person.waitForModal(/links to 2 hosts/);
  await person.press('help:run:1');
  await person.waitForModal(new RegExp(`24 hours in ${nameOf(3)}`));
  await person.closeModal();
  expect(person.modal()?.reads).toMatch(/links to 2 hosts/);
  await person.closeModal();
});

test('no link: it says so, and what to type', async () => {
  const { ts } = bot.slack.as(bob, ops).say('everything is broken');
  const person = bot.slack.as(alice, ops);
  await person.shortcut('origin-errors:link', { ts });
  expect(readStable(await person.waitForModal(/no link/))).toMatchSnapshot();
  await person.closeModal();
});

test('a link of an unknown host offers the nearest zones', async () => {
  const { ts } = bot.slack.as(bob, ops).say('<https://www.example.org/>');
  const person = bot.slack.as(alice, ops);
  await person.shortcut('origin-errors:link', { ts });
  const modal = await person.waitForModal(offers('help:run:8'));
  expect(modal.reads).toContain('www.example.org');
  await person.closeModal();
});

test.each([
  ['ratelimited', 429],
  ['internal_error', 200],
  ['team_access_not_granted', 200],
  ['view_too_large', 200],
  ['cut', 503],
])('what Slack does not take in a modal (%s) comes as a message', async (code, status) => {
  const person = bot.slack.as(alice, `D${alice}`);
  const refuse = (): void =>
    status === 429
      ? bot.slack.script.rateLimit('views.update', 1, 9)
      : bot.slack.script.fail('views.update', code, 9, status);
  await person.shortcut('zones:find');
  await person.waitForModal('zones:submit');
  await person.suggest('zones:pick', nameOf(5));
  await person.choose('zones:pick', String(bot.cdn.data.zones[5]?.Id));
  refuse();
  const seen = new Set(person.messages().map(({ ts }) => ts));
  const isNew = ({ ts }: { readonly ts: string }): boolean => !seen.has(ts);
  await person.submit();
  const answer = await person.waitForMessage(isNew);
  expect(answer.reads).toMatch(new RegExp(`${nameOf(5)}[^]*this month`, 'i'));
  await person.closeModal();
  seen.add(answer.ts);
  // A form that could not be filled.
  await person.shortcut('home:menu');
  expect((await person.waitForMessage(isNew)).reads).toMatch(/Reference/);
  await person.closeModal();
  bot.slack.script.clear();
});

test('without a key the modal shows the refusal and the button to connect one', async () => {
  const { ts } = bot.slack.as(alice, ops).say(`<https://${hostOf(0)}/>`);
  const person = bot.slack.as(bob, ops);
  await person.shortcut('origin-errors:link', { ts });
  await person.waitForModal(offers('connect:open'));
  await person.closeModal();
  await person.shortcut('zones:find');
  await person.waitForModal(offers('connect:open'));
  await person.closeModal();
});

test('“CDN menu” offers the allowed commands; the answer opens on top', async () => {
  const person = bot.slack.as(alice, ops);
  await person.shortcut('home:menu');
  const menu = await person.waitForModal(offers('zones'));
  expect(menu.reads).not.toMatch(/Disconnect/);
  await person.press('help:run:0');
  await person.waitForModal(/need attention/);
  await person.choose('menu:more', 'zones:page:off zones only:off');
  await person.waitForModal(/or suspended/);
  await person.closeModal();
  await person.press('help:run:2');
  await person.waitForModal('zones:submit');
  await person.suggest('zones:pick', nameOf(6));
  await person.choose('zones:pick', String(bot.cdn.data.zones[6]?.Id));
  await person.submit();
  await person.waitForModal(new RegExp(`${nameOf(6)}[^]*this month`, 'i'));
  expect(person.modals()).toHaveLength(2);
  await person.closeModal();
  await person.closeModal();

  const without = bot.slack.as(bob, ops);
  await without.shortcut('home:menu');
  const fewer = await without.waitForModal(offers('connect:open'));
  expect(fewer.reads).not.toMatch(/Zones|Settings/);
  await without.closeModal();
});
