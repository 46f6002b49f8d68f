import { expect, test } from 'vitest';
import {
  type CodeBaseline,
  dropUnreportedCodes,
  findNewCodes,
} from '../../../../../../src/commands/reports/digests/kinds/origin-errors/new-codes.ts';

const at = (day: number): Date => new Date(Date.UTC(2026, 0, day, 9));
const shop = { id: '1001', name: 'shop' };
const read = (...codes: readonly string[]) => [
  { zone: shop, codes: new Map(codes.map((code) => [code, 3])) },
];

/** What is new in the last of these runs: a day, and the codes that came on it. */
function findFresh(...runs: readonly (readonly [day: number, ...codes: string[]])[]): string[] | undefined {
  let baseline: CodeBaseline | undefined;
  let fresh: string[] | undefined;
  for (const [day, ...codes] of runs) {
    const found = findNewCodes(read(...codes), baseline, at(day));
    fresh = found.fresh.map(({ code }) => code);
    baseline = found.baseline;
  }
  return fresh;
}

const daily = (from: number, until: number) =>
  Array.from({ length: until - from + 1 }, (_, index) => [from + index] as const);

test.each([
  ['the first look at a zone knows of none', [[1, 'dns']], []],
  ['one that came', [[1], [2, 'dns']], ['dns']],
  ['one that stays', [[1], [2, 'dns'], [3, 'dns']], []],
  ['one that comes and goes', [[1], [2, 'dns'], [3], [4, 'dns'], [5], [6], [7, 'dns']], []],
  ['absent for 27 days', [[1, 'dns'], ...daily(2, 28), [29, 'dns']], []],
  ['absent for 28 days', [[1, 'dns'], ...daily(2, 29), [30, 'dns']], ['dns']],
  [
    'nobody looked for 28 days',
    [
      [1, 'dns'],
      [29, 'tls'],
    ],
    ['tls'],
  ],
  [
    'nobody looked for longer',
    [
      [1, 'dns'],
      [30, 'tls'],
    ],
    [],
  ],
  ['entries without a code', [[1], [2, '']], []],
] as [string, [number, ...string[]][], string[]][])('new codes: %s', (_, runs, expected) => {
  expect(findFresh(...runs)).toEqual(expected);
});

test('what a silent run saw was seen; what was new to it is still to be told', () => {
  const before = findNewCodes(read('dns'), undefined, at(1)).baseline;
  const silent = dropUnreportedCodes(before, findNewCodes(read('dns', 'tls'), before, at(20)).baseline);
  expect(findNewCodes(read('dns', 'tls'), silent, at(40)).fresh.map(({ code }) => code)).toEqual(['tls']);
});

test('a memory has its bounds: of a zone with more codes than it holds nothing is new', () => {
  const many = Array.from({ length: 60 }, (_, index) => `code ${index}`);
  let { baseline } = findNewCodes(read(...many), undefined, at(1));
  expect(findNewCodes(read('another'), baseline, at(2)).fresh).toEqual([]);
  for (let zone = 0; zone < 300; zone += 1) {
    const empty = { zone: { id: String(zone), name: '' }, codes: new Map<string, number>() };
    baseline = findNewCodes([empty], baseline, at(2)).baseline;
  }
  expect(baseline).toHaveLength(100);
  expect(baseline.every(({ codes }) => codes.length <= 40)).toBe(true);
});
