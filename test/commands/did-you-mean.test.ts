import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { findClosest } from '../../src/commands/did-you-mean.ts';

const commands = ['zones', 'zone', 'connect', 'disconnect', 'whoami', 'help'];

test.each([
  ['zoens', ['zones']],
  ['conect', ['connect']],
  ['ZONS', ['zones', 'zone']],
  ['hlep', ['help']],
  ['disc', ['disconnect']],
  ['whomai', ['whoami']],
  ['completely', []],
  ['x', []],
  ['', []],
])('%j is near to %j', (typed, near) => {
  expect(findClosest(typed, commands).sort()).toEqual(near.toSorted());
});

test('the nearest comes first and no more than asked for', () => {
  expect(findClosest('shop-eu', ['shop-us', 'shop-eu2', 'shop-ap', 'shopping'], 2)).toEqual([
    'shop-eu2',
    'shop-us',
  ]);
});

test('the banded distance finds the same as the textbook distance', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 8 }), (typed, candidates) => {
      const allowed = Math.min(3, Math.max(1, Math.floor(typed.length / 3)));
      const near = candidates.filter(
        (candidate) =>
          (typed.length > 1 && candidate.startsWith(typed)) || textbook(typed, candidate) <= allowed,
      );
      expect(new Set(findClosest(typed, candidates, 100))).toEqual(new Set(near));
    }),
    { numRuns: 500 },
  );
});

function textbook(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const same = a.at(-1) === b.at(-1);
  const swapped = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1);
  return Math.min(
    textbookCached(a.slice(0, -1), b) + 1,
    textbookCached(a, b.slice(0, -1)) + 1,
    textbookCached(a.slice(0, -1), b.slice(0, -1)) + (same ? 0 : 1),
    swapped ? textbookCached(a.slice(0, -2), b.slice(0, -2)) + 1 : Infinity,
  );
}

const known = new Map<string, number>();
function textbookCached(a: string, b: string): number {
  const key = `${a} ${b}`;
  const slips = known.get(key) ?? textbook(a, b);
  known.set(key, slips);
  return slips;
}
