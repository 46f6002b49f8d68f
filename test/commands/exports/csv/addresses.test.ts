import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPseudonymizer, replaceAddresses } from '../../../../src/commands/exports/csv/addresses.ts';
import { cell, csvFormat, cuts, rewrite, splitBytes, table } from './arbitraries.ts';

const rewriteFile = (file: Uint8Array, cuts: readonly number[] = []): string =>
  new TextDecoder().decode(rewrite(createPseudonymizer(), splitBytes(file, cuts)));

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

test('one address has one pseudonym in a file, in its column, in others and in any spelling, and another one in the next', () => {
  const file = Buffer.from(
    'ip,url,client_ip\n203.0.113.7,/?from=203.0.113.7,2001:DB8::1\n203.0.113.8,"/a,[2001:db8:0::1]",\n',
  );
  const [, ...rows] = parse(rewriteFile(file));
  const [one = '', six = ''] = [rows[0]?.[0], rows[0]?.[2]];
  expect(one).toMatch(/^ip-[\da-f]{10}$/u);
  expect(rows).toEqual([
    [one, `/?from=${one}`, six],
    [expect.stringMatching(/^ip-/u), `/a,[${six}]`, ''],
  ]);
  expect(new Set([one, six, rows[1]?.[0]]).size).toBe(3);
  expect(rewriteFile(file)).not.toContain(one);
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
])('one address has one pseudonym, however it is written: %s', (...spellings) => {
  const file = Buffer.from(`ip,b\n${spellings.map((ip) => `${ip},from ${ip}\n`).join('')}`);
  const rows: string[][] = parse(rewriteFile(file), { from: 2 });
  const pseudonyms = rows.flat().map((text) => /ip-[\da-f]{10}/u.exec(text)?.[0]);
  expect(pseudonyms).toHaveLength(10);
  expect(new Set(pseudonyms).size).toBe(1);
});

test('in a column of addresses nothing stays that could be one', () => {
  const rows = parse(
    rewriteFile(Buffer.from('IP Address,b\n203.0.113.x,1\n"1.1.1.1, 2.2.2.2",2\nunknown,3\n')),
  );
  expect(rows.map(([ip]) => ip)).toEqual([
    'IP Address',
    expect.stringMatching(/^ip-[\da-f]{10}$/u),
    expect.stringMatching(/^ip-[\da-f]{10}$/u),
    'unknown',
  ]);
});

test('whatever has no address in it stays byte for byte', () => {
  fc.assert(
    fc.property(table, csvFormat, cuts, (rows, how, cuts) => {
      const plain = rows.map((row) => row.map((text) => text.replaceAll(/[\d:]/gu, '')));
      fc.pre(!plain[0]?.[0]?.startsWith('\u{feff}'));
      const file = Buffer.from(stringify(plain, how));
      expect(rewriteFile(file, cuts)).toBe(file.toString().replace(/^\u{feff}/u, ''));
    }),
  );
});

test('the other cells of any row stay, and its shape', () => {
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1, maxLength: 8 }), cuts, (cells, cuts) => {
      const rows = [['ip', 'ua'], ...cells.map((text) => ['198.51.100.1', text])];
      const read = parse(rewriteFile(Buffer.from(stringify(rows, { quoted: true })), cuts));
      expect(read.map((row) => row[1]?.replace(/ip-[\da-f]{10}/u, '203.0.113.7'))).toEqual(
        rows.map((row) => row[1]),
      );
    }),
  );
});
