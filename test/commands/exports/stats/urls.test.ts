import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { redactUrl } from '../../../../src/commands/exports/stats/urls.ts';
import { expectedUrl } from '../csv/arbitraries.ts';

function readUrl(text: string): string {
  const url = { bytes: Buffer.from(`before${text}behind`), from: 6, to: 6 + Buffer.byteLength(text) };
  redactUrl(url, Buffer.alloc(1_024));
  return Buffer.from(url.bytes.subarray(url.from, url.to)).toString();
}

test.each([
  ['/shop/shoes', '/shop/shoes'],
  ['/search?q=shoes#top', '/search'],
  ['https://ann:secret@example.com/a?b', 'https://example.com/a'],
  ['//ann@example.com/a', '//example.com/a'],
  // Half of the password looks like a path.
  ['https://ann:se/cret@example.com/a', 'https://example.com/a'],
  ['ann:se?cret@example.com/a#b', 'example.com/a'],
  ['https://example.com:8080/npm/@scope/name', 'https://example.com:8080/npm/@scope/name'],
  ['https://[2001:db8::1]/@ann', 'https://[2001:db8::1]/@ann'],
  ['/bcdn_token=abc/x=/1.ts', '/bcdn_token=…/x=/1.ts'],
  ['/a=b=c;d=e&f', '/a=…;d=…&f'],
  ['', ''],
])('%s is shown as %s', (url, expected) => {
  expect(readUrl(url)).toBe(expected);
});

test('read byte by byte, it shows what is shown of every address elsewhere', () => {
  const sign = fc.constantFrom(...Array.from(':/?#[]@=&;%+.-aZé東09 \n'));
  const url = fc.oneof(
    fc.string({ unit: sign, maxLength: 24 }),
    fc
      .tuple(fc.constantFrom('http://', '//', 'a1+:', ''), fc.string({ unit: sign, maxLength: 24 }))
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(url, (text) => {
      expect(readUrl(text)).toBe(expectedUrl(text));
    }),
    { numRuns: 5_000 },
  );
});

test('of a longer one than there is room for, the beginning is shown', () => {
  const long = `/${'a=b/'.repeat(2_000)}`;
  const beginning = readUrl(long);
  expect(beginning.length).toBeGreaterThan(500);
  expect(expectedUrl(long).startsWith(beginning)).toBe(true);
});
