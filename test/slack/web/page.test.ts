import { expect, test } from 'vitest';
import { createRateLimit, findVisitor } from '../../../src/slack/web/limits.ts';

test('a key has so many uses in any minute, and says when there is room', () => {
  let at = 0;
  const limit = createRateLimit({ most: 3, perMs: 60_000, maxKeys: 10, now: () => new Date(at) });
  const take = (key: string): number | undefined => limit.take(key);
  expect([take('a'), take('a')]).toEqual([undefined, undefined]);
  at += 20_000;
  expect([take('a'), take('a'), limit.find('a')]).toEqual([undefined, 40, 40]);
  expect([limit.find('b'), take('b')]).toEqual([undefined, undefined]);
  at += 40_000;
  expect([take('a'), take('a'), take('a')]).toEqual([undefined, undefined, 20]);
  at += 3600_000;
  expect([take('a'), take('a'), take('a'), take('a')]).toEqual([undefined, undefined, undefined, 60]);
});

test('a clock that is set back neither frees a key nor blocks it for longer', () => {
  let at = 100_000;
  const limit = createRateLimit({ most: 1, perMs: 60_000, maxKeys: 10, now: () => new Date(at) });
  expect(limit.take('a')).toBeUndefined();
  at = 0;
  expect(limit.take('a')).toBe(60);
  at = 60_000;
  expect(limit.take('a')).toBeUndefined();
});

test('a flood of keys is bounded and does not free an active key', () => {
  const limit = createRateLimit({ most: 1, perMs: 60_000, maxKeys: 100, now: () => new Date(0) });
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
