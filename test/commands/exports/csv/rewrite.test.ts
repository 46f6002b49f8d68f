import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readHeader } from '../../../../src/commands/exports/csv/columns.ts';
import { createPseudonymizer } from '../../../../src/commands/exports/csv/csv.ts';
import { UserError } from '../../../../src/errors.ts';
import { cell } from './arbitraries.ts';

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
