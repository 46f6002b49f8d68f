import { expect, test } from 'vitest';
import { epochMs, isoTime, pathDay, shieldDay } from '../../src/api/dates.ts';

test.each([
  ['2026-08-07T00:00:00Z', '08-07-2026'],
  ['2026-08-07T23:59:59.999Z', '08-07-2026'],
  ['2026-01-01T00:30:00+02:00', '12-31-2025'],
  ['2024-02-29T12:00:00Z', '02-29-2024'],
])('%s lies in the log day %s, month first, UTC', (time, day) => {
  expect(pathDay(new Date(time))).toBe(day);
});

test.each([
  ['07-08-2026', '2026-08-07'],
  ['31-12-2026', '2026-12-31'],
  ['2026-08-07', '2026-08-07'],
  ['2026-08-07T00:00:00Z', '2026-08-07'],
  ['29-02-2024', '2024-02-29'],
  ['29-02-2026', undefined],
  ['12-31-2026', undefined],
  ['31-06-2026', undefined],
  ['2026-31-12', undefined],
  ['7-8-2026', undefined],
  ['07/08/2026', undefined],
  ['total', undefined],
  ['', undefined],
])('the shield key %j is the day %s, never month first', (key, day) => {
  expect(shieldDay(key)).toBe(day);
});

test.each([
  ['2026-08-01T00:00:00Z', Date.UTC(2026, 7, 1)],
  ['2026-08-01T00:00:00', Date.UTC(2026, 7, 1)],
  ['2026-08-01T02:00:00+02:00', Date.UTC(2026, 7, 1)],
  ['2026-08-01', Date.UTC(2026, 7, 1)],
  ['01-08-2026', undefined],
  ['2026-13-01', undefined],
  ['yesterday', undefined],
])('%j is the time %s; without a zone it is UTC', (text, at) => {
  expect(isoTime(text)).toBe(at);
});

test('seconds are taken for seconds', () => {
  expect(epochMs(1_767_225_600)).toBe(1_767_225_600_000);
  expect(epochMs(1_767_225_600_000)).toBe(1_767_225_600_000);
});
