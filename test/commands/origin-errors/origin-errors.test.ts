import { readFile, rm, stat } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { zone } from '../../../simulator/cdn/zones.ts';
import type { StoredChange } from '../../../src/commands/zones/history.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import { isChart, isTable } from '../../../src/views/blocks/native.ts';
import {
  alice,
  bob,
  buttons,
  createCommandHarness,
  readRows,
  readText,
} from '../../support/command-harness.ts';
import { entry, readSentences, shop } from './entries.ts';

const logRequests = (requests: readonly { path: string }[]) =>
  requests.filter(({ path }) => /\d{2}-\d{2}-\d{4}$/u.test(path)).map(({ path }) => path.slice(-10));

/** The reference that stands in an answer with a failure. */
const findReference = (message: Message | undefined) =>
  /Reference:? `?([\w-]{6,})/.exec(readText(message))?.[1] ?? '(no reference)';

async function fileOf(message: Message | undefined): Promise<{ text: string; mode: number; name: string }> {
  const [file] = message?.files ?? [];
  const content = file?.content;
  if (!content || !('path' in content)) throw new Error('no spooled file came');
  const { mode } = await stat(content.path);
  const text = await readFile(content.path, 'utf8');
  await rm(content.path);
  return { text, mode: mode & 0o777, name: file.name };
}

test('the answer has the number first, then kinds, addresses, hours and samples', async () => {
  await using harness = await shop({
    '2026-11-21': [
      entry({ at: '2026-11-21T09:10:00Z', url: '/img/a.png?token=CANARY' }),
      entry({ at: '2026-11-21T09:20:00Z', url: '/img/b.png' }),
      entry({
        at: '2026-11-21T10:00:00Z',
        code: 'http_timeout',
        status: 504,
        server: 'SG',
        url: '/api/orders/17',
      }),
    ],
    '2026-11-20': [entry({ at: '2026-11-20T10:00:00Z' })],
  });
  const [answer, ...more] = await harness.person().run('errors shop');
  expect(more).toEqual([]);
  expect(readText(answer)).toMatchSnapshot();
});

test('one press shows the same errors by hour, by address or as samples', async () => {
  await using harness = await shop({
    '2026-11-21': [
      entry({ url: '/img/a.png?token=CANARY', at: '2026-11-21T08:30:00Z' }),
      entry({ url: '/img/b.png' }),
      entry({ code: 'http_timeout', status: 504, server: 'SG', url: '/api/orders/17' }),
    ],
  });
  const person = harness.person();
  const [answer] = await person.run('errors shop');
  for (const label of ['Hour by hour', 'Paths', 'Samples']) {
    const [other] = await person.pressIn(answer, label);
    expect(label === 'Samples' ? readSentences(other) : readRows(other)).toMatchSnapshot(label);
    const [again] = await person.pressIn(other, 'Refresh');
    expect(readText(again)).toBe(readText(other));
    const [back] = await person.pressIn(other, 'What fails');
    expect(readText(back)).toBe(readText(answer));
  }
  const [typed] = await person.run('errors shop show:addresses');
  expect(typed?.blocks?.find(isTable)?.rows).toHaveLength(3);
});

const twelveFive = 12 * 60 + 5;
const at = (time: string, over: Parameters<typeof entry>[0] = {}) =>
  entry({ at: `2026-11-21T${time}Z`, ...over });

test.each<[string, { typed?: string; later?: number; hasMore?: boolean; days: Parameters<typeof shop>[0] }]>([
  ['no errors are good news in one line', { days: {} }],
  ['one error is a sample, and its hour the peak', { days: { '2026-11-21': [entry({})] } }],
  ['an error in the last hour', { days: { '2026-11-21': [at('11:20:00')] } }],
  ['an error before the last hour', { days: { '2026-11-21': [at('10:20:00')] } }],
  // Five past midnight the last hour is mostly yesterday.
  ['the end of yesterday in the last hour', { later: twelveFive, days: { '2026-11-21': [at('23:30:00')] } }],
  [
    'both days in the last hour',
    {
      later: twelveFive,
      days: { '2026-11-21': [at('23:30:00')], '2026-11-22': [entry({ at: '2026-11-22T00:01:00Z' })] },
    },
  ],
  [
    'entries without a time have no hours',
    { typed: 'show:hours', days: { '2026-11-21': [entry({ at: '' })] } },
  ],
  [
    'an entry that is in two days counts once',
    {
      typed: '2026-11-20..21',
      days: {
        '2026-11-21': [entry({ id: 'twice' }), entry({})],
        '2026-11-20': [entry({ id: 'twice' }), entry({ at: '2026-11-20T23:00:00Z' })],
      },
    },
  ],
  [
    'a code that the day before did not have is new',
    {
      days: {
        '2026-11-21': [entry({}), entry({ code: 'http_timeout', status: 504 })],
        '2026-11-20': [entry({ at: '2026-11-20T08:00:00Z' })],
      },
    },
  ],
  [
    'a broken log counts by its labels',
    { days: { '2026-11-21': [entry({ log: '{"RequestUrl":"/a' }), entry({ log: 'not JSON' }), entry({})] } },
  ],
  ['more entries than the CDN gives', { hasMore: true, days: { '2026-11-21': [entry({})] } }],
])('%s', async (_, { typed = '', later = 0, hasMore = false, days }) => {
  await using harness = await shop(days);
  harness.cdn.data.originErrors.hasMoreData = hasMore;
  harness.advance(later * 60_000);
  const [answer] = await harness.person().run(`errors shop ${typed}`);
  expect(readSentences(answer)).toMatchSnapshot();
  expect(answer?.files).toBeUndefined();
  expect(answer?.blocks?.some(isChart)).toBe(false);
});

test('where the day before was not read, nothing is said of an hour that is partly in it', async () => {
  await using harness = await shop({ '2026-11-22': [entry({ at: '2026-11-22T00:01:00Z' })] });
  harness.advance(twelveFive * 60_000);
  harness.cdn.faults.add({ match: { path: /11-21-2026$/u }, status: 500, times: 20 });
  const [answer] = await harness.person().run('errors shop');
  expect(answer?.text).not.toContain('last hour');
});

test.each([
  ['today', 'per 2 hours', '00–02', '12–now', 7],
  ['yesterday', 'per 3 hours', '00–03', '21–00', 8],
  ['2026-11-20..21', 'per 6 hours', '20 Nov 00', '21 Nov 12–now', 7],
  ['2026-11-19..21', 'per 12 hours', '19 Nov 00', '21 Nov 12–now', 6],
  ['2026-11-15..21', 'per day', '15 Nov', '21 Nov–now', 7],
])('the chart of %s has a bar %s, up to now', async (typed, period, first, last, bars) => {
  const days = ['2026-11-15', '2026-11-19', '2026-11-20', '2026-11-21'];
  await using harness = await shop(
    Object.fromEntries(
      days.map((day) => [day, [entry({ at: `${day}T00:30:00Z` }), entry({ at: `${day}T01:30:00Z` })]]),
    ),
  );
  harness.advance(30 * 60_000);
  const [answer] = await harness.person().run(`errors shop ${typed} show:hours`);
  const drawn = answer?.blocks?.find(isChart);
  const total = Number(/^\d+/u.exec(answer?.text ?? '')?.[0]);
  expect(drawn?.chart.axis_config.y_label).toBe(`Errors ${period}`);
  const points = drawn?.chart.series[0]?.data ?? [];
  expect(points).toHaveLength(bars);
  expect([points.at(0)?.label, points.at(-1)?.label]).toEqual([first, last]);
  expect(points.reduce((sum, { value }) => sum + value, 0)).toBe(total);
});

test.each([
  ['today', ['11-20-2026', '11-21-2026']],
  ['yesterday', ['11-19-2026', '11-20-2026']],
  ['2026-11-03', ['11-02-2026', '11-03-2026']],
  ['2026-11-19..21', ['11-19-2026', '11-20-2026', '11-21-2026']],
])('%s asks for its UTC days, and for the day before one day', async (typed, days) => {
  await using harness = await shop({});
  await harness.person().run(`errors shop ${typed}`);
  expect(logRequests(harness.cdn.requests).toSorted()).toEqual(days);
});

test('what matches several zones asks which, days kept', async () => {
  await using harness = await createCommandHarness({ zones: 300 });
  const person = harness.person();
  const [which] = await person.run('errors sho yesterday');
  const [choose] = buttons(which).values();
  expect(choose?.[1]).toMatch(/^errors \d+ 2026-11-20$/u);
  const [none] = await person.run('errors chekout last 3 days');
  expect(buttons(none).get('checkout')?.[1]).toBe('errors checkout 2026-11-18T12:00..2026-11-21T12:00Z');
});

test.each([
  ['a day that cannot be read is left out and named, the others stay', 'errors shop 2026-11-19..21'],
  ['without the day before there is no comparison, and it says so', 'errors shop'],
])('%s', async (_, typed) => {
  await using harness = await shop({ '2026-11-21': [entry({})] });
  harness.cdn.faults.add({ match: { path: /11-20-2026$/u }, status: 500, times: 20 });
  const [answer] = await harness.person().run(typed);
  expect(readSentences(answer).replace(findReference(answer), '<reference>')).toMatchSnapshot();
  const count = () => logRequests(harness.cdn.requests).length;
  const before = count();
  await harness.person().run(`${typed} seen:1`);
  expect(count(), 'read again, as what was read lacks a day').toBeGreaterThan(before);
});

test.each([
  ['a refused key', { status: 401 as const }, 'key_refused'],
  ['too many requests', { status: 429 as const, retryAfter: 1 }, 'rate_limited'],
  ['a broken service', { status: 500 as const }, 'unavailable'],
  ['a web page', { body: 'html' as const }, 'unexpected'],
  ['a connection that breaks off', { drop: 'mid-body' as const }, 'cut'],
])('%s is told, not drawn as no errors', async (_, fault, code) => {
  await using harness = await shop({ '2026-11-21': [entry({}), entry({})] });
  const person = harness.person();
  harness.cdn.faults.add({ match: { path: /\d{2}-\d{4}$/u }, times: 50, ...fault });
  await expect(person.run('errors shop')).rejects.toMatchObject({ code });
  await expect(person.press('origin-errors:file', 'errors 1 2026-11-21 as:csv')).rejects.toMatchObject({
    code,
  });
});

test('buttons act on what was counted; refresh, a new command and another person count anew', async () => {
  await using harness = await shop({ '2026-11-21': [entry({})] });
  const person = harness.person();
  const count = () => logRequests(harness.cdn.requests).length;
  const [answer] = await person.run('errors shop today');
  const [yesterday] = await person.pressIn(answer, 'Yesterday');
  expect(count()).toBe(4);
  const [today] = await person.pressIn(yesterday, 'Today');
  expect(today?.text).toBe(answer?.text);
  expect(count()).toBe(4);
  await person.pressIn(today, 'Refresh');
  expect(count()).toBe(6);
  await harness.person(bob).pressIn(yesterday, 'Today');
  expect(count()).toBe(8);
  harness.zoneCache.drop(alice);
  await person.pressIn(yesterday, 'Today');
  expect(count()).toBe(10);
  harness.advance(5 * 60_000);
  await person.pressIn(yesterday, 'Today');
  expect(count()).toBe(12);
});

test('all entries come as CSV that no spreadsheet runs, and as NDJSON, without secrets', async () => {
  const formula = '=HYPERLINK("https://evil.example","x")';
  await using harness = await shop({
    '2026-11-21': [
      entry({ id: 'one', url: '/cart?token=CANARY&x=1' }),
      entry({ id: 'one' }),
      entry({ id: formula, code: '+1', server: ' @SUM(1)', url: '-2,"3"\n4' }),
      entry({ id: 'broken', log: '{' }),
    ],
  });
  const person = harness.person();
  const [answer] = await person.run('errors shop today');
  const [csv] = await person.pressIn(answer, 'All as CSV');
  expect(csv?.text).toMatchSnapshot('file');
  const file = await fileOf(csv);
  expect(file).toMatchObject({ mode: 0o600, name: 'origin-errors-shop-2026-11-21.csv' });
  expect(file.text).not.toContain('CANARY');
  const [head, first, second, third] = parse(file.text, { bom: true });
  expect(head).toEqual(['time', 'errorCode', 'statusCode', 'serverZone', 'url', 'message', 'logId']);
  expect(first).toEqual([
    '2026-11-21T09:30:00.000Z',
    'dns_lookup',
    '502',
    'DE',
    '/cart?token=…&x=…',
    'It failed',
    'one',
  ]);
  expect(second).toEqual([
    '2026-11-21T09:30:00.000Z',
    "'+1",
    '502',
    "' @SUM(1)",
    `'-2,"3"\n4`,
    'It failed',
    `'${formula}`,
  ]);
  expect(third).toEqual(['2026-11-21T09:30:00.000Z', 'dns_lookup', '502', 'DE', '', '', 'broken']);

  const [ndjson] = await person.pressIn(answer, 'All as NDJSON');
  const lines = (await fileOf(ndjson)).text.trim().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as { logId: string }).logId)).toEqual([
    'one',
    formula,
    'broken',
  ]);
});

test('a file holds what the answer counted; what came after it only where nothing was counted before', async () => {
  const day = '2026-11-21';
  const first = [entry({ at: `${day}T11:00:00Z` }), entry({ at: `${day}T11:59:00Z` })];
  await using harness = await shop({ [day]: first });
  const person = harness.person();
  const [answer] = await person.run('errors shop today');
  expect(readText(answer)).toContain('2 origin errors');
  const words = `errors 1 ${day} UTC as:csv`;
  harness.advance(120_000);
  harness.cdn.data.originErrors.entries.set(`1/${day}`, [...first, entry({ at: `${day}T12:01:30Z` })]);
  const rows = async (somebody: ReturnType<typeof harness.person>) => {
    const [file] = await somebody.press('origin-errors:file', words);
    return parse((await fileOf(file)).text, { bom: true }).slice(1);
  };
  expect(await rows(person)).toHaveLength(2);
  expect(await rows(harness.person(bob))).toHaveLength(3);
});

test('no file is made of nothing', async () => {
  await using harness = await shop({});
  const [answer] = await harness.person().run('errors shop 2026-11-21 as:csv');
  expect(answer?.text).toMatchSnapshot();
  expect(answer?.files).toBeUndefined();
});

test('no secret of an entry is shown', async () => {
  await using harness = await createCommandHarness({ zones: 12 });
  const [answer] = await harness.person().run('errors checkout 2026-11-15..21');
  expect(JSON.stringify(answer)).not.toContain('CANARY');
  expect(answer?.text).toMatch(/^1,680 /u);
});

const change = (id: number, at: string): StoredChange => ({
  id,
  at: new Date(at),
  zoneId: '1',
  zoneName: 'shop',
  path: 'OriginUrl',
  before: 'https://origin-1.example.com',
  after: `https://origin-${id}.example.com`,
});

test('a setting that changed shortly before the first error is named beside the cause', async () => {
  const changes = [
    change(4, '2026-11-21T11:00:00Z'),
    change(3, '2026-11-21T08:16:00Z'),
    change(2, '2026-11-21T04:00:00Z'),
  ];
  await using harness = await createCommandHarness({
    changes,
    data: { zones: [zone({ Id: 1, Name: 'shop', OriginUrl: 'origin-3.example.com' })] },
  });
  harness.cdn.data.originErrors.count = 0;
  harness.cdn.data.originErrors.entries.set('1/2026-11-21', [
    // Now and then another one fails: it is not what began with the change.
    entry({ at: '2026-11-21T03:00:00Z', code: 'http_timeout', status: 504 }),
    entry({ at: '2026-11-21T08:30:00Z' }),
    entry({}),
  ]);
  const person = harness.person();
  const [answer] = await person.run('errors shop');
  expect(readText(answer).split('\n').slice(0, 4)).toMatchSnapshot();
});

test('of an error that was there before the period, the first one shown is not called its beginning', async () => {
  const changes = [change(3, '2026-11-21T11:20:00Z')];
  await using harness = await createCommandHarness({
    changes,
    data: { zones: [zone({ Id: 1, Name: 'shop', OriginUrl: 'origin-3.example.com' })] },
  });
  harness.cdn.data.originErrors.count = 0;
  const at = ['11:30', '11:41', '11:50'].map((time) => entry({ at: `2026-11-21T${time}:00Z` }));
  harness.cdn.data.originErrors.entries.set('1/2026-11-21', at);
  const [answer] = await harness.person().run('errors shop 20m');
  expect(readText(answer).split('\n').slice(1, 3)).toMatchInlineSnapshot(`
    [
      "The CDN cannot resolve \`origin-3.example.com\` (\`dns_lookup\` 502): all 2, since 11:41 or earlier",
      ":wrench: Origin https://origin-1.example.com → https://origin-3.example.com, found 21 minutes before the first error shown (11:20)",
    ]
  `);
});
