import { expect, test } from 'vitest';
import { createClock } from '../../../src/views/blocks/period.ts';

const at = Date.parse('2026-09-21T22:05:00Z');

test.each([
  ['Europe/Vienna', '22 Sep', '00:05', '00:05'],
  ['America/New_York', '21 Sep', '18:05', '18:05'],
  [undefined, '21 Sep', '22:05', '22:05'],
])('a moment by the clock of %s', (zone, day, time, hour) => {
  const clock = createClock(zone);
  expect([clock.day(at), clock.time(at), clock.hour(at)]).toEqual([day, time, hour]);
});

test.each([
  ['UTC', '22'],
  ['Europe/Vienna', '00'],
  ['Asia/Kolkata', '03:30'],
])('a full hour in UTC is %s %s', (zone, hour) => {
  expect(createClock(zone).hour(Date.parse('2026-09-21T22:00:00Z'))).toBe(hour);
});
