import { expect, test } from 'vitest';
import { connect, disconnect, useBot } from '../../support/bot.ts';
import { openSettings } from '../../support/settings.ts';
import { readStable } from '../../support/words.ts';
import { alice, bob, offers, ops, says } from '../words.ts';

const bot = await useBot();
const inbox = bot.slack.as(alice, `D${alice}`);

test('a press in the Home tab is answered privately: a list as a direct message, a form in the form', async () => {
  await inbox.openHome();
  await inbox.waitForHome(offers('connect:forget'));
  // Nothing was asked yet: the zones are read once, and the tab says so meanwhile.
  await inbox.waitForHome(({ reads }) => reads.includes('zones as of'));
  expect(JSON.stringify(bot.slack.calls)).toContain(says.reading);
  await inbox.press('help:run:0');
  await inbox.waitForMessage(/\(of 25\)/u);
  await inbox.press('help:run:2');
  await inbox.waitForModal('zones:submit');
  const { Id: id, Name: name } = bot.cdn.data.zones[3] ?? {};
  await inbox.suggest('zones:pick', String(name));
  await inbox.choose('zones:pick', String(id));
  await inbox.submit();
  const shown = await inbox.waitForModal(new RegExp(`${name}[^]*this month`, 'i'));
  expect(shown.reads).toContain(String(name));
  while (inbox.modal()) await inbox.closeModal();
});

test('a press in the Home tab that takes long is shown there until it is answered', async () => {
  await inbox.openHome();
  await inbox.waitForHome(offers('connect:forget'));
  const slow = Promise.withResolvers<void>();
  bot.cdn.faults.add({ times: Infinity, until: slow.promise });
  await inbox.press('help:run:0');
  await inbox.waitForHome(({ reads }) => reads.includes(says.working));
  slow.resolve();
  bot.cdn.faults.clear();
  await inbox.waitForMessage(/\(of 25\)/u);
  const home = await inbox.waitForHome(({ reads }) => !reads.includes(says.working));
  expect(offers('connect:forget')(home)).toBe(true);
});

test('the Home tab is drawn again by whatever changes it, for the one who did it', async () => {
  const person = bot.slack.as(alice, ops);
  await disconnect(person);
  await person.openHome();
  await person.waitForHome(offers('connect:open'));
  await connect(bot, alice, ops);
  const home = await person.waitForHome(offers('connect:forget'));
  const fingerprint = /Fingerprint (\w+)/.exec(home.reads)?.[1] ?? '';
  expect(readStable(home, { fingerprint })).toMatchSnapshot('with a key');

  await openSettings(person, 'operators');
  await person.choose('operators', [alice]);
  await person.submit();
  await person.waitForModal('settings:done');
  while (person.modal()) await person.closeModal();
  const more = await person.waitForHome(({ blocks }) => JSON.stringify(blocks).includes(' export"'));
  expect(readStable(more, { fingerprint })).toMatchSnapshot('of an operator');

  await person.press('connect:forget');
  await person.waitForHome(offers('connect:open'));
  expect(bot.slack.as(bob, ops).home()).toBeUndefined();

  // Where the tab cannot be drawn, nobody is told of it who did not ask for it.
  bot.slack.script.fail('views.publish', 'not_enabled', 1);
  const before = person.messages().length;
  await connect(bot, alice, ops);
  await bot.app.stop();
  expect(bot.logs.join('')).toMatch(/"kind":"home","feature":"home","outcome":"failed"/);
  expect(person.messages()).toHaveLength(before);
});
