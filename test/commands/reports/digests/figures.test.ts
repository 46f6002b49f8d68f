import { expect, test } from 'vitest';
import { findOutlier, hasMoved } from '../../../../src/commands/reports/checks/check.ts';
import { countDaysSince } from '../../../../src/commands/reports/checks/scanning.ts';

test.each([
  ['four runs are too few', 100, [1, 1, 1, 1], undefined],
  ['five are enough', 100, [1, 1, 1, 1, 1], 1],
  ['flat: a quarter more is not unusual', 125, [100, 100, 100, 100, 100], undefined],
  ['flat: 27 % more is', 127, [100, 100, 100, 100, 100], 100],
  ['flat: 27 % less is too', 73, [100, 100, 100, 100, 100], 100],
  ['what varies much may vary', 200, [100, 50, 150, 90, 160, 40], undefined],
  // Median 95, MAD 50: 3.5 × 50 ÷ 0.6745 = 259 away.
  ['up to 3.5 deviations', 354, [100, 50, 150, 90, 160, 40], undefined],
  ['and not beyond', 355, [100, 50, 150, 90, 160, 40], 95],
  ['one earlier outlier moves nothing', 100, [10, 10, 9_000, 10, 11, 10], 10],
  ['nothing, always', 0, [0, 0, 0, 0, 0], undefined],
  ['something, where nothing ever was', 3, [0, 0, 0, 0, 0], 0],
])('an outlier: %s', (_, value, series, median) => {
  expect(findOutlier(value, { series, floor: 0 })).toBe(median);
});

test('an outlier: only the newest 28 runs count, and what is usual for its weekday is none', () => {
  const series = [...Array.from({ length: 28 }, () => 10), ...Array.from({ length: 32 }, () => 100)];
  expect(findOutlier(100, { series, floor: 0 })).toBe(10);
  expect(findOutlier(100, { series, floor: 0, weekBefore: 95 })).toBeUndefined();
  expect(findOutlier(100, { series, floor: 0, weekBefore: 10 })).toBe(10);
  expect(findOutlier(100, { series, floor: 90 })).toBeUndefined();
});

test('a change is a quarter, more than noise, against the same weekday where that is known', () => {
  expect(hasMoved({ now: 125, before: 100 }, 10)).toBe(false);
  expect(hasMoved({ now: 126, before: 100 }, 10)).toBe(true);
  expect(hasMoved({ now: 74, before: 100 }, 10)).toBe(true);
  expect(hasMoved({ now: 9, before: 0 }, 10)).toBe(false);
  expect(hasMoved({ now: 11, before: 0 }, 10)).toBe(true);
  expect(hasMoved({ now: 40, before: 100, weekBefore: 41 }, 10)).toBe(false);
  expect(hasMoved({ now: 100, before: 100, weekBefore: 41 }, 10)).toBe(true);
  expect(hasMoved({ now: 100, before: 100, usual: 41 }, 10)).toBe(true);
  expect(hasMoved({ now: 100 }, 10)).toBe(false);
});

test('the days since the run before, from one to seven', () => {
  const now = new Date('2026-11-21T09:00:00Z');
  const since = (at: string) => countDaysSince({ at: Date.parse(at), figures: 0 }, now);
  expect(countDaysSince(undefined, now)).toBe(1);
  expect(since('2026-11-21T03:00:00Z')).toBe(1);
  // The clocks changed, the run was late.
  expect(since('2026-11-20T10:05:00Z')).toBe(1);
  expect(since('2026-11-18T09:00:00Z')).toBe(3);
  expect(since('2026-09-18T09:00:00Z')).toBe(7);
});
