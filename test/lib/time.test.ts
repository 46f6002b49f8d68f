import { expect, test } from 'vitest';
import { parseIsoTime, toEpochMs, toUtcDay } from '../../src/lib/time.ts';

test.each([
  ['2026-08-07T00:00:00Z', '2026-08-07'],
  ['2026-08-07T23:59:59.999Z', '2026-08-07'],
  ['2026-01-01T00:30:00+02:00', '2025-12-31'],
  ['2024-02-29T12:00:00Z', '2024-02-29'],
])('%s lies in the UTC day %s', (time, day) => {
  expect(toUtcDay(new Date(time))).toBe(day);
});

test.each([
  ['2026-08-01T00:00:00Z', Date.UTC(2026, 7, 1)],
  ['2026-08-01T00:00:00', Date.UTC(2026, 7, 1)],
  ['2026-08-01T02:00:00+02:00', Date.UTC(2026, 7, 1)],
  ['2026-08-01', Date.UTC(2026, 7, 1)],
  ['01-08-2026', undefined],
  ['2026-13-01', undefined],
  ['20260801', undefined],
  ['yesterday', undefined],
])('%j is the time %s; without a zone it is UTC', (text, at) => {
  expect(parseIsoTime(text)).toBe(at);
});

test('a timestamp in seconds becomes milliseconds', () => {
  expect(toEpochMs(1_767_225_600)).toBe(1_767_225_600_000);
  expect(toEpochMs(1_767_225_600_000)).toBe(1_767_225_600_000);
  expect(toEpochMs(1_767_225_600_000_000)).toBe(1_767_225_600_000);
  expect(toEpochMs(1_767_225_600_000_000_000)).toBe(1_767_225_600_000);
});
