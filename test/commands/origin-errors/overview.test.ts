import { expect, test } from 'vitest';
import { type OriginErrorEntry } from '../../../simulator/cdn/model.ts';
import { zone } from '../../../simulator/cdn/zones.ts';
import { chooseZones, mostLogs, readOriginHost } from '../../../src/commands/origin-errors/choose-zones.ts';
import { listOriginErrors } from '../../../src/commands/tools/origin-errors.ts';
import { buttons, createCommandHarness, readRows, readText } from '../../support/command-harness.ts';
import { readStable } from '../../support/words.ts';
import { entry, readSentences } from './entries.ts';

const today = '2026-11-21';

/** Zones by name, the first with most bandwidth, with these entries of today. */
async function account(zones: Readonly<Record<string, OriginErrorEntry[]>>, count = 0) {
  const names = Object.keys(zones);
  const harness = await createCommandHarness({
    data: { zones: names.map((Name, nth) => zone({ Id: nth + 1, Name, MonthlyBandwidthUsed: 1000 - nth })) },
  });
  harness.cdn.data.originErrors.count = count;
  for (const [nth, entries] of Object.values(zones).entries())
    harness.cdn.data.originErrors.entries.set(`${nth + 1}/${today}`, entries);
  return harness;
}

const many = (number: number, over: Parameters<typeof entry>[0]) =>
  Array.from({ length: number }, () => entry(over));
const logRequests = (requests: readonly { path: string }[]) =>
  requests.filter(({ path }) => /\d{2}-\d{2}-\d{4}$/u.test(path)).length;

const four = () => ({
  shop: many(2, { at: `${today}T11:30:00Z` }),
  media: [...many(30, { at: `${today}T08:00:00Z` }), entry({ at: `${today}T11:40:00Z` })],
  docs: many(40, { at: `${today}T09:00:00Z`, code: 'http_timeout', status: 504 }),
  quiet: [],
});

test('without a zone the answer says which zones fail now, and leads to each of them', async () => {
  await using harness = await account(four());
  const person = harness.person();
  const [reading, answer, ...more] = await person.run('errors');
  expect(more).toEqual([]);
  expect(reading?.text).toMatchSnapshot('first');
  expect(readText(answer)).toMatchSnapshot('answer');

  const before = logRequests(harness.cdn.requests);
  const [media] = await person.pressIn(answer, 'media · 1 now');
  expect(media?.text).toMatch(/^31 .* in media,/u);
  const [back] = await person.pressIn(media, 'All zones');
  expect(readText(back)).toBe(readText(answer));
  // The way back reads nothing again.
  expect(logRequests(harness.cdn.requests)).toBe(before + 3);
  const [, again] = await person.pressIn(answer, 'Refresh');
  expect(readText(again)).toBe(readText(answer));
  expect(logRequests(harness.cdn.requests)).toBe(before + 3 + 8);
});

test.each(['errors all yesterday', 'errors 30m', 'errors code:http_timeout', 'errors in:BR'])(
  '%s says which zones failed, and how much of it',
  async (typed) => {
    await using harness = await account(four());
    const answer = (await harness.person().run(typed)).at(-1);
    expect(answer?.text).toMatchSnapshot();
    const [, filter = ''] = typed.split(':');
    const ways = [...buttons(answer)].filter(
      ([label]) => !['Without filters', 'Another zone', 'Alert on errors'].includes(label),
    );
    expect(ways.filter(([, [, value]]) => !value.includes(filter))).toEqual([]);
  },
);

test('just after midnight the last hour is that of yesterday, too', async () => {
  await using harness = await account({ shop: many(2, { at: `${today}T23:30:00Z` }), quiet: [] });
  harness.advance((12 * 60 + 10) * 60_000);
  const answer = (await harness.person().run('errors')).at(-1);
  expect(answer?.text).toMatchSnapshot();
  expect(readRows(answer)).toEqual([['shop (dns_lookup 502)', '2', '2', '21 Nov 23:30']]);
});

test('the busiest 25 of many zones are read, and it says first what it reads', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  let atOnce = 0;
  harness.cdn.data.originErrors.count = ({ id }) => {
    atOnce += 1;
    return id % 2;
  };
  const messages = await harness.person().run('errors yesterday');
  expect(messages.map(({ text }) => text.replaceAll(/\d+/gu, '#'))).toMatchSnapshot('on the way');
  expect(atOnce).toBe(25);
  expect(readText(messages.at(-1)).split('\n')[0]).toMatchSnapshot('not checked');
});

test('of many zones those in which alerts or digests found errors are read', async () => {
  await using harness = await createCommandHarness({ zones: 60 });
  harness.cdn.data.originErrors.count = ({ id }) => (id === 1055 ? 3 : 0);
  const person = harness.person();
  expect(readRows((await person.run('errors')).at(-1))).toEqual([]);
  Object.assign(person.context.accounts, { recentErrors: async () => new Map([['1055', 3]]) });
  harness.advance(10 * 60_000);
  expect(readRows((await person.run('errors')).at(-1))).toHaveLength(1);
});

test('a zone whose log cannot be read is named, and the others stay', async () => {
  await using harness = await account(four());
  harness.cdn.faults.add({ match: { path: /\/2\/11-21-2026$/u }, status: 500, times: 20 });
  const answer = (await harness.person().run('errors')).at(-1);
  expect(readStable(readSentences(answer))).toMatchSnapshot();
  expect(readRows(answer).map(([name = '']) => name.split(' ')[0])).toEqual(['shop', 'docs']);
});

test.each([
  ['a refused key', { status: 401 as const }, 'key_refused', /\d{2}-\d{4}$/u],
  ['a key that is refused at one zone of four', { status: 401 as const }, 'key_refused', /\/2\/11-21-2026$/u],
  ['a broken service', { status: 500 as const }, 'unavailable', /\d{2}-\d{4}$/u],
])('%s is told, not counted as no errors', async (_, fault, code, path) => {
  await using harness = await account(four());
  harness.cdn.faults.add({ match: { path }, times: 90, ...fault });
  await expect(harness.person().run('errors')).rejects.toMatchObject({ code });
});

test('any zone can be picked, and a line that is none is said to be none', async () => {
  await using harness = await account(four());
  const person = harness.person();
  const answer = (await person.run('errors 1h code:none_such')).at(-1);
  const row = answer?.blocks?.find(({ type }) => type === 'actions');
  const ids = row?.type === 'actions' ? row.elements.map(({ action_id: id = '' }) => id) : [];
  const pick = ids.find((id) => id.startsWith('origin-errors:pick')) ?? '';
  const [option = ''] = await person.search(pick, 'quiet');
  const id = option.split(' = ').at(-1);
  expect(pick).toBe('origin-errors:pick:1h code:none_such');
  const [quiet] = await person.run(`errors ${id} ${pick.split(':').slice(2).join(':')}`);
  expect(quiet?.text).toMatch(/ in quiet/u);
});

test('an account without zones is told so', async () => {
  await using harness = await account({});
  const [answer, ...more] = await harness.person().run('errors');
  expect(more).toEqual([]);
  expect(answer?.text).toMatchSnapshot();
});

test('errors at an unknown time are never none', async () => {
  await using harness = await account({ shop: many(3, { at: 'a while ago' }), quiet: [] });
  const answer = (await harness.person().run('errors')).at(-1);
  const [shop] = await harness.person().run('errors shop');
  expect([answer?.text, readRows(answer), shop?.text]).toMatchSnapshot();
});

const falselySure = /none in the last hour|at least (?:0|no )/iu;
const undated = (number: number) => many(number, { at: 'a while ago' });
const dated = (at: string) => many(3, { at: `${today}T${at}:00Z` });

/** Logs by zone: of `shop more` there is more than was given, those of `… id` have none, logs of `… fails` cannot be read. */
const unsure: Readonly<Record<string, Parameters<typeof account>[0]>> = {
  'without times': { shop: undated(800), quiet: [] },
  'some without times': { shop: [...dated('08:00'), ...undated(800)], b: dated('11:40') },
  'more than was given': { 'shop more': dated('08:00'), quiet: [] },
  'of another form': { shop: ['a line' as never, 5 as never], quiet: [] },
  unread: { shop: [], 'shop fails': dated('11:40'), 'docs fails': [] },
  'of an unreadable zone': { shop: [], 'shop id': [] },
  'of unreadable zones alone': { 'shop id': [], 'docs id': [] },
};
const none = 'None of 1 zone fails now · no origin errors in the last 24 hours';

test.each([
  ['errors today', 'without times', 'Unknown whether 1 of 2 zones fails now · 800'],
  ['errors 1h', 'without times', 'Unknown whether 1 of 2 zones failed in the last hour · 800'],
  ['errors 1h', 'some without times', 'At least 1 of 2 zones failed in the last hour'],
  ['errors 1h', 'of another form', 'Unknown whether 1 of 2 zones failed in the last hour · 2 errors'],
  ['errors', 'some without times', 'At least 1 of 2 zones fails now (3 errors)'],
  ['errors today', 'some without times', 'At least 1 of 2 zones fails now (3 errors)'],
  ['errors shop', 'some without times', '3 origin errors in the last 24 hours in shop. '],
  ['errors shop today', 'some without times', '803 origin errors today in shop. '],
  ['errors', 'more than was given', 'Unknown whether 2 of 2 zones fail now · at least 3'],
  ['errors 1h', 'more than was given', 'Unknown whether 2 of 2 zones failed in the last hour'],
  [
    'errors "shop more" 1h',
    'more than was given',
    'Unknown whether shop more had origin errors in the last hour',
  ],
  ['errors', 'of another form', 'Unknown whether 1 of 2 zones fails now · 2 errors'],
  ['errors shop', 'of another form', 'Unknown whether shop had origin errors'],
  ['errors', 'unread', `${none} · 2 of 3 zones not checked`],
  ['errors', 'of an unreadable zone', `${none} · 1 of 2 zones not checked`],
  ['errors', 'of unreadable zones alone', 'Unknown whether 2 of 2 zones fail now'],
  ['errors 1h', 'of unreadable zones alone', 'Unknown whether 2 of 2 zones failed in the last hour'],
])('%s of logs %s: never none for certain', async (typed, logs, expected) => {
  const zones = unsure[logs] ?? {};
  await using harness = await account(zones);
  const { data, faults } = harness.cdn;
  data.originErrors.hasMoreData = 'shop more' in zones;
  for (const one of data.zones) {
    if (one.Name?.endsWith('fails'))
      faults.add({ match: { path: new RegExp(`/${one.Id}/`, 'u') }, status: 500, times: 9 });
    if (one.Name?.endsWith(' id')) Object.assign(one, { Id: 'none' });
  }
  const { text = '' } = (await harness.person().run(typed)).at(-1) ?? {};
  expect(text).not.toMatch(falselySure);
  expect(text.slice(0, expected.length)).toBe(expected);
});

test.each(['zone', 'errors'])(
  'a zone that somebody opened by %s is read, however small it is',
  async (command) => {
    const small = Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`zone-${nth}`, []]));
    await using harness = await account({ ...small, checkout: many(240, { at: `${today}T11:30:00Z` }) });
    const person = harness.person();
    expect((await person.run('errors')).at(-1)?.text).not.toContain('checkout');
    await person.run(`${command} checkout`);
    expect((await person.run('errors')).at(-1)?.text).toContain('240');
  },
);

test.each(['all', 'today'])('a zone called %s is reached by its name in quotes', async (name) => {
  await using harness = await account({ [name]: many(3, { at: `${today}T11:30:00Z` }), shop: [] });
  const [answer] = await harness.person().run(`errors "${name}"`);
  expect(answer?.text).toMatch(new RegExp(`^3 .* in ${name},`, 'u'));
  const [unknown] = await harness.person().run(`errors "${name}x"`);
  expect(buttons(unknown).get(name)?.[1]).toMatch(new RegExp(`^errors "${name}" `, 'u'));
});

const zones = Array.from({ length: 60 }, (_, nth) => ({ id: String(nth), bandwidthUsed: nth }));
const ids = (...chosen: string[]) => new Set(chosen);

test('of many zones those of channels come first, then failing ones, opened ones and the busiest', () => {
  const chosen = chooseZones(zones, { channels: ids('3'), failing: ids('1', '3'), asked: ids('2', '1') });
  expect(chosen).toHaveLength(mostLogs);
  expect(chosen.slice(0, 5).map(({ id }) => id)).toEqual(['3', '1', '2', '59', '58']);
});

test('what needs attention comes before all, the worst first, and is not all', () => {
  const wrong = zones
    .slice(0, 20)
    .map((zone) => ({ ...zone, hostnames: [], hostnamesWithoutCertificate: ['a'] }));
  const disabled = { ...zones[20], id: '20', hostnames: [], hostnamesWithoutCertificate: [], enabled: false };
  const asked = ids(...zones.slice(25, 60).map(({ id }) => id));
  const all = [...wrong, disabled, ...zones.slice(21)];
  const chosen = chooseZones(all, { channels: ids('23'), failing: ids('24'), asked }).map(({ id }) => id);
  expect(chosen.toSorted().slice(0, 8)).toContain('20');
  expect(chosen.slice(8, 12)).toEqual(['23', '24', '59', '58']);
});

test.each([
  ['https://ORIGIN.example.com.', 'origin.example.com'],
  ['http://[fe80::1%25eth0]:80/', '[fe80::1]'],
  ['[2001:DB8::1]:80', '[2001:db8::1]'],
  ['0x7f.1', '127.0.0.1'],
])('the origin host of %s is %s', (originUrl, host) => {
  expect(readOriginHost({ originUrl })).toBe(host);
});

test('few zones are all read', () => {
  expect(chooseZones(zones.slice(0, 3), { channels: ids('2') })).toEqual(zones.slice(0, 3));
});

test('an assistant reads no 0 for errors without a time, nor where a log could not be read', async () => {
  await using harness = await account({ shop: [entry({ at: '' })] });
  const { context } = harness.person();
  const ask = async (args: Readonly<Record<string, string>>) =>
    (await listOriginErrors.run(args, context, 'assistant')).data;
  expect(await ask({})).toMatchObject({ zones: [{ name: 'shop', errors: undefined }] });
  expect(await ask({ zone: 'shop' })).toMatchObject({ zone: { errors: undefined } });
  harness.cdn.data.originErrors.entries.clear();
  expect(await ask({ zone: 'shop' })).toMatchObject({ zone: { errors: 0 } });
  harness.cdn.faults.add({ match: { path: /11-21-2026$/u }, status: 500, times: 20 });
  expect(await ask({ zone: 'shop' })).toMatchObject({ zone: { errors: undefined } });
});
