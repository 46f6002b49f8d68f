import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { kept, namesIn, packed, rosterOf, unpacked } from '../../src/reports/digest-roster.ts';

const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);

test('ids that are packed come out again', () => {
  fc.assert(
    fc.property(fc.uniqueArray(id), (ids) => {
      expect([...unpacked(packed(ids, 100_000) ?? 'x')].toSorted()).toEqual(ids.toSorted());
    }),
  );
});

const zones = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => ({ id: String(1_000_000 + index * 3), name }));

test('zones are kept with their names, then by their ids, then not at all; always in bounds', () => {
  const few = rosterOf(zones(100, 'shop'));
  expect(few && namesIn(few).get('1000003')).toBe('shop');
  const many = rosterOf(zones(5_000, 'shop'));
  expect(many && namesIn(many).get('1000003')).toBe('');
  expect(JSON.stringify(many).length).toBeLessThan(15_000);
  expect(rosterOf(zones(50_000, 'shop'))).toBeUndefined();
});

test('a name is kept in bounds, whatever is in it', () => {
  expect(kept('a\u0000\n\u202E"b\\')).toBe('a b');
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
      expect(JSON.stringify(kept(name)).length).toBeLessThanOrEqual(62);
      expect(kept(name).isWellFormed()).toBe(true);
    }),
  );
});
