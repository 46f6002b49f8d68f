import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateEventRows } from '../../../simulator/cdn/event-rows.ts';
import {
  createEventCounter,
  createPseudonymizer,
  createRowCounter,
  headerBytes,
  readCsv,
  readHeader,
  replaceAddresses,
} from '../../../src/commands/exports/csv.ts';
import { UserError } from '../../../src/errors.ts';
import { type EventFigures } from '../../../src/views/exports/exports.ts';
import { cell, csvFormat, cuts, splitBytes, table } from './arbitraries.ts';

async function read(file: Buffer, cuts: readonly number[] = []): Promise<string[][]> {
  const rows: string[][] = [];
  await readCsv(file.subarray(0, headerBytes), splitBytes(file, cuts), (row) => rows.push([...row]));
  return rows;
}

test('any table is read wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(table, csvFormat, cuts, async (rows, format, cuts) => {
      expect(await read(Buffer.from(stringify(rows, format)), cuts)).toEqual(rows);
    }),
  );
});

test.each([
  ['rows of different widths', 'a,b\nc\nd,e,f\n', [['a', 'b'], ['c'], ['d', 'e', 'f']]],
  ['a quote in a bare cell', 'a"b,c\n', [['a"b', 'c']]],
  ['text behind a closing quote', '"a"b,c\n', [['"a"b', 'c']]],
  ['empty lines', '\na,b\n\n', [['a', 'b']]],
  [
    'rows that end differently',
    'a,b\r\nc,d\ne,f\r\n',
    [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ],
  ],
  [
    'a header that ends with LF above rows that end with CR LF',
    'a,b\nc,d\r\n',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'rows that end with CR',
    'a,b\rc,d\r',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['nothing', '', []],
])('%s', async (_, text, rows) => {
  expect(await read(Buffer.from(text))).toEqual(rows);
});

test('many quotes in the first row, as a visitor may write them, are read as others', async () => {
  const rows = [[`a${'"b'.repeat(10_000)}`, 'c']];
  expect(await read(Buffer.from(stringify(rows)))).toEqual(rows);
});

test.each([
  ['a quote that is never closed', Buffer.from('a,b\n1,"2\n3,4\n'), 'CSV_QUOTE_NOT_CLOSED'],
  ['a row that no memory should hold', Buffer.alloc(9_000_000, 'x'), 'CSV_MAX_RECORD_SIZE'],
])('%s cannot be read', async (_, file, code) => {
  await expect(read(file, [70_000])).rejects.toMatchObject({ code });
});

test('an error of the callback is thrown', async () => {
  const failure = new Error('enough');
  const file = Buffer.from('a,b\n'.repeat(30_000));
  const reading = readCsv(file.subarray(0, headerBytes), [file], () => {
    throw failure;
  });
  await expect(reading).rejects.toBe(failure);
});

function countRows(file: Buffer, cuts: readonly number[] = []): number {
  const counter = createRowCounter();
  for (const piece of splitBytes(file, cuts)) counter.add(piece);
  return counter.rows();
}

test('rows of any table are counted as csv-parse counts them, wherever the file is cut', () => {
  fc.assert(
    fc.property(table, csvFormat, cuts, (rows, format, cuts) => {
      const file = Buffer.from(stringify(rows, format));
      expect(parse(file, { bom: true })).toHaveLength(rows.length);
      expect(countRows(file, cuts)).toBe(rows.length);
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['nothing', '', 0],
  ['a line break between quotes', 'a,"b\nc"\n', 1],
  ['doubled quotes before a line break', '"a ""b""\nc",d\n', 1],
  ['no line break at the end', 'a,b\nc,', 2],
  ['empty lines', '\na,b\n\n\r\nc,d\r\n\r\n', 2],
  ['rows that end with CR alone', 'a,b\r"c\rd","e"\rf,\r', 3],
])('%s', (_, text, rows) => {
  for (let cut = 0; cut <= text.length; cut += 1) expect(countRows(Buffer.from(text), [cut])).toBe(rows);
});

test.each([
  ['timestamp,action,ip,url', { time: 0, addresses: [2], subjects: { action: 1, ip: 2, url: 3 } }],
  ['Rule ID,Country_Code,Datetime', { time: 2, addresses: [], subjects: { country: 1, rule: 0 } }],
  ['remote_addr,request_uri,X-Real-IP', { addresses: [0, 2], subjects: { ip: 0, url: 1 } }],
  ['visitorIp,peer address,ClientIPv6,zip,recipe', { addresses: [0, 2], subjects: {} }],
  [' "Action" ,whatever', { addresses: [], subjects: { action: 0 } }],
])('%s is a header', (line, { subjects, ...expected }) => {
  const found = readHeader(line.split(','));
  expect(found).toMatchObject(expected);
  expect(Object.fromEntries(found?.subjects ?? [])).toEqual(subjects);
});

test.each([
  'a,b,c',
  '2026-11-20T10:00:00Z,action,ip',
  'blocked,203.0.113.7,url',
  'blocked,2001:db8::1,url',
  'blocked,[2001:db8::1]:443,url',
  '1764000000000,action',
  '/login,action',
  'https://shop.example/,action',
  'Mozilla/5.0 (X11; Linux x86_64),action',
  'timestamp action ip url',
  'timestamp:action:ip:url',
  '',
])('%s is no header that is recognized', (line) => {
  expect(readHeader(line.split(','))).toBeUndefined();
});

const markAddresses = (text: string): string => replaceAddresses(text, (address) => `<${address}>`);

test.each([
  ['203.0.113.7', '<203.0.113.7>'],
  ['from 203.0.113.7.', 'from <203.0.113.7>.'],
  ['203.0.113.7:8080, 10.0.0.1', '<203.0.113.7>:8080, <10.0.0.1>'],
  ['/login?ip=203.0.113.7&a=1', '/login?ip=<203.0.113.7>&a=1'],
  ['http://203.0.113.7/x', 'http://<203.0.113.7>/x'],
  ['/1.2.3.4/img', '/<1.2.3.4>/img'],
  ['10.0.0.1.nip.io', '<10.0.0.1>.nip.io'],
  ['010.001.000.255', '<10.1.0.255>'],
  ['2001:db8::1', '<2001:db8::1>'],
  ['2001:0DB8:0:0:0:0:0:1', '<2001:db8::1>'],
  ['[2001:db8::1]:443', '[<2001:db8::1>]:443'],
  ['2001:db8:0:0:0:0:0:1:443', '<2001:db8::1>:443'],
  ['2001:db8::1: refused', '<2001:db8::1>: refused'],
  ['2001:db8::1.', '<2001:db8::1>.'],
  ['client:2001:db8::1', 'client:<2001:db8::1>'],
  ['2001:db8::/32', '<2001:db8::>/32'],
  ['fe80::1%eth0', '<fe80::1>%eth0'],
  ['::1', '<::1>'],
  ['::ffff:203.0.113.7', '<203.0.113.7>'],
  ['/?ip=2001%3Adb8%3a%3A1&b', '/?ip=<2001:db8::1>&b'],
  ['/?q=from%20203.0.113.7', '/?q=from <203.0.113.7>'],
  ['/?q=%E2%80%99203.0.113.7', '/?q=’<203.0.113.7>'],
  ['/?q=%99203.0.113.7', '/?q=\uFFFD<203.0.113.7>'],
  ['203%2E0%2e113%252E7', '<203.0.113.7>'],
  ['%5B2001%253Adb8%253A%253A1%5D', '[<2001:db8::1>]'],
  ['/a%20b?x=%2F', '/a%20b?x=%2F'],
  ['203.0.113.7%39%39', '<203.0.113.7>%39%39'],
  ['{"ip":"2001:db8::1"}', '{"ip":"<2001:db8::1>"}'],
  ['203.0.113.7:1:2', '<203.0.113.7>:1:2'],
  ['user:pw@203.0.113.9', 'user:pw@<203.0.113.9>'],
  ['http://be:ad@[2001:db8::1%25eth0]:443/', 'http://be:ad@[<2001:db8::1>%eth0]:443/'],
  ['203.0.113.9.443', '<203.0.113.9>.443'],
  ['203.0.113.9.44321', '<203.0.113.9>.44321'],
  ['999.203.0.113.9', '999.<203.0.113.9>'],
  ['ip.203.0.113.9', 'ip.<203.0.113.9>'],
  ['…203.0.113.9…', '…<203.0.113.9>…'],
  ['2026.203.0.113.9', '2026.<203.0.113.9>'],
  ['203-0-113-9.isp.example', '<203.0.113.9>.isp.example'],
  ['ip-203-0-113-9.ec2.internal', 'ip-<203.0.113.9>.ec2.internal'],
  ['cpe_203_0_113_9', 'cpe_<203.0.113.9>'],
  ['203[.]0[.]113[.]9', '<203.0.113.9>'],
  ['2001-db8--1.ip6.example', '<2001:db8::1>.ip6.example'],
  ['h2001-0db8-0-0-0-0-0-00ff.isp', 'h<2001:db8::ff>.isp'],
  ['2001:db8::1.80', '<2001:db8::1>.80'],
  ['2001:db8::1p443', '<2001:db8::1>p443'],
  ['2001:db8::1_443', '<2001:db8::1>_443'],
  ['fe80::1%en1', '<fe80::1>%en1'],
  ['2001%253Adb8::1', '<2001:db8::1>'],
  ['203.0.113.1\u200b9', '<203.0.113.19>'],
  ['%EF%BC%92%EF%BC%90%EF%BC%93.0.113.9', '<203.0.113.9>'],
  ['\\u0032\\u0030\\u0033.0.113.9', '<203.0.113.9>'],
  ['203%C2%AD.0.113.9', '<203.0.113.9>'],
  ['fe80--1.ipv6-literal.net', '<fe80::1>.ipv6-literal.net'],
  ['203.0\u200b.113.9', '<203.0.113.9>'],
  ['203.0.1\u00ad13.9', '<203.0.113.9>'],
  ['２０３．０．１１３．９', '<203.0.113.9>'],
  ['203。0。113。9', '<203.0.113.9>'],
  ['٢٠٣.٠.١١٣.٩', '<203.0.113.9>'],
  ['203.0.113.⑨', '<203.0.113.9>'],
  ['203&#46;0&#x2e;113&amp;#46;9', '<203.0.113.9>'],
  ['203&period;0&period;113&period;9', '<203.0.113.9>'],
  ['203\\u002e0\\x2E113\\.9', '<203.0.113.9>'],
  ['203%u002E0=2E113.9', '<203.0.113.9>'],
  ['203 . 0. 113 .9', '<203.0.113.9>'],
  ['203(.)0[dot]113 dot 9', '<203.0.113.9>'],
  ['http://3405803785/', 'http://<203.0.113.9>/'],
  ['http://0xCB007109/', 'http://<203.0.113.9>/'],
  ['http://9999999999/', 'http://9999999999/'],
  ['0xCB.0x0.0x71.0x9', '<203.0.113.9>'],
  ['2001&#58;db8&colon;&colon;1', '<2001:db8::1>'],
  ['２００１：ｄｂ８：：１', '<2001:db8::1>'],
  ['fe80::1%25eth0 and ::ffff:cb00:7109', '<fe80::1>%eth0 and <203.0.113.9>'],
  ['%3A%3Affff%3A203.0.113.9', '<203.0.113.9>'],
  [`${'1.0.0.0.'.repeat(6)}8.b.d.0.1.0.0.2.ip6.arpa`, '<2001:db8:1:1:1:1:1:1>.ip6.arpa'],
])('in %s addresses are found', (text, expected) => {
  expect(markAddresses(text)).toBe(expected);
});

test.each([
  'Mozilla/5.0 Chrome/131.0.0.0 Safari/537.36',
  '2026-11-20T10:15:30.123Z',
  '10:15:30',
  'std::string::npos',
  'std::bad_alloc',
  '550e8400-2e9b-41d4-a716-446655440000',
  '2026-11-20',
  '1.2.3.4000',
  'a :: b',
  '1.2.3',
  '256.1.1.1',
  'aa:bb:cc:dd:ee:ff',
  '1234.5.6.7',
])('in %s there is none', (text) => {
  expect(markAddresses(text)).toBe(text);
});

test('any address is found in any text around it', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.ipV4(), fc.ipV6()),
      fc.constantFrom('', ' ', 'x=', '"', '[', '(', 'a/', 'ip: ', ','),
      fc.constantFrom('', ' ', '"', ']', ')', '/', '?', ' a', ',', '. '),
      (address, before, behind) => {
        fc.pre(address !== '::' && !address.endsWith('.0.0'));
        const [found = '', ...more] = markAddresses(`${before}${address}${behind}`).split('<');
        expect(found).toBe(before);
        expect(more).toEqual([expect.stringMatching(/^[\da-f.:]+>/u)]);
      },
    ),
    { numRuns: 500 },
  );
});

function rewrite(rows: string[][]): string[][] {
  const [header = [], ...events] = rows;
  const pseudonymize = createPseudonymizer(readHeader(header)?.addresses ?? []);
  return events.map((row) => [...pseudonymize(row)]);
}

const pseudonym = expect.stringMatching(/^ip-[\da-f]{10}$/u);

test('one address has one pseudonym in a file, in any column, and another one in the next file', () => {
  const rows = [
    ['ip', 'url', 'client_ip'],
    ['203.0.113.7', '/?from=203.0.113.7', '2001:DB8::1'],
    ['203.0.113.8', '/a,[2001:db8:0::1]', ''],
  ];
  const [first = [], second = []] = rewrite(rows);
  const [four = '', , six = ''] = first;
  expect(first).toEqual([pseudonym, `/?from=${four}`, pseudonym]);
  expect(second).toEqual([pseudonym, `/a,[${six}]`, '']);
  expect(new Set([four, six, second[0]]).size).toBe(3);
  expect(rewrite(rows).flat()).not.toContain(four);
});

test.each([
  ['203.0.113.7', '203.0.113.7:443', '::ffff:203.0.113.7', '[::FFFF:cb00:7107]:80', '203.000.113.007'],
  [
    '2001:db8::1',
    '2001:DB8:0:0:0:0:0:1',
    '[2001:db8::1]:443',
    '2001:db8::1%eth0',
    '2001:db8:0:0:0:0:0:1:443',
  ],
  ['203.0.113.7', '２０３．０．１１３．７', '203.0.113\u200b.7', '203.0.113%2E7', ' 203.0.113.7 '],
])('one address has one pseudonym however it is written: %s', (...spellings) => {
  const rows = rewrite([['ip', 'b'], ...spellings.map((ip) => [ip, `from ${ip}`])]);
  const pseudonyms = rows.flat().map((text) => /ip-[\da-f]{10}/u.exec(text)?.[0]);
  expect(pseudonyms).toHaveLength(10);
  expect(new Set(pseudonyms).size).toBe(1);
});

test('in an address column whatever could be an address is replaced', () => {
  const rows = ['IP Address', '203.0.113.x', '1.1.1.1, 2.2.2.2', '3405803783', 'unknown'].map((ip) => [ip]);
  expect(rewrite(rows).flat()).toEqual([pseudonym, pseudonym, pseudonym, 'unknown']);
});

test.each([
  ['no header', ['2026-11-20T10:00:00Z', 'blocked', '203.0.113.7']],
  ['a header without an address column', ['timestamp', 'action', 'visitor']],
  ['a header of unknown names', ['a', 'b', 'c']],
])('a file with %s is refused before any row is written', (_, first) => {
  expect(() => rewrite([first])).toThrow(UserError);
});

test('cells without an address stay', () => {
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1, maxLength: 8 }), (cells) => {
      const plain = cells.map((text) => text.replaceAll(/[\d:]/gu, ''));
      expect(
        rewrite([['ip', 'ua'], ...plain.map((text) => ['198.51.100.1', text])]).map(([, ua]) => ua),
      ).toEqual(plain);
    }),
  );
});

const [from, to] = [Date.UTC(2026, 10, 20, 9, 30), Date.UTC(2026, 10, 21, 9, 30)];

function count(
  [header = [], ...rows]: readonly (readonly string[])[],
  window = { from: new Date(from), to: new Date(to) },
): EventFigures {
  const columns = readHeader(header);
  if (!columns) throw new Error('this is no header');
  const counter = createEventCounter(columns, window);
  for (const row of rows) counter.add(row);
  return counter.result();
}

const countColumn = (name: string, cells: readonly string[]) => count([[name], ...cells.map((one) => [one])]);

/** The most frequent words, counted without a bound. */
function topOf(words: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const word of words) if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5);
}

test('the figures of a log of the simulated CDN are those of its rows', () => {
  const rows = generateEventRows(501, 3000, from, to);
  const names = ['timestamp', 'action', 'country', 'ruleId', 'ip'] as const;
  const figures = count([
    names,
    ...rows.map((row) => [
      new Date(row.timestamp).toISOString(),
      row.action,
      row.country,
      row.ruleId,
      row.ip,
    ]),
  ]);
  expect(figures).toMatchObject({ untimed: 0 });
  expect(figures.top).toEqual({
    action: topOf(rows.map((row) => row.action)),
    country: topOf(rows.map((row) => row.country)),
    rule: topOf(rows.map((row) => row.ruleId)),
    ip: topOf(rows.map((row) => row.ip)),
  });
  expect(figures.bars?.counts.reduce((sum, one) => sum + one, 0)).toBe(3000);
});

test('one address is counted once however it is written', () => {
  const spellings = [
    ['203.0.113.7', '203.0.113.7:443', '::ffff:203.0.113.7', '[::FFFF:cb00:7107]:80', '203.000.113.007'],
    ['2001:db8::1', '2001:DB8:0:0:0:0:0:1', '[2001:db8::1]:443', '2001:db8::1%eth0', '2001:db8::0:1'],
  ];
  expect(countColumn('ip', [...spellings.flat(), 'unknown']).top.ip).toEqual([
    ['2001:db8::1', 5],
    ['203.0.113.7', 5],
    ['unknown', 1],
  ]);
});

test.each([
  ['/login?token=SECRET&x', '/login'],
  ['/login#SECRET', '/login'],
  ['https://ann:SECRET@shop.example/a', 'https://shop.example/a'],
  ['https://ann:SEC?RET@shop.example/a?b=1', 'https://shop.example/a'],
  ['//ann:SECRET@shop.example/a', '//shop.example/a'],
  ['https://user:pa/SECRET@shop.example/a', 'https://shop.example/a'],
  ['/bcdn_token=SECRET&expires=17/video/1.ts', '/bcdn_token=…&expires=…/video/1.ts'],
  ['/@ann/photos?SECRET', '/@ann/photos'],
])('the URL %s is counted without what may be a secret', (url, expected) => {
  expect(countColumn('url', [url, url]).top.url).toEqual([[expected, 2]]);
});

test('many different values are counted in bounded memory, frequent ones among them', () => {
  const rare = Array.from({ length: 150_000 }, (_, nth) => `rare${nth}`);
  const cells = rare.flatMap((word, nth) => (nth % 3 === 0 ? [word, 'often'] : [word]));
  expect(countColumn('action', cells).top.action?.[0]).toEqual(['often', 50_000]);
});

test('long values are counted by how they begin', () => {
  const long = 'x'.repeat(300);
  expect(countColumn('action', [long, `${long}y`]).top.action).toEqual([[`${'x'.repeat(256)}…`, 2]]);
});

const at = Date.UTC(2026, 10, 20, 10, 15, 30);
test.each([
  '2026-11-20T10:15:30Z',
  '2026-11-20T10:15:30.123456789Z',
  '2026-11-20 10:15:30',
  '2026-11-20T10:15',
  '2026-11-20T11:15:30+01:00',
  'Fri, 20 Nov 2026 10:15:30 GMT',
  ' 2026-11-20T10:15:30Z ',
  String(at / 1000),
  String(at),
  `${at}000`,
  `${at}000000`,
  `${at / 1000}.5`,
])('the time %s is read, as UTC where it has no zone', (time) => {
  const hour = { from: new Date(at - 930_000), to: new Date(at + 2_670_000) };
  expect(count([['time'], [time], [time]], hour)).toMatchObject({
    untimed: 0,
    bars: { from: Date.UTC(2026, 10, 20, 10), minutes: 10, counts: [0, 2, 0, 0, 0, 0] },
  });
});

test.each(['', 'soon', '12', '2026', '99999', '2026-13-45T99:00:00Z', 'x'.repeat(100)])(
  '%j is no time',
  (text) => {
    const figures = countColumn('time', [text]);
    expect(figures.untimed).toBe(1);
    expect(figures.bars).toBeUndefined();
  },
);

test('a time outside of the window is no event time', () => {
  const times = ['2026-11-20T10:15:30Z', '1999-01-01T00:00:00Z', '2099-01-01T00:00:00Z'];
  const { untimed, bars } = countColumn('time', times);
  expect([untimed, bars?.counts.reduce((sum, one) => sum + one, 0)]).toEqual([2, 1]);
});

test('every event of any window is in one of at most eight bars without gaps', () => {
  const window = fc.tuple(
    fc.integer({ min: from, max: to }),
    fc.integer({ min: 1, max: 40 * 24 * 60 }).map((minutes) => minutes * 60_000),
  );
  fc.assert(
    fc.property(window, fc.array(fc.double({ min: 0, max: 0.999, noNaN: true })), ([start, ms], parts) => {
      const moments = parts.map((part) => new Date(Math.floor(start + part * ms)).toISOString());
      const whole = { from: new Date(start), to: new Date(start + ms) };
      const { bars, untimed } = count([['time'], ...moments.map((one) => [one])], whole);
      expect(untimed).toBe(0);
      expect(bars?.counts.reduce((sum, one) => sum + one, 0) ?? 0).toBe(moments.length);
      expect(bars?.counts.length ?? 0).toBeLessThanOrEqual(8);
    }),
  );
});
