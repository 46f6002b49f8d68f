import { expect, test } from 'vitest';
import { hasMoved } from '../../../../src/commands/reports/checks/check.ts';
import { countDaysSince } from '../../../../src/commands/reports/checks/scanning.ts';

test('a change is a quarter, more than noise', () => {
  expect(hasMoved({ now: 125, before: 100 }, 10)).toBe(false);
  expect(hasMoved({ now: 126, before: 100 }, 10)).toBe(true);
  expect(hasMoved({ now: 74, before: 100 }, 10)).toBe(true);
  expect(hasMoved({ now: 9, before: 0 }, 10)).toBe(false);
  expect(hasMoved({ now: 11, before: 0 }, 10)).toBe(true);
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
