import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  formatBytes,
  formatMoment,
  formatMoney,
  formatPercent,
  pluralize,
} from '../../../src/views/blocks/format.ts';
import {
  escapeMrkdwn,
  formatCode,
  plainText,
  truncate,
  truncateLines,
  unbold,
} from '../../../src/views/blocks/text.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1 kB'],
  [52_428_800, '52.4 MB'],
  [1_240_000_000, '1.24 GB'],
  [812e9, '812 GB'],
  [10e12, '10 TB'],
  [1.5e14, '150 TB'],
])('%d bytes read as %s', (amount, text) => {
  expect(formatBytes(amount)).toBe(text);
});

test.each([
  [0, 100, '0 %'],
  [0.4, 100, 'under 1 %'],
  [80.5, 100, '80 %'],
  [99.99, 100, '99 %'],
  [100, 100, '100 %'],
  [1500, 100, '1,500 %'],
])('%d of %d is %s: never rounded up to a limit', (part, whole, text) => {
  expect(formatPercent(part, whole)).toBe(text);
});

test('money has two digits and groups', () => {
  expect(formatMoney(1234.5)).toBe('$1,234.50');
});

test('counts agree with their noun', () => {
  expect([0, 1, 2, 12_345].map((number) => pluralize(number, 'zone'))).toEqual([
    'no zones',
    '1 zone',
    '2 zones',
    '12,345 zones',
  ]);
});

test('a moment is drawn by Slack in the reader’s zone, with UTC behind it', () => {
  const at = new Date('2026-11-21T12:00:59.900Z');
  expect(formatMoment(at)).toBe('<!date^1795262459^{date_short_pretty} {time}|2026-11-21 12:00 UTC>');
});

test('foreign text loses its markup, line breaks and direction marks', () => {
  expect(escapeMrkdwn('<!here> & <https://evil|ok>')).toBe('&lt;!here&gt; &amp; &lt;https://evil|ok&gt;');
  expect(escapeMrkdwn('two\nlines\u202Eback')).toBe('two linesback');
  expect(formatCode('`x`')).toBe('`ˋxˋ`');
  expect(formatCode('')).toBe('(empty)');
  expect(plainText('', 10)).toBe('–');
});

test('cutting is visible and never splits a character', () => {
  expect(truncate('abcdef', 4)).toBe('abc…');
  expect(truncate('ab😀cd', 4)).toBe('ab…');
});

test('a list that does not fit says how much is missing', () => {
  expect(truncateLines(['one', 'two', 'three'], 100)).toBe('one\ntwo\nthree');
  expect(truncateLines(['one', 'two', 'three'], 15)).toBe('one\nand 2 more');
  expect(truncateLines([], 10)).toBe('');
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 300 })),
      fc.integer({ min: 20, max: 3000 }),
      (lines, length) => {
        const text = truncateLines(
          lines.map((line) => escapeMrkdwn(line)),
          length,
        );
        expect(text.length).toBeLessThanOrEqual(length);
        expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/u);
      },
    ),
  );
});

test.each([
  ['*240 zones* · $5', '240 zones · $5'],
  [':warning: *27 need* of *240*.', ':warning: 27 need of 240.'],
  ['*.example.com and *.example.org', '*.example.com and *.example.org'],
  ['2 * 3 * 4', '2 * 3 * 4'],
])('%s in a notification is %s', (text, plain) => {
  expect(unbold(text)).toBe(plain);
});
