import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createPseudonymizer,
  createRowCounter,
  headerBytes,
  readCsv,
  readHeader,
  replaceAddresses,
} from '../../../src/commands/exports/csv.ts';
import { UserError } from '../../../src/errors.ts';
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
  ['{"ip":"2001:db8::1"}', '{"ip":"<2001:db8::1>"}'],
  ['203.0.113.7:1:2', '<203.0.113.7>:1:2'],
])('in %s addresses are found', (text, expected) => {
  expect(markAddresses(text)).toBe(expected);
});

test.each([
  'Mozilla/5.0 Chrome/131.0.0.0 Safari/537.36',
  '2026-11-20T10:15:30.123Z',
  '10:15:30',
  'std::string::npos',
  'a :: b',
  '1.2.3',
  '256.1.1.1',
  '1.3.6.1.4.1',
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
