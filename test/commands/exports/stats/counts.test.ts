import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGroupCounts } from '../../../../src/commands/exports/stats/counts.ts';

function countWords(words: readonly string[], options?: Parameters<typeof createGroupCounts>[0]) {
  const tally = createGroupCounts(options);
  for (const word of words) {
    const bytes = Buffer.from(`(${word})`);
    tally.add(bytes, 1, bytes.length - 1);
  }
  return tally.top(1000);
}

test('words are counted exactly while they are few, and within what is missed when they are many', () => {
  const word = fc.oneof(
    fc.integer({ min: 0, max: 30 }).map(String),
    fc.string({ unit: 'grapheme', maxLength: 9 }),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 200 }), (given) => {
      const exact = new Map<string, number>();
      for (const word of given) exact.set(word, (exact.get(word) ?? 0) + 1);
      const { words, missed } = countWords(given, { kept: 4 });
      expect(exact.size >= 8 || missed === 0).toBe(true);
      expect(missed > 0 ? exact : new Map(words)).toEqual(exact);
      for (const [word, count] of words) {
        expect(count).toBeLessThanOrEqual(exact.get(word) ?? 0);
        expect(count + missed).toBeGreaterThanOrEqual(exact.get(word) ?? 0);
      }
      expect(words.map(([, count]) => count)).toEqual(words.map(([, count]) => count).sort((a, b) => b - a));
      // Whatever came more often than could be missed is there.
      expect([...exact].filter(([word, count]) => count > missed && !new Map(words).has(word))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('long words are counted by how they begin, and are shown to be cut', () => {
  const { words } = countWords(['abcdefgh', 'abcdefxy', 'abc', 'äöüß'], { longest: 6 });
  expect(words).toEqual([
    ['abcdef…', 2],
    ['abc', 1],
    ['äöü…', 1],
  ]);
  expect(countWords(['äöü'], { longest: 5 }).words).toEqual([['äö…', 1]]);
});
