import { expect, test } from 'vitest';
import { address, checkNumericId, checkTextId } from '../../../src/api/http/paths.ts';
import { UserError } from '../../../src/errors.ts';

const kind = { noun: 'an app id', hint: 'It looks like this.' };

test.each([
  '',
  '.',
  '..',
  'a/b',
  'a\\b',
  '/',
  '../apikey',
  '%2e%2e',
  '%2E',
  'a%2fb',
  'a%5Cb',
  '%252e%252e',
  'a%00',
  'a\u0000b',
  'a\nb',
  'a\u007f',
  'a\u0085',
  '\ud800',
  'x'.repeat(201),
])('%j is no id', (value) => {
  expect(() => checkTextId(value, kind)).toThrow(
    new UserError('This is not an app id.', 'It looks like this.'),
  );
});

test.each([
  ['app0api00000001', 'app0api00000001'],
  ['my-data-volume', 'my-data-volume'],
  ['...', '...'],
  ['a b?c#d&e', 'a%20b%3Fc%23d%26e'],
  ['50%', '50%25'],
  ['día', 'd%C3%ADa'],
])('%j travels as one segment', (value, segment) => {
  expect(address('http://cdn', 'mc', 'apps', checkTextId(value, kind))).toBe(`http://cdn/mc/apps/${segment}`);
});

test.each([
  ['0', 'int32'],
  ['2147483647', 'int32'],
  ['2147483648', 'int64'],
  ['9223372036854775807', 'int64'],
] as const)('%s is an id of %s', (value, bits) => {
  expect(checkNumericId(value, bits, kind)).toBe(value);
});

test.each([
  ['2147483648', 'int32'],
  ['9223372036854775808', 'int64'],
  ['-1', 'int64'],
  ['1.0', 'int64'],
  ['1e3', 'int64'],
  [' 1', 'int64'],
  ['٣', 'int64'],
  ['', 'int64'],
  ['..', 'int64'],
  ['99999999999999999999', 'int64'],
] as const)('%j is no id of %s', (value, bits) => {
  expect(() => checkNumericId(value, bits, kind)).toThrow(UserError);
});

test('what was typed is not quoted: nobody knows yet where it will be shown', () => {
  expect(() => checkTextId('<!channel>/', kind)).toThrow(/^This is not an app id\.$/);
});
