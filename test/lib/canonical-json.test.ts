import { expect, test } from 'vitest';
import { canonicalJson, type Json, parseWithExactIds } from '../../src/lib/canonical-json.ts';

test('members are sorted, and what is not there is left out', () => {
  const value = { b: [true, null, 'x"'], a: { d: 1.5, c: undefined } };
  expect(canonicalJson(value)).toBe('{"a":{"d":1.5},"b":[true,null,"x\\""]}');
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, [undefined], () => 1])('%s is refused', (value) => {
  expect(() => canonicalJson(value as unknown as Json)).toThrow(Error);
});

test('an id beyond 2^53 keeps its digits also among others, which stay numbers', () => {
  const large = '9007199254740993';
  const json = `[{"Id":1,"Hostnames":[{"Id":${large}}]},{"Id":${large},"StorageZoneId":5},{"Id":2,"Limit":${large}},7]`;
  expect(parseWithExactIds(json)).toEqual([
    { Id: 1, Hostnames: [{ Id: large }] },
    { Id: large, StorageZoneId: 5 },
    { Id: 2, Limit: Number(large) },
    7,
  ]);
  // The largest number that is exact stays one.
  expect(parseWithExactIds('{"Id":9007199254740991}')).toEqual({ Id: Number.MAX_SAFE_INTEGER });
});
