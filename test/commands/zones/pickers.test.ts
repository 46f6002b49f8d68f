import { expect, test } from 'vitest';
import { type Candidate, findBest } from '../../../src/commands/zones/pickers.ts';

const zones: readonly Candidate[] = [
  { id: '2000', names: ['Z-any part of shop', 'z.example.com'] },
  { id: '77', names: ['other', 'cdn.shop.example.com'] },
  { id: '50', names: ['shop-eu', 'eu.example.com'] },
  { id: '40', names: ['blog', 'shop'] },
  { id: '30', names: ['news', 'shop.example.com'] },
  { id: '12', names: ['Shop', 'www.example.com'] },
  { id: '11', names: ['shop-asia', 'asia.example.com'] },
  { id: '1000', names: ['12', 'twelve.example.com'] },
];

const find = (typed: string, all: readonly Candidate[] = zones, most = 100) =>
  findBest(all, (one) => one, typed, most);

test.each([
  ['', ['1000', '40', '30', '77', '12', '11', '50', '2000'], false],
  // The name, a hostname, how a name begins, how a hostname begins, any part of a name, of a hostname.
  ['shop', ['12', '40', '11', '50', '30', '2000', '77'], false],
  // An id, and a zone that is named like it.
  ['12', ['1000', '12'], true],
  ['1000', ['1000'], true],
  // How an id begins, but not its middle.
  ['20', ['2000'], false],
  ['00', [], false],
  ['shop.example', ['30', '77'], false],
  ['nothing like it', [], false],
])('%j finds the best first', (typed, ids, isId) => {
  const found = find(typed);
  expect(found.best.map(({ id }) => id)).toEqual(ids);
  expect(found).toMatchObject({ count: ids.length, isId });
});

test('of very many the best are kept, and all are counted', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    id: String(index),
    names: [`partner-${9_999 - index}`],
  }));
  const found = find('partner', [...many, { id: 'x', names: ['partner'] }], 3);
  expect(found.count).toBe(10_001);
  expect(found.best.map(({ names }) => names[0])).toEqual(['partner', 'partner-0', 'partner-1']);
});
