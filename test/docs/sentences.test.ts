import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../', import.meta.url);
// The doubles answer with words of their own; `external` has its own rules.
const exempt = /^(?:simulator|playground|external|docs)\//;
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.test.ts') && !exempt.test(path),
);

const threeWords = /[\p{L}’']{2,} [\p{L}’']{2,} [\p{L}’']{2,}/u;
const expectation =
  /^.*\b(?:waitForMessage|waitForModal|waitForHome|toContain|toMatch)\(\s*(?:'([^'\n]*)'|`([^`]*)`|\/([^\n]*)\/[a-z]*[,)])/gmu;
// Log messages are search terms: operators look for the very words.
const aboutLog = /\blog(?:s|ged)?\b|output/iu;

test('words of answers stand in snapshots and words.ts, not in expectations', () => {
  const found = files.flatMap((path) =>
    [...readFileSync(new URL(path, root), 'utf8').matchAll(expectation)].flatMap(
      ([statement, ...literals]) =>
        literals.some((literal) => threeWords.test(literal ?? '')) && !aboutLog.test(statement)
          ? [`${path}: ${statement.trim()}`]
          : [],
    ),
  );
  expect(found).toEqual([]);
});
