import { describe, expect, test } from 'vitest';
import { findMoment, readTimeZone, toLocalTime, toMinutes } from '../../src/lib/time-zone.ts';

const vienna = 'Europe/Vienna';

describe('the moment of a local time', () => {
  test.each([
    ['UTC', '2026-11-25', '09:00', '2026-11-25T09:00:00Z'],
    ['Asia/Kolkata', '2026-11-25', '00:15', '2026-11-24T18:45:00Z'],
    ['+05:30', '2026-11-25', '00:15', '2026-11-24T18:45:00Z'],
    ['Europe/Vienna', '2026-11-25', '24:00', '2026-11-25T23:00:00Z'],
    ['Europe/Vienna', '2026-03-29', '02:30', '2026-03-29T01:00:00Z'],
    ['Europe/Vienna', '2026-10-25', '02:30', '2026-10-25T00:30:00Z'],
    ['Australia/Lord_Howe', '2026-10-04', '02:10', '2026-10-03T15:30:00Z'],
    ['America/Santiago', '2026-09-06', '00:00', '2026-09-06T04:00:00Z'],
    ['Pacific/Apia', '2011-12-30', '12:00', '2011-12-30T10:00:00Z'],
  ])('in %s on %s at %s is %s', (zone, day, time, moment) => {
    expect(findMoment(zone, day, toMinutes(time))).toEqual(new Date(moment));
  });

  test('a time that exists twice is the first one, or the second where that is asked for', () => {
    const moments = (['first', 'second'] as const).map((twice) =>
      findMoment(vienna, '2026-10-25', 150, { twice }),
    );
    expect(moments.map((at) => at.toISOString())).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
    ]);
  });

  test('a time that does not exist is the change, or as much later as was left out', () => {
    const moments = (['change', 'later'] as const).map((skipped) =>
      findMoment(vienna, '2026-03-29', 150, { skipped }),
    );
    expect(moments.map((at) => at.toISOString())).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T01:30:00.000Z',
    ]);
  });
});

test.each([
  ['Europe/Vienna', '2026-11-25T23:30:00Z', { day: '2026-11-26', minutes: 30, weekday: 4 }],
  ['America/New_York', '2026-11-30T03:00:00Z', { day: '2026-11-29', minutes: 22 * 60, weekday: 7 }],
  ['-03:30', '2026-11-30T03:00:00Z', { day: '2026-11-29', minutes: 23 * 60 + 30, weekday: 7 }],
])('clock and calendar of %s at %s', (zone, at, shown) => {
  expect(toLocalTime(zone, new Date(at))).toEqual(shown);
});

test.each([
  ['Europe/Vienna', 3_600, 'Europe/Vienna'],
  ['Mars/Olympus', 20_700, '+05:45'],
  [undefined, -12_600, '-03:30'],
  ['Mars/Olympus', undefined, undefined],
  [undefined, undefined, undefined],
  [undefined, Number.NaN, undefined],
])('a profile with the zone %s and an offset of %s s is in %s', (name, offset, zone) => {
  expect(readTimeZone(name, offset)).toBe(zone);
});
