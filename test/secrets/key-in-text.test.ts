import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasCdnKey, hasSecret, looksLikeKey } from '../../src/secrets/key-in-text.ts';

// Made up for this test, group by group in the shapes that real keys have.
const account = '1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b86e04-a1f7-4c5b-93d2-70be81c4fa65';
const storage = '1b7e0f4c-92ad-4d13-8e605f3a7c21-9b86-6e04';
const uuid = '1b7e0f4c-92ad-4d13-8e60-5f3a7c21d9b8';

test.each([
  ['an account key', account],
  ['an account key in capitals', account.toUpperCase()],
  ['an account key behind a command', `zones ${account}`],
  ['an account key behind its header', `AccessKey:${account}`],
  ['an account key as an assignment', `key=${account}`],
  ['a quoted account key', `“${account}”`],
  ['a storage key', storage],
  ['hex groups as long as a UUID', '1b7e0f4c-92ad4d13-8e605f3a7c21-9b86e'],
  ['two UUIDs', `${uuid}-${uuid}`],
  ['hex without dashes', account.replaceAll('-', '')],
  ['a UUID that says what it is', `access-key-${uuid}`],
  ['a key in bold', `*${storage}*`],
  ['a key in italics', `zone _${account}_`],
  ['a key with characters that nobody sees', account.replaceAll('-', '\ufe0f-\u{e0061}')],
  ['a key with a soft hyphen', `${storage.slice(0, 20)}\u00ad${storage.slice(20)}`],
  ['a key in full width', account.replace('1b7e', '１ｂ７ｅ')],
  ['a UUID behind capitals', `PROD-${uuid}`],
  ['a random word', 'zq8Rk2Lm9Xv4Tb7Wn1Yc5Pd'],
  ['random letters', 'qWeRtYuIoPaSdFgHjKlZxC'],
  ['random letters and a few digits', 'aBcDeFg1hijklmnopqrst2'],
  ['a Slack token', 'xoxb-123456789012-abcdefABCD12efgh34IJkl56'],
  ['a Slack token in capitals', 'XAPP-1-A012B-1234567890123-ABCDEFABCDEF'],
  ['a web token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV'],
])('%s looks like a key', (_, text) => {
  expect(looksLikeKey(text)).toBe(true);
  expect(hasSecret(text)).toBe(true);
});

test('a UUID looks like a key, but may be an id', () => {
  expect(looksLikeKey(uuid)).toBe(true);
  expect(hasSecret(uuid)).toBe(false);
  expect(hasSecret(uuid.toUpperCase())).toBe(false);
  expect(hasSecret(`zone tenant-${uuid}`)).toBe(false);
  expect(hasSecret(`zone ${uuid}.b-cdn.net`)).toBe(false);
});

test.each([
  '',
  'zones shop sort:bandwidth only:attention',
  'zone 1234567890123456789',
  'storefront-eu-west-production-assets-2026-01',
  'customer-website-production-downloads.b-cdn.net',
  'https://cdn.shop.example.com/path/to/a/picture-1920x1080.jpg?width=200&height=100',
  'zone donaudampfschifffahrtsgesellschaft',
  'ShopWebAssetsDownloads of Customer-Website-Production-Downloads-Of-Every-Shop',
  'deadbeefcafebabefacefeeddeadbeef',
  'a1b2c3d4e5f60718-a1b2c3d4e5f60718',
  'zone shop20261121production',
  'export 5 last 72h',
])('%j does not look like a key', (text) => {
  expect(looksLikeKey(text)).toBe(false);
});

test('names that people give to zones pass, however long', () => {
  const word = fc.constantFrom(
    'shop',
    'eu',
    'west',
    'assets',
    'static',
    'images',
    'v2',
    '2026',
    'prod',
    'deadbeef',
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (parts) => {
      fc.pre(/[g-z]/u.test(parts.join('')));
      expect(looksLikeKey(`zone ${parts.join('-')}`)).toBe(false);
    }),
  );
});

test.each([
  ['with dashes of a text program', account.replaceAll('-', '–'), true],
  ['with characters that nobody sees', account.replaceAll('-', '\u200b-\u2060'), true],
  ['in full width', account.replaceAll('1', '１'), true],
  ['a UUID that says what it is', `x/my-secret-${uuid}`, true],
  ['a UUID', uuid, false],
  ['a UUID in an address', `https://cdn.example/${uuid}/x`, false],
  ['words of hex letters', 'deadbeef-cafe-babe-face-feed-deadbeef-fade', false],
  ['a UUID behind another word', `tenant-${uuid}`, false],
  ['a long word with a word for keys', 'my-secret-token-storage-of-keys-for-everybody', false],
])('%s in a field is a key: %s', (_, text, isKey) => {
  expect(hasCdnKey(text)).toBe(isKey);
});

test('a key in a field is found where its groups begin, and behind other letters', () => {
  expect(hasCdnKey(account)).toBe(true);
  expect(hasCdnKey(`zone ${storage}.`)).toBe(true);
  expect(hasCdnKey(`key${account}`)).toBe(true);
});

// Tried from each character, one long run took seven seconds.
test.each([
  ['one run of hex', 'a1'.repeat(20_000)],
  ['four long groups', `${'a1'.repeat(5000)}-`.repeat(4)],
  ['too few groups, again and again', 'abcd-abcd-abcd-abcd-x'.repeat(2000)],
  ['dashes', '-'.repeat(40_000)],
  ['a UUID again and again', `${uuid}-`.repeat(1100)],
  ['key words', 'keysecrettoken'.repeat(3000)],
])('a long text is read in time that grows with its length: %s', (_, text) => {
  const started = performance.now();
  hasCdnKey(text);
  looksLikeKey(text);
  expect(performance.now() - started).toBeLessThan(2000);
});
