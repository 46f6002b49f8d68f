import { expect, test } from 'vitest';
import { createRateLimit, findVisitor } from '../../../src/slack/web/limits.ts';

test('a bucket allows its burst, then its rate, for each key', () => {
  let at = 0;
  const limit = createRateLimit({ burst: 3, perMinute: 6, maxKeys: 10, now: () => new Date(at) });
  const take = (key: string): number | undefined => limit.take(key);
  expect([take('a'), take('a'), take('a')]).toEqual([undefined, undefined, undefined]);
  expect(take('a')).toBe(10);
  expect(take('b')).toBeUndefined();
  at += 4_000;
  expect(take('a')).toBe(6);
  at += 6_000;
  expect([take('a'), take('a')]).toEqual([undefined, 10]);
  at += 3600_000;
  expect([take('a'), take('a'), take('a'), take('a')]).toEqual([undefined, undefined, undefined, 10]);
});

test('a clock that is set back changes no bucket', () => {
  let at = 100_000;
  const limit = createRateLimit({ burst: 1, perMinute: 1, maxKeys: 10, now: () => new Date(at) });
  expect(limit.take('a')).toBeUndefined();
  at = 0;
  expect(limit.take('a')).toBe(60);
});

test('a flood of keys is bounded and does not reset an active bucket', () => {
  const limit = createRateLimit({ burst: 1, perMinute: 1, maxKeys: 100, now: () => new Date(0) });
  for (let nth = 0; nth < 10_000; nth += 1) {
    limit.take(`visitor ${nth}`);
    limit.take('the loud one');
  }
  expect(limit.size()).toBe(100);
  expect(limit.take('the loud one')).toBe(60);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  [undefined, 'unknown'],
])('%s counts as the visitor %s', (address, visitor) => {
  expect(findVisitor(address)).toBe(visitor);
});
