import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findNextRun, findNextRuns, type Schedule } from '../../src/lib/schedule.ts';
import { isTimeZone } from '../../src/lib/time-zone.ts';
import { describeNextRuns, describeSchedule, formatRunTime } from '../../src/views/reports/report.ts';
import { timeZones } from '../support/digests/time-zones.ts';

const everyDay = [1, 2, 3, 4, 5, 6, 7];
const daily = (zone: string, time: string): Schedule => ({ time, zone, weekdays: everyDay, monthDays: [] });

function on(weekdays: number[], monthDays: number[]): Schedule {
  return { time: '09:00', zone: 'UTC', weekdays, monthDays };
}

function iso(runs: readonly Date[]): string[] {
  return runs.map((at) => at.toISOString().slice(0, 16));
}

describe('changes of the clocks', () => {
  // The run before the change, the run of the day itself, the run after it, all in UTC.
  // `schedule-clocks.long` counts every change from 2026 to 2036.
  test.each([
    [
      'Vienna, put forward: 02:30 does not exist',
      'Europe/Vienna',
      '02:30',
      '2026-03-28T00:00Z',
      '2026-03-28T01:30 2026-03-29T01:00 2026-03-30T00:30',
    ],
    [
      'Vienna, put back: 02:30 exists twice',
      'Europe/Vienna',
      '02:30',
      '2026-10-24T00:00Z',
      '2026-10-24T00:30 2026-10-25T00:30 2026-10-26T01:30',
    ],
    [
      'Lord Howe, half an hour forward',
      'Australia/Lord_Howe',
      '02:15',
      '2026-10-02T20:00Z',
      '2026-10-03T15:30 2026-10-04T15:15 2026-10-05T15:15',
    ],
    [
      'Apia leaves out a midnight: two days meet in one run',
      'Pacific/Apia',
      '00:00',
      '2011-12-28T12:00Z',
      '2011-12-29T10:00 2011-12-30T10:00 2011-12-31T10:00',
    ],
    [
      'São Paulo put forward at midnight: 00:00 does not exist',
      'America/Sao_Paulo',
      '00:00',
      '2018-11-02T12:00Z',
      '2018-11-03T03:00 2018-11-04T03:00 2018-11-05T02:00',
    ],
    [
      'Dublin, whose winter is the exception',
      'Europe/Dublin',
      '01:30',
      '2026-03-28T00:00Z',
      '2026-03-28T01:30 2026-03-29T01:00 2026-03-30T00:30',
    ],
  ])('%s', (_, zone, time, after, expected) => {
    expect(iso(findNextRuns(daily(zone, time), new Date(after), 3)).join(' ')).toBe(expected);
  });
});

describe('days', () => {
  test('workdays leave out the weekend', () => {
    const runs = findNextRuns(on([1, 2, 3, 4, 5], []), new Date('2026-11-19T12:00Z'), 3);
    expect(iso(runs)).toEqual(['2026-11-20T09:00', '2026-11-23T09:00', '2026-11-24T09:00']);
  });

  test('day 31 is the last day where there is none, in leap years too', () => {
    const runs = findNextRuns(on([], [31]), new Date('2028-01-15T00:00Z'), 5);
    expect(iso(runs).map((at) => at.slice(0, 10))).toEqual([
      '2028-01-31',
      '2028-02-29',
      '2028-03-31',
      '2028-04-30',
      '2028-05-31',
    ]);
  });

  test('days 30 and 31 are one run in February', () => {
    const runs = findNextRuns(on([], [30, 31]), new Date('2026-02-01T00:00Z'), 3);
    expect(iso(runs).map((at) => at.slice(0, 10))).toEqual(['2026-02-28', '2026-03-30', '2026-03-31']);
  });

  test('days of the week and of the month together: either of them', () => {
    const runs = findNextRuns(on([1], [1]), new Date('2026-05-29T00:00Z'), 3);
    expect(iso(runs).map((at) => at.slice(0, 10))).toEqual(['2026-06-01', '2026-06-08', '2026-06-15']);
  });

  test('the day is the one of the zone, not of UTC', () => {
    const monday: Schedule = { time: '06:00', zone: 'Asia/Tokyo', weekdays: [1], monthDays: [] };
    expect(iso([findNextRun(monday, new Date('2026-11-21T00:00Z'))])).toEqual(['2026-11-22T21:00']);
  });

  test('without days there is no run', () => {
    expect(findNextRuns(on([], []), new Date(0), 3)).toEqual([]);
    expect(() => findNextRun(on([], []), new Date(0))).toThrow(RangeError);
  });
});

test('asking from any moment gives the same runs as asking from the beginning', () => {
  const from = Date.UTC(2026, 0, 1);
  fc.assert(
    fc.property(
      fc.constantFrom(...timeZones),
      fc.constantFrom('00:00', '01:30', '02:30', '12:00', '23:59'),
      fc.subarray(everyDay, { minLength: 1 }),
      fc.subarray([1, 15, 29, 31]),
      fc.integer({ min: 0, max: 300 * 86_400_000 }),
      (zone, time, weekdays, monthDays, ms) => {
        const schedule = { time, zone, weekdays, monthDays };
        const all = findNextRuns(schedule, new Date(from), 400);
        const after = new Date(from + ms);
        const expected = all.filter((at) => at > after).slice(0, 5);
        expect(findNextRuns(schedule, after, expected.length)).toEqual(expected);
      },
    ),
    { numRuns: 100 },
  );
});

test('only names of the IANA database are time zones', () => {
  for (const name of ['Europe/Vienna', 'UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])
    expect(isTimeZone(name)).toBe(true);
  for (const name of ['', 'Vienna', '+02:00', 'Europe/Vienna; drop', 'Mars/Olympus', 'note'])
    expect(isTimeZone(name)).toBe(false);
});

test('schedules in words', () => {
  expect([
    describeInVienna([5, 4, 3, 2, 1]),
    describeInVienna(everyDay),
    describeInVienna([1, 3, 5]),
    describeInVienna([], [1, 15]),
    describeInVienna([], [31]),
  ]).toMatchInlineSnapshot(`
    [
      "every workday at 09:00, Europe/Vienna",
      "every day at 09:00, Europe/Vienna",
      "every Monday, Wednesday and Friday at 09:00, Europe/Vienna",
      "on day 1 and 15 of the month at 09:00, Europe/Vienna",
      "on day 31 of the month (the last day where a month is shorter) at 09:00, Europe/Vienna",
    ]
  `);
  expect(describeNextRuns(daily('Europe/Vienna', '09:00'), new Date('2026-03-28T00:00Z'))).toBe(
    'Next: Sat 28 Mar 09:00, Sun 29 Mar 09:00 and Mon 30 Mar 09:00',
  );
  expect(formatRunTime(new Date('2026-03-28T23:30Z'), 'Europe/Vienna')).toBe('Sun 29 Mar 00:30');
});

function describeInVienna(weekdays: number[], monthDays: number[] = []): string {
  return describeSchedule({ time: '09:00', zone: 'Europe/Vienna', weekdays, monthDays });
}

test('every few hours: from its time until midnight, by the wall clock also when clocks change', () => {
  const schedule = { ...daily('Europe/Vienna', '08:30'), everyHours: 6 };
  expect(iso(findNextRuns(schedule, new Date('2026-10-24T05:00Z'), 7))).toEqual([
    '2026-10-24T06:30',
    '2026-10-24T12:30',
    '2026-10-24T18:30',
    '2026-10-25T07:30',
    '2026-10-25T13:30',
    '2026-10-25T19:30',
    '2026-10-26T07:30',
  ]);
  const hourly = { ...daily('Europe/Vienna', '00:00'), everyHours: 1 };
  // 02:00 and 03:00 are one moment on the day that leaves an hour out.
  expect(findNextRuns(hourly, new Date('2026-03-28T22:59Z'), 24).at(-1)?.toISOString()).toBe(
    '2026-03-29T22:00:00.000Z',
  );
  expect(describeSchedule(schedule)).toMatchInlineSnapshot(
    `"every day from 08:30 on every 6 hours, Europe/Vienna"`,
  );
});
