import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, disconnect, followMessages, useBot } from '../../support/bot.ts';
import { readStable } from '../../support/words.ts';
import { alice, ops, says } from '../words.ts';

/** The pages of the whole list; the CDN's own search is asked for less. */
const wholeList = { path: /^\/pullzone$/, query: { perPage: '1000' } };

const bot = await useBot(
  {
    zones: 2_000,
    zoneMembers: 'few',
  },
  [],
);

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
  test('a menu says that it is being read, ids can be typed, and all are shown when it is there', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    bot.cdn.faults.add({ times: Number.POSITIVE_INFINITY, until: promise });
    await openForm('zone');
    expect(await Promise.all(['', 'shop', '4242424'].map((typed) => lines(typed)))).toEqual([
      [says.menu.reading],
      [says.menu.reading],
      [says.menu.useId('4242424'), says.menu.reading],
    ]);
    resolve();
    bot.cdn.faults.clear();
    const all = await linesWith('', says.menu.more('1,901'));
    expect(all).toHaveLength(100);
    expect(all.at(-1)).toBe(says.menu.more('1,901'));
  });

  test('a failing list shows the reason and the next step, is logged once, and is not repeated', async () => {
    bot.cdn.faults.add({ match: wholeList, times: Number.POSITIVE_INFINITY, status: 401 });
    await openForm('zone');
    const said = await linesWith('5', 'Reference');
    const asked = bot.cdn.requests.length;
    expect(said.map((line) => readStable(line))).toMatchSnapshot();
    expect(await lines('5')).toEqual(said);
    expect(bot.cdn.requests.length).toBe(asked);
    const reference = /Reference (\w+)/.exec(said.join())?.[1] ?? 'none';
    const logged = bot.logs.filter((line) => line.includes(reference));
    expect(logged.map((line) => JSON.parse(line) as object)).toContainEqual(
      expect.objectContaining({ code: 'key_refused', operation: 'List Pull Zones' }),
    );
  });
});

describe('once it is there', () => {
  test('hits come best first, and an id that no zone has is taken as it was typed', async () => {
    await openForm('zone');
    await linesWith('', says.menu.more('1,901'));
    const asked = bot.cdn.requests.length;
    expect((await lines('checkout'))[0]).toMatch(/^checkout/);
    expect((await lines('1004'))[0]).toBe('media · media.cdn.example.net = 1004');
    expect((await lines('https://media.example.com/a.jpg'))[0]).toBe('media · media.cdn.example.net = 1004');
    expect(await lines('nothing like it')).toEqual([says.menu.noZone]);
    const typed = [says.menu.useId('4242424'), says.menu.noZone];
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
      says.menu.useId('app9new00000009'),
      says.menu.noApp,
    ]);
  });

  test('a name that holds the person’s key, or is the zone’s own, is held back', async () => {
    const zone = bot.cdn.data.zones[7];
    const { Id: id, Name: name = '' } = zone ?? {};
    Object.assign(zone ?? {}, { Name: bot.cdn.key });
    await openForm('zone');
    const [held] = await linesWith(String(id), 'Held back');
    expect(held).not.toContain(bot.cdn.key);
    Object.assign(zone ?? {}, { Name: name });
    const person = bot.slack.as(alice, ops);
    await person.closeModal();
    const own = 'a1B2-very-much-a-secret-77';
    const other = bot.cdn.data.zones[8];
    Object.assign(other ?? {}, { Name: own, ZoneSecurityKey: own });
    const { next } = followMessages(person);
    await person.slash(`zone ${other?.Id}`);
    const told = await next(({ reads }) => /held back/iu.test(reads));
    Object.assign(other ?? {}, { Name: 'other' });
    const [, reference = 'none'] = /Reference (\w{8})/u.exec(told.reads) ?? [];
    const blocked = bot.logs.filter((line) => line.includes('blocked a secret on its way out'));
    expect(blocked.map((line) => (JSON.parse(line) as { sink: string; kinds: string[] }).kinds)).toEqual([
      ['cdn-key'],
      ['ZoneSecurityKey'],
    ]);
    expect(blocked[1]).toContain(reference);
  });

  test('it goes with the key', async () => {
    await openForm('zone');
    await linesWith('', says.menu.more('1,901'));
    await disconnect(bot.slack.as(alice, ops));
    const refused = await linesWith('media', 'note:2');
    expect(refused.map((line) => readStable(line))).toMatchSnapshot();
    const before = listReadings();
    // Somebody else's key sees what it sees; nothing is left of the list before.
    bot.cdn.data.zones = bot.cdn.data.zones.filter(({ Name }) => Name !== 'media');
    await bot.slack.as(alice, ops).closeModal();
    await connect(bot, alice, ops);
    await openForm('zone');
    await linesWith('', says.menu.more('1,900'));
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
  await lines('');
  await bot.cdn.received(({ query }) => query['perPage'] === '1000', before + 1);
  const logged = bot.logs.length;
  await bot.app.stop();
  // It was ended, not given up by its own patience, and that is no failure to tell of.
  expect(
    bot.logs.slice(logged).filter((line) => /CDN request failed|"level":(?:40|50|"warn"|"error")/.test(line)),
  ).toEqual([]);
});
