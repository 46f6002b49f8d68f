import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redactUrl } from '../../../src/api/http/redact.ts';

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
