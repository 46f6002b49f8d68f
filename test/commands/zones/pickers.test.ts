import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Candidate, createMenuIndex } from '../../../src/commands/zones/pickers.ts';

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

test.each([
  ['', ['1000', '40', '30', '77', '12', '11', '50', '2000']],
  // The name, a hostname, how a name begins, how a hostname begins, any part of a name, of a hostname.
  ['shop', ['12', '40', '11', '50', '30', '2000', '77']],
  // An id, and a zone that is named like it.
  ['12', ['1000', '12']],
  // How an id begins, but not its middle.
  ['20', ['2000']],
  ['00', []],
  ['shop.example', ['30', '77']],
  ['nothing like it', []],
])('%j finds the best first', async (typed, ids) => {
  const index = await createMenuIndex(zones, (zone) => zone);
  const found = index.find(typed, 100);
  expect(found.best.map(({ id }) => id)).toEqual(ids);
  expect(found.count).toBe(ids.length);
});

test('an id is told apart from a name that reads like one', async () => {
  const index = await createMenuIndex(zones, (zone) => zone);
  expect(['12', '1000', 'shop', '999', ''].map((typed) => index.find(typed, 100).isId)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('of very many the best are kept, and all are counted', async () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    id: String(index),
    names: [`partner-${9_999 - index}`],
  }));
  const index = await createMenuIndex([...many, { id: 'x', names: ['partner'] }], (one) => one);
  const found = index.find('partner', 3);
  expect(found.count).toBe(10_001);
  expect(found.best.map(({ names }) => names[0])).toEqual(['partner', 'partner-0', 'partner-1']);
});

test('it finds what looking at every name and id would find', async () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'B', '.', '1', '-'), maxLength: 5 });
  const candidate = fc.record({
    id: fc.nat(200).map(String),
    names: fc.array(word, { minLength: 1, maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(candidate, { maxLength: 30 }), word, async (all, typed) => {
      const search = typed.toLowerCase();
      const plainly = all.filter(
        ({ id, names }) => id.startsWith(search) || names.some((name) => name.toLowerCase().includes(search)),
      );
      const found = (await createMenuIndex(all, (one) => one)).find(search, 100);
      expect(new Set(found.best)).toEqual(new Set(plainly));
      expect(found.count).toBe(plainly.length);
    }),
  );
});
