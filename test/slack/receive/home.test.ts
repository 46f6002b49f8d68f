import { expect, test } from 'vitest';
import { connect, startBot } from '../../support/bot.ts';

const alice = 'U0ALICE00';
const bob = 'U0BOB0000';
const ops = 'C0OPS0000';

test('the Home tab is drawn again by whatever changes it, for the one who did it', async () => {
  const bot = await startBot();
  const person = bot.slack.as(alice, ops);
  await person.openHome();
  await person.waitForHome(/no CDN key is connected[^]*Connect your key/);
  await connect(bot, alice, ops);
  const home = await person.waitForHome(/your CDN key is connected[^]*rights: read/);
  expect(home.reads).toMatch(/Look\nZones\nFind a zone[^]*Your key\nReplace key/);

  await person.slash('settings');
  await person.waitForModal(/Operators/);
  await person.choose('operators', [alice]);
  await person.submit();
  await person.waitForModal(/saved|changed/i);
  while (person.modal()) await person.closeModal();
  await person.waitForHome(/rights: read, export, change, destroy · operator/);

  await person.press('connect:forget');
  await person.waitForHome(/no CDN key is connected/);
  expect(bot.slack.as(bob, ops).home()).toBeUndefined();

  // Where the tab cannot be drawn, nobody is told of it who did not ask for it.
  bot.slack.script.fail('views.publish', 'not_enabled', 1);
  await connect(bot, alice, ops);
  await bot.app.stop();
  expect(bot.logs.join('')).toMatch(/"kind":"home","feature":"home","outcome":"failed"/);
  expect(person.messages().filter(({ reads }) => /wrong on our side/.test(reads))).toEqual([]);
  expect(bot.slack.problems).toEqual([]);
  await bot.stop();
});

test('a press in the Home tab is answered privately: a list as a direct message, a form in the form', async () => {
  const bot = await startBot();
  await connect(bot, alice, ops);
  const inbox = bot.slack.as(alice, `D${alice}`);
  await inbox.openHome();
  await inbox.waitForHome(/your CDN key is connected/);
  await inbox.press('help:run:0');
  await inbox.waitForMessage(/25 zones/);
  await inbox.press('help:run:1');
  await inbox.waitForModal(/Show a zone/);
  const { Id: id, Name: name } = bot.cdn.data.zones[3] ?? {};
  await inbox.suggest('zones:pick', String(name));
  await inbox.choose('zones:pick', String(id));
  await inbox.submit();
  await inbox.waitForModal(new RegExp(`${name}[^]*Hostnames`, 'i'));
  expect(bot.slack.problems).toEqual([]);
  await bot.stop();
});
