import { afterAll, expect, test } from 'vitest';
import { buildApp } from '../../../src/app/build-app.ts';
import { readConfig } from '../../../src/app/config.ts';
import { ask, connect, createPublicUrl, install, requestConnectLink, startBot } from '../../support/bot.ts';
import { createMemoryLog } from '../../support/engines.ts';
import { fetchPage } from '../../support/page-client.ts';
import { saveSettings } from '../../support/settings.ts';
import { alice, ops, says } from '../words.ts';

// A workspace that was listed: its keys, links and messages are still there when it is listed no more.

const env = await createPublicUrl();
// Its jobs are left to the later one.
const bot = await startBot({ transport: 'http', install: 'oauth', role: 'web', env });
const { acme } = bot.slack.workspaces;
await install(bot, acme.id);
await connect(bot, alice, ops, bot.cdn.key, acme.id);
const person = bot.slack.as(alice, ops, acme.id);
await ask(person, 'zones');
await ask(person, 'help');
const link = await requestConnectLink(person);
await saveSettings(person, { operators: [alice] });
const [script] = bot.cdn.data.scripts;
await person.slash(`variable ${script?.Id} ${script?.variables[0]?.Id}`);
await person.waitForModal('variables:submit');
await person.submit({ required: 'true' });
while (person.modal()) await person.closeModal();
await person.slash('digest new');
await person.waitForModal('digests:submit');
await bot.app.stop();
const asked = bot.cdn.requests.length;
const log = createMemoryLog();
const config = readConfig({ ...bot.env, ALLOWED_WORKSPACES: 'T0OTHER00' });
const later = await buildApp({ config, log });
await later.start();
afterAll(async () => {
  await later.stop();
  await bot.stop();
});

test('a job of a workspace that is no longer listed sends nothing to the CDN', async () => {
  await expect.poll(() => JSON.stringify(log.entries)).toMatch(/"job":"operation-run"/);
  expect(bot.cdn.requests.slice(asked)).toEqual([]);
});

const lastButton = (words: RegExp): string => {
  const all = JSON.stringify(person.messages().map(({ blocks }) => blocks));
  return words.exec(all)?.[0] ?? '';
};

test.each([
  ['a command', () => person.slash('zones')],
  ['a command that needs no right', () => person.slash('help')],
  ['a command that opens a form', () => person.slash('alert new')],
  ['a press', () => person.press(lastButton(/help:run[^"]*/u))],
  ['a menu', () => person.suggest('target', 'a')],
  ['a form', () => person.submit({})],
  ['a mention', () => person.say(`<@${bot.slack.workspaces.acme.botUserId}> zones`)],
  ['a shortcut', () => person.shortcut('home:menu')],
  ['a direct message', () => bot.slack.as(alice, `D${alice}`).say('zones')],
  ['a step', () => bot.slack.step('zones_needing_attention', {}, { by: alice })],
  ['the Home tab', () => person.openHome()],
])('%s of a workspace that is no longer listed gives nothing', async (_, knock) => {
  const [calls, requests] = [bot.slack.calls.length, bot.cdn.requests.length];
  const delivered = countDeliveries();
  await knock();
  await expect.poll(countDeliveries).toBe(delivered + 1);
  const given = bot.slack.calls.slice(calls);
  expect(given.filter(({ args }) => !says.notAllowed.test(JSON.stringify(args)))).toEqual([]);
  expect(bot.cdn.requests.slice(requests)).toEqual([]);
});

test('its pages and tools give nothing', async () => {
  const page = await fetchPage(link);
  expect(page.status).toBeGreaterThanOrEqual(400);
  expect(page.text).not.toContain('accessKey');
  const own = bot.slack.assistant(alice, { origin: bot.env['PUBLIC_URL'] ?? '' });
  const { isError } = await own.call('list_zones');
  await own.close();
  expect(isError).toBe(true);
});

function countDeliveries(): number {
  return log.entries.filter(({ message }) => message === 'delivery done').length;
}
