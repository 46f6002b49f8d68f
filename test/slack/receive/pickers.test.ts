import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Bot, connect, startBot } from '../../support/bot.ts';

const alice = 'U0ALICE00';
const ops = 'C0OPS0000';

/** The pages of the whole list; the CDN's own search is asked for less. */
const wholeList = { path: /^\/pullzone$/, query: { perPage: '1000' } };
const stillReading = 'Your zones are still being read: type another letter = note';

let bot: Bot;
let ahead = 0;
beforeAll(async () => {
  bot = await startBot({
    zones: 10_000,
    zoneMembers: 'few',
    now: () => new Date(Date.now() + ahead),
  });
});
afterAll(() => bot.stop());

// A key that is linked anew: nothing is known and nothing is being read.
beforeEach(() => connect(bot, alice, ops));
afterEach(async () => {
  bot.cdn.faults.clear();
  const person = bot.slack.as(alice, ops);
  while (person.modal()) await person.closeModal();
});

async function openForm(word: 'zone' | 'app'): Promise<void> {
  const person = bot.slack.as(alice, ops);
  await person.slash(word);
  await person.waitForModal(`${word}s:submit`);
}

async function lines(typed: string, menu = 'zones:pick'): Promise<string[]> {
  const options = await bot.slack.as(alice, ops).suggest(menu, typed);
  return options.map(({ text, value }) => `${(text as { text: string }).text} = ${String(value)}`);
}

/** Asks until the menu says something, as somebody does who goes on typing. */
async function linesWith(typed: string, words: string, menu?: string): Promise<string[]> {
  for (let tries = 0; tries < 20; tries += 1) {
    const found = await lines(typed, menu);
    if (found.some((line) => line.includes(words))) return found;
  }
  throw new Error(`no line with ${words}`);
}

const listReadings = (): number => bot.cdn.requests.filter(({ query }) => query['perPage'] === '1000').length;

describe('while the whole list is not there', () => {
  test('opening the form begins to read it, before anybody searches', async () => {
    const before = listReadings();
    await openForm('app');
    await bot.cdn.received(({ query }) => query['perPage'] === '1000', before + 1);
    expect(await linesWith('', ' = app', 'apps:pick')).not.toContain(stillReading);
  });

  test('the CDN’s own search answers meanwhile, and says that there is more to come', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    bot.cdn.faults.add({ match: wholeList, times: Number.POSITIVE_INFINITY, until: promise });
    await openForm('zone');
    const some = await lines('');
    expect(some).toHaveLength(26);
    expect(some.at(-1)).toBe('… the rest is still being read: keep typing = note');
    const media = await lines('Media');
    expect(media[0]).toBe('media · media.cdn.example.net = 1004');
    resolve();
    const all = await linesWith('', 'more: keep typing');
    expect(all).toHaveLength(100);
    expect(all.at(-1)).toBe('… and 9,901 more: keep typing = note');
  });

  test('a CDN that does not answer at all is no reason to wait, and ids can be typed', async () => {
    bot.cdn.faults.add({ times: Number.POSITIVE_INFINITY, delayMs: Number.POSITIVE_INFINITY });
    await openForm('zone');
    expect(await lines('shop')).toEqual([stillReading]);
    expect(await lines('4242424')).toEqual(['Use the id 4242424 = 4242424', stillReading]);
    await bot.slack.as(alice, ops).slash('disconnect');
    await bot.slack.as(alice, ops).waitForMessage(/disconnected|forgotten|deleted|gone/i);
  });

  test('a failing list shows the reason and the next step, is logged once, and is not repeated', async () => {
    bot.cdn.faults.add({ match: wholeList, times: Number.POSITIVE_INFINITY, status: 401 });
    await openForm('zone');
    const said = await linesWith('5', 'The CDN refused your key.');
    const asked = bot.cdn.requests.length;
    expect(said.slice(0, 4)).toEqual([
      'Use the id 5 = 5',
      'The CDN refused your key. = note',
      'It was deleted or replaced there, or lacks this right. = note:2',
      'Connect the current one. = note:3',
    ]);
    expect(said.slice(-2)).toEqual([
      expect.stringMatching(/^Type \/cdn connect = note/),
      expect.stringMatching(/^Reference \w+ = note/),
    ]);
    expect(await lines('5')).toEqual(said);
    expect(bot.cdn.requests.length).toBe(asked);
    const reference = /Reference (\w+)/.exec(said.join())?.[1] ?? 'none';
    const logged = bot.logs.filter((line) => line.includes(reference));
    expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ code: 'key_refused', operation: 'List Pull Zones' }),
    ]);
  });
});

describe('once it is there', () => {
  test('hits come best first, and an id that no zone has is taken as it was typed', async () => {
    await openForm('zone');
    await linesWith('', 'more: keep typing');
    const asked = bot.cdn.requests.length;
    expect((await lines('checkout'))[0]).toMatch(/^checkout/);
    expect((await lines('1004'))[0]).toBe('media · media.cdn.example.net = 1004');
    expect((await lines('https://media.example.com/a.jpg'))[0]).toBe('media · media.cdn.example.net = 1004');
    expect(await lines('nothing like it')).toEqual(['None of your zones matches = note']);
    const typed = ['Use the id 4242424 = 4242424', 'None of your zones matches = note'];
    expect(await lines(' #4242424 ')).toEqual(typed);
    expect(bot.cdn.requests.length).toBe(asked);
    const person = bot.slack.as(alice, ops);
    await person.choose('zones:pick', '4242424');
    await person.submit();
    await person.waitForMessage(/no zone.*4242424/i);
  });

  test('apps are searched by id and by zone, and any id can be typed', async () => {
    await openForm('app');
    const [app = ''] = await linesWith('', ' = app', 'apps:pick');
    const [id = ''] = app.split(' = ');
    expect(await lines(id.toUpperCase(), 'apps:pick')).toEqual([app]);
    expect(await lines('app9new00000009', 'apps:pick')).toEqual([
      'Use the id app9new00000009 = app9new00000009',
      'No app of your zones matches = note',
    ]);
  });

  test('shortly before it is old it is read again in the background, and the old one answers meanwhile', async () => {
    await openForm('zone');
    await linesWith('', 'more: keep typing');
    const { promise, resolve } = Promise.withResolvers<void>();
    bot.cdn.faults.add({ match: wholeList, until: promise });
    const [first, ...others] = bot.cdn.data.zones;
    if (!first) throw new Error('there are zones');
    bot.cdn.data.zones = [{ ...first, Name: 'renamed-meanwhile' }, ...others];
    const before = listReadings();
    ahead += 3.9 * 60_000;
    expect(await lines('renamed-meanwhile')).toEqual(['None of your zones matches = note']);
    expect(listReadings()).toBe(before);
    ahead += 0.2 * 60_000;
    expect(await lines('renamed-meanwhile')).toEqual(['None of your zones matches = note']);
    await bot.cdn.received(({ query }) => query['perPage'] === '1000', before + 1);
    expect(await lines('renamed-meanwhile')).toEqual(['None of your zones matches = note']);
    resolve();
    await linesWith('renamed-meanwhile', `= ${first.Id}`);
    expect(listReadings()).toBe(before + 10);
  });

  test('it goes with the key', async () => {
    await openForm('zone');
    await linesWith('', 'more: keep typing');
    await bot.slack.as(alice, ops).slash('disconnect');
    const refused = await linesWith('media', 'You have not connected a CDN key yet.');
    expect(refused.every((line) => / = note(?::\d)?$/.test(line))).toBe(true);
    const before = listReadings();
    // Somebody else's key sees what it sees; nothing is left of the list before.
    bot.cdn.data.zones = bot.cdn.data.zones.filter(({ Name }) => Name !== 'media');
    await bot.slack.as(alice, ops).closeModal();
    await connect(bot, alice, ops);
    await openForm('zone');
    await linesWith('', 'more: keep typing');
    expect((await lines('media')).filter((line) => line.startsWith('media ·'))).toEqual([]);
    expect(listReadings()).toBeGreaterThan(before);
  });
});

test('a stop does not wait for background reads', async () => {
  bot.cdn.faults.add({
    match: wholeList,
    times: Number.POSITIVE_INFINITY,
    delayMs: Number.POSITIVE_INFINITY,
  });
  const before = listReadings();
  await openForm('zone');
  await bot.cdn.received(({ query }) => query['perPage'] === '1000', before + 1);
  const logged = bot.logs.length;
  await bot.app.stop();
  // It was ended, not given up by its own patience, and that is no failure to tell of.
  expect(
    bot.logs.slice(logged).filter((line) => /CDN request failed|"level":(?:40|50|"warn"|"error")/.test(line)),
  ).toEqual([]);
  expect(bot.slack.problems).toEqual([]);
});
