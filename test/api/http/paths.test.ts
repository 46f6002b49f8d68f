import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkNumericId, checkTextId, pathOf, redactUrl } from '../../../src/api/http/paths.ts';
import { UserError } from '../../../src/errors.ts';

const notAnAppId = 'This is not an app id.';
const kind = { noun: 'an app id', hint: 'It looks like this.' };

test.each([
  '',
  ...String.raw`. .. a/b a\b / ../apikey %2e%2e %2E a%2fb a%5Cb %252e%252e a%00 <!channel>/`.split(' '),
  'a\u0000b',
  'a\nb',
  'a\u007f',
  'a\u0085',
  '\ud800',
  'x'.repeat(201),
])('%j is no id', (value) => {
  expect(() => checkTextId(value, kind)).toThrow(new UserError(notAnAppId, kind.hint));
});

test.each([
  ['app0api00000001', 'app0api00000001'],
  ['my-data-volume', 'my-data-volume'],
  ['...', '...'],
  ['a b?c#d&e', 'a%20b%3Fc%23d%26e'],
  ['50%', '50%25'],
  ['día', 'd%C3%ADa'],
])('%j travels as one segment', (value, segment) => {
  expect(pathOf('mc', 'apps', checkTextId(value, kind))).toBe(`/mc/apps/${segment}`);
});

test.each([
  ['0', 'int32'],
  ['2147483647', 'int32'],
  ['2147483648', 'int64'],
  ['9223372036854775807', 'int64'],
] as const)('%s is an id of %s', (value, bits) => {
  expect(checkNumericId(value, bits, kind)).toBe(value);
});

test('a number out of range, and what is no number, is no id', () => {
  expect(() => checkNumericId('2147483648', 'int32', kind)).toThrow(UserError);
  for (const value of ['9223372036854775808', '9'.repeat(20), '-1', '1.0', '1e3', ' 1', '٣', '', '..'])
    expect(() => checkNumericId(value, 'int64', kind)).toThrow(UserError);
});

test.each([
  ['https://origin.example.com/path', 'https://origin.example.com/path'],
  ['https://user:pw@origin.example.com/path', 'https://origin.example.com/path'],
  ['https://user@origin.example.com', 'https://origin.example.com'],
  ['//user:pw@origin.example.com', '//origin.example.com'],
  ['user:pw@origin.example.com:8080/x', 'origin.example.com:8080/x'],
  ['https://user:p@w@origin.example.com', 'https://origin.example.com'],
  ['https://user:p/w@origin.example.com', 'https://origin.example.com'],
  ['https://user:p?w@origin.example.com', 'https://origin.example.com'],
  ['https://user:p#w@origin.example.com', 'https://origin.example.com'],
  ['HTTPS://user:pw@ORIGIN.example.com', 'HTTPS://ORIGIN.example.com'],
  ['https://origin.example.com/@scope/pkg', 'https://origin.example.com/@scope/pkg'],
  ['https://origin.example.com:8080/@scope', 'https://origin.example.com:8080/@scope'],
  ['https://[2001:db8::1]/@scope', 'https://[2001:db8::1]/@scope'],
  ['https://x.example.com/a?sig=abc&se=1', 'https://x.example.com/a?sig=…&se=…'],
  ['/cart?token=abc#frag', '/cart?token=…'],
  ['/cart?abc', '/cart?…'],
  ['/cart?', '/cart?'],
  ['not an address', 'not an address'],
  [' https://me:p@origin.example/x', 'origin.example/x'],
  ['https:/me:p@origin.example', 'origin.example'],
  ['', ''],
])('%s is shown as %s', (url, shown) => {
  expect(redactUrl(url)).toBe(shown);
});

test('no user, password, query value or fragment of an address survives', () => {
  const piece = fc.string({
    unit: fc.constantFrom('a', '1', '-', '.', '_', '~', '%', '!', '$'),
    minLength: 1,
  });
  fc.assert(
    fc.property(piece, piece, piece, piece, (user, path, name, fragment) => {
      const secret = 'CANARY';
      const url = `https://${user}:${secret}@origin.example.com/${path}?${name}=${secret}&${secret}#${fragment}${secret}`;
      expect(redactUrl(url)).toBe(`https://origin.example.com/${path}?${name}=…&…`);
    }),
  );
});
