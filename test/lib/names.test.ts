import { expect, test } from 'vitest';
import { cleanName, looksLikeId, mixesAlphabets, toNameKey } from '../../src/lib/names.ts';

test.each(
  'сheckout checkοut checkօut checkꓳut Ꭱeports ⲟrders checkოut checkסut checkهut check𐐬ut checkዐut'.split(
    ' ',
  ),
)('%s mixes alphabets', (name) => {
  expect(mixesAlphabets(name)).toBe(true);
});

test.each(['checkout', 'заказы', 'Größe 2', 'παραγγελίες', 'IT部', 'Tシャツ', 'ร้านค้า', 'shop-متجر'])(
  '%s is of one alphabet',
  (name) => {
    expect(mixesAlphabets(name)).toBe(false);
  },
);

test.each([
  '501',
  '#501',
  '№501',
  '٥٠١',
  '５０１',
  '50\u200f1',
  '+501',
  '-501',
  '5 0 1',
  '(501)',
  '501.0',
  'id 501',
  'id501',
  'no. 501',
  'script 301',
  'app: app0worker00002',
  'my app0worker00002',
  '0x1F5',
  '0b101',
  '1e3',
  '-1.5E+3',
  '１２３',
  '½',
  'Ⅻ',
  'ⅻ',
  '⑤⓪①',
  '5O1',
  'l0I',
  '五百一',
  '{0b1c2d3e-1111-4222-8333-444455556666}',
  '0b1c2d3e111142228333444455556666',
  'app0worker00002',
  'APP0WORKER00',
  '0b1c2d3e-1111-4222-8333-444455556666',
  '0B1C2D3E-1111-4222-8333-444455556666\u200b',
])('%j looks like an id', (typed) => {
  expect(looksLikeId(typed)).toBe(true);
});

test.each([
  '',
  'shop',
  'shop 2',
  '一号店',
  '카페24',
  'магазин 2',
  'v2',
  'mix',
  '3d',
  'e5',
  'oil',
  'north',
  'app2',
  'app shop',
  'idea',
  'checkoutservice',
  'a1b2c3d4e5f',
  'v2-0b1c2d3e-1111',
  `a1${'b'.repeat(19)}`,
])('%j does not look like an id', (typed) => {
  expect(looksLikeId(typed)).toBe(false);
});

test.each([
  ['Shop', 'ѕһор'],
  ['checkout éu', ' CHECKOUT\u00a0 E\u0301u\u2069 '],
  ['a-b', 'a\u2011b'],
  ['ſhop', 'shop'],
  ['ᴄheckoᴜt', 'checkout'],
  ['Straße', 'STRASSE'],
  ['shipping', 'shi\u0307pping'],
  ['İstanbul', 'istanbul'],
  ['shop 2', 'shop ٢'],
])('%j and %j have one key', (name, other) => {
  expect(toNameKey(other)).toBe(toNameKey(name));
});

test('a stored name is one line in composed Unicode, and different names keep different keys', () => {
  expect(cleanName(' shop\r\n\u202e  e\u0301u\u2800\u3164 ')).toBe('shop éu');
  expect(new Set(['shop', 'shop 2', 'shоp2', 'магазин'].map(toNameKey)).size).toBe(4);
});
