import { readFile, rm } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { originErrors as feature, readFilters } from '../../../src/commands/origin-errors/feature.ts';
import { parseWords } from '../../../src/commands/words.ts';
import type { Message } from '../../../src/views/blocks/blocks.ts';
import { isChart } from '../../../src/views/blocks/native.ts';
import { renderNoLink } from '../../../src/views/origin-errors/origin-errors.ts';
import { buttons, readText } from '../../support/command-harness.ts';
import { entry, readSentences, shop } from './entries.ts';

test.each([
  ['code:http_timeout', { code: ['http_timeout'] }],
  ['code: HTTP_Timeout,dns_lookup', { code: ['http_timeout', 'dns_lookup'] }],
  ['status:502 status:5XX status:502', { status: ['502', '5xx'] }],
  ['in:de path:/img/*', { in: ['DE'], path: ['/img/*'] }],
  ['path:img/', { path: ['/img/'] }],
  ['path:https://cdn.example.com/img/a.png?x=1', { path: ['cdn.example.com/img/a.png'] }],
  ['show:hours', {}],
])('%s', (typed, filters) => {
  expect(readFilters(parseWords(typed))).toEqual(filters);
});

test.each([
  'errors shop cod:http_timeout yesterday',
  'errors shop origin:example.com',
  'errors shop status:602x',
  'errors shop status:ok',
  'errors shop in:',
  `errors shop path:/${'a'.repeat(60)}`,
  'errors shop not 502',
])('%s is refused with what is wrong and what is right', async (typed) => {
  await using harness = await shop({});
  const { message, hint, offer } = await harness.person().refuse(typed);
  expect({ message, hint, offer }).toMatchSnapshot();
});

const day = '2026-11-21';
const entries = [
  entry({ at: `${day}T11:10:00Z`, url: '/img/a.png' }),
  entry({ at: `${day}T11:20:00Z`, status: 504, code: 'http_timeout', url: '/api/orders', server: 'SG' }),
  entry({ at: `${day}T08:00:00Z`, status: 504, code: 'http_timeout', url: '/img/b.png' }),
  entry({ at: `${day}T07:00:00Z`, status: 404, code: 'not_found' }),
];

async function readIds(message: Message | undefined): Promise<string[]> {
  const content = message?.files?.[0]?.content;
  if (!content || !('path' in content)) throw new Error('no spooled file came');
  const rows = parse(await readFile(content.path, 'utf8'), { bom: true }).slice(1);
  await rm(content.path);
  return rows.map((row) => row.at(-1) ?? '');
}

test('buttons of earlier versions, which had every period in minutes, answer as those of today', async () => {
  await using harness = await shop({ [day]: entries });
  const [old, answer] = ['1440m', '24h'].map((last) =>
    harness.person().press('origin-errors:day:0', `errors 1001 ${last} seen:1`),
  );
  expect(readSentences((await old)?.at(-1))).toEqual(readSentences((await answer)?.at(-1)));
});

test('an answer counts what the filters leave, says of how many, and every way on keeps them', async () => {
  await using harness = await shop({ [day]: entries });
  const person = harness.person();
  const [answer] = await person.run('errors shop status:5xx path:/img/*');
  expect(readSentences(answer)).toMatchSnapshot();
  const ways = [...buttons(answer)].filter(
    ([label]) => !['Without filters', 'The zone', 'What fails'].includes(label),
  );
  expect(ways.map(([label]) => label)).toEqual([
    'Hour by hour',
    'Paths',
    'Samples',
    'Today',
    'Last hour',
    'Last 24 hours',
    'Yesterday',
    'Last 3 days',
    'Last 7 days',
    'Share',
    'Refresh',
    'All as CSV',
    'All as NDJSON',
    'Share with CSV',
  ]);
  for (const [label, [, value]] of ways) {
    expect([label, value]).toEqual([label, expect.stringMatching(/status:5xx path:\/img\/\*/u)]);
    // An entry of a menu that is longer is left out.
    expect(`origin-errors:day:0 ${value}`.length).toBeLessThan(151);
  }
  const [file] = await person.pressIn(answer, 'All as CSV');
  expect(await readIds(file)).toEqual([entries[0]?.logId, entries[2]?.logId]);
  const [all] = await person.pressIn(answer, 'Without filters');
  expect(all?.text).toMatch(/^4 /u);
});

test.each([
  ['errors shop 504 last hour in SG', 'errors shop last hour status:504 in:SG'],
  ['errors in SG shop today', 'errors shop today in:SG'],
  ['errors zone 502', 'errors "502"'],
  ['errors zone:week', 'errors "week"'],
])('%s is %s', async (typed, meant) => {
  await using harness = await shop({ [day]: entries });
  const [said, wanted] = await Promise.all([typed, meant].map((line) => harness.person().run(line)));
  expect(readSentences(said?.at(-1))).toEqual(readSentences(wanted?.at(-1)));
});

test('a file that is read again holds only what the filters and the hour leave', async () => {
  await using harness = await shop({ [day]: entries });
  const [file] = await harness.person().press('origin-errors:file', 'errors 1 60m as:csv code:dns_lookup');
  expect(await readIds(file)).toEqual([entries[0]?.logId]);
  expect(file?.text).toMatchSnapshot();
  const [other] = await harness.person().press('origin-errors:file', 'errors 1 60m as:csv code:504');
  expect(await readIds(other)).toEqual([entries[1]?.logId]);
});

test.each([
  ['http_timeout shop', 'code:http_timeout'],
  ['shop code dns_lookup', 'code:dns_lookup'],
  ['502 on shop', 'status:502'],
  ['zone:1 502', 'status:502'],
  ['origin-shop.example.com 504', 'status:504'],
])('errors %s has the filter %s, and the zone', async (typed, filter) => {
  await using harness = await shop({ [day]: entries });
  const [answer, filtered] = await Promise.all(
    [typed, `1 ${filter}`].map((words) => harness.person().run(`errors ${words}`)),
  );
  expect(readSentences(answer?.at(-1))).toEqual(readSentences(filtered?.at(-1)));
});

test.each(['shop not http_timeout', 'shop without code http_timeout'])('%s is no filter', async (typed) => {
  await using harness = await shop({ [day]: entries });
  const [answer] = await harness.person().run(`errors ${typed}`);
  expect(answer?.text).toMatchSnapshot();
});

test('where nothing is left it says of how many', async () => {
  await using harness = await shop({ [day]: entries });
  const [answer] = await harness.person().run('errors shop in:BR code:http_timeot');
  expect(readSentences(answer)).toMatchSnapshot();
});

test('an hour counts what is in it, beside the hour before, in bars of ten minutes', async () => {
  await using harness = await shop({
    [day]: [...entries, entry({ at: `${day}T10:59:59Z` }), entry({ at: '' })],
  });
  const person = harness.person();
  const [answer] = await person.run('errors shop 1h');
  expect(readSentences(answer)).toMatchSnapshot('last hour');
  const [chart] = await person.pressIn(answer, 'Hour by hour');
  const drawn = chart?.blocks?.find(isChart);
  expect(drawn?.chart.axis_config.y_label).toBe('Errors per 10 minutes');
  expect(drawn?.chart.series[0]?.data.filter(({ value }) => value > 0)).toEqual([
    { label: '11:10', value: 1 },
    { label: '11:20', value: 1 },
  ]);
  const [fixed] = await person.run(`errors shop ${day} 07:30..08:30`);
  expect(readSentences(fixed)).toMatchSnapshot('another hour');
});

test('the last hour moves on with Refresh, and its other pictures stay those of the answer', async () => {
  await using harness = await shop({ [day]: entries });
  const person = harness.person();
  const [answer] = await person.run('errors shop 1h');
  harness.advance(3 * 60_000);
  const [same] = await person.pressIn(answer, 'Samples');
  expect(same?.text).toBe(answer?.text);
  harness.advance(10 * 60_000);
  const [later] = await person.pressIn(answer, 'Refresh');
  expect([answer, later].map((one) => one?.text.slice(0, 2))).toEqual(['2 ', '1 ']);

  // What has no end grows.
  const [open] = await person.run('errors shop since 11:15');
  harness.cdn.data.originErrors.entries.set(`1/${day}`, [...entries, entry({ at: `${day}T12:20:00Z` })]);
  harness.advance(10 * 60_000);
  const [grown] = await person.pressIn(open, 'Refresh');
  expect([open, grown].map((one) => one?.text.split(' in ')[0])).toEqual([
    '1 origin error since 21 Nov 11:15',
    '2 origin errors since 21 Nov 11:15',
  ]);
});

test('a file ends where the answer ended, and says what has no time', async () => {
  await using harness = await shop({ [day]: [...entries, entry({ at: '' })] });
  const person = harness.person();
  await person.run('errors shop 6h');
  await person.run('errors shop today');
  harness.advance(2 * 60_000);
  harness.cdn.data.originErrors.entries.get(`1/${day}`)?.push(entry({ at: `${day}T12:01:00Z` }));
  const [file] = await person.press('origin-errors:file', 'errors 1 6h as:csv');
  expect(await readIds(file)).toEqual(entries.map(({ logId }) => logId));
  expect(readText(file)).toMatchSnapshot();
  // A day holds what has no time as well.
  const [whole] = await person.press('origin-errors:file', 'errors 1 today as:csv');
  expect(await readIds(whole)).toHaveLength(entries.length + 1);
});

test('an answer of which a day is missing is not shown again: the next button reads that day', async () => {
  await using harness = await shop({ [day]: entries });
  const person = harness.person();
  harness.cdn.faults.add({ match: { path: /11-20-2026/ }, status: 500, times: 9 });
  const [partial] = await person.run('errors shop last 2 days');
  harness.cdn.faults.clear();
  const before = harness.cdn.requests.length;
  await person.pressIn(partial, 'Samples');
  expect(harness.cdn.requests.length).toBeGreaterThan(before);
});

test('a message without a link opens no answer', () => {
  const [shortcut] = feature.shortcuts ?? [];
  expect(shortcut?.modal({ text: 'it is down' })).toEqual(renderNoLink());
});
