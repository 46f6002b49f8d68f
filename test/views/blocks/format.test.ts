import { expect, test } from 'vitest';
import {
  andMore,
  countOf,
  formatCount,
  formatDuration,
  formatPeriod,
  listSome,
  pluralize,
} from '../../../src/views/blocks/format.ts';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

test.each([
  [0, '1 second'],
  [second, '1 second'],
  [1_001, '2 seconds'],
  [59 * second, '59 seconds'],
  [minute, '1 minute'],
  [99 * second, '99 seconds'],
  [100 * second, '2 minutes'],
  [59 * minute, '59 minutes'],
  [hour, '1 hour'],
  [90 * minute, '1 hour 30 minutes'],
  [601 * minute, '10 hours 1 minute'],
  [1440 * minute, '1 day'],
  [day + 5 * minute, '1 day'],
  [day + hour, '1 day 1 hour'],
  [100 * day, '100 days'],
])('%i ms is read as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('every duration up to a hundred days has at most two units, none of them zero or too large', () => {
  const limits: Readonly<Record<string, number>> = { second: 100, minute: 60, hour: 24, day: 101 };
  for (let ms = 1; ms < 100 * day; ms += Math.ceil(ms / 97)) {
    const parts = [...formatDuration(ms).matchAll(/(\d+) (second|minute|hour|day)(s?)/gu)];
    expect(parts.length).toBeLessThanOrEqual(2);
    for (const [, count, unit = '', many] of parts) {
      expect(Number(count)).toBeGreaterThan(0);
      expect(Number(count)).toBeLessThan(limits[unit] ?? 0);
      expect(many === 's').toBe(Number(count) !== 1);
    }
  }
});

test.each([
  [1, 'minute'],
  [59, '59 minutes'],
  [60, 'hour'],
  [90, '90 minutes'],
  [120, '2 hours'],
  [150, '2 hours 30 minutes'],
  [601, '10 hours 1 minute'],
  [1440, '24 hours'],
  [2880, '2 days'],
  [10_080, '7 days'],
])('%d minutes are the last %s', (minutes, words) => {
  expect(formatPeriod(minutes)).toBe(words);
});

test.each([
  [0, 'no zones', '0 zones'],
  [1, '1 zone', '1 zone'],
  [2, '2 zones', '2 zones'],
  [999, '999 zones', '999 zones'],
  [1_000, '1,000 zones', '1,000 zones'],
  [12_345, '12,345 zones', '12,345 zones'],
])('%s begins a sentence as "%s", and is "%s" behind another word', (count, subject, counted) => {
  expect(pluralize(count, 'zone')).toBe(subject);
  expect(formatCount(count, 'zone')).toBe(counted);
});

test('a count that is not known says so', () => {
  expect(pluralize(undefined, 'zone')).toBe('zones not reported');
});

test.each([
  [0, 240, '0 of 240 zones'],
  [1, 1, '1 of 1 zone'],
  [3, 1_000, '3 of 1,000 zones'],
  [0, 0, '0 of 0 zones'],
])('%i of %i zones are counted as %s', (some, all, text) => {
  expect(countOf(some, all, 'zone')).toBe(text);
});

test.each([
  [-1, '', ''],
  [0, '', ''],
  [1, 'and 1 more', 'and 1 more zone'],
  [1_000, 'and 1,000 more', 'and 1,000 more zones'],
])('%i more than are listed end the list as "%s"', (count, plain, named) => {
  expect([andMore(count), andMore(count, 'zone')]).toEqual([plain, named]);
});

test('a list names as many as it may and counts the rest', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c', 'd']].map((names) => listSome(names, 2))).toEqual([
    '',
    'a',
    'a, b',
    'a, b and 2 more',
  ]);
});
