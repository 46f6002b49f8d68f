import { expect, test } from 'vitest';
import { formatDuration, pluralize } from '../../../src/views/blocks/format.ts';

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
  [0, 'no zones'],
  [1, '1 zone'],
  [2, '2 zones'],
  [1_000, '1,000 zones'],
  [12_345, '12,345 zones'],
])('%i zones are counted as %s', (count, text) => {
  expect(pluralize(count, 'zone')).toBe(text);
});
