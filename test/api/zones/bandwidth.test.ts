import { expect, test } from 'vitest';
import { forecastLimit, monthOf } from '../../../src/api/zones/summary.ts';

test.each([
  ['half the limit in a third of the month', 50, 100, '2026-11-11T00:00:00Z', '2026-11-21T00:00:00.000Z'],
  ['just before the month ends', 101, 300, '2026-11-11T00:00:00Z', '2026-11-30T16:52:16.633Z'],
  ['exactly with the month: never', 100, 300, '2026-11-11T00:00:00Z', undefined],
  ['two days of a month say nothing', 90, 100, '2026-11-03T23:59:59Z', undefined],
  ['three do', 30, 100, '2026-11-04T00:00:00Z', '2026-11-11T00:00:00.000Z'],
  ['February of a leap year has 29 days', 10, 100 * 0.28, '2028-02-11T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['and others have 28', 10, 100 * 0.28, '2027-02-11T00:00:00Z', undefined],
  ['nothing was used', 0, 100, '2026-11-20T00:00:00Z', undefined],
  ['the year ends with December', 32, 60, '2026-12-17T12:00:00Z', '2026-12-31T22:30:00.000Z'],
])('when a limit is reached: %s', (_, used, limit, now, at) => {
  expect(forecastLimit(used, limit, new Date(now))?.toISOString()).toBe(at);
});

test('a month is one of UTC', () => {
  expect(monthOf(new Date('2026-12-31T23:59:59.999Z'))).toEqual({
    start: Date.parse('2026-12-01T00:00:00Z'),
    end: Date.parse('2027-01-01T00:00:00Z'),
  });
});
