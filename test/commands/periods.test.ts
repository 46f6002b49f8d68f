import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PeriodClock } from '../../src/commands/moments.ts';
import { createPeriodError, findPeriod, splitPeriod } from '../../src/commands/periods.ts';
import { parseWords } from '../../src/commands/words.ts';
import { UserError } from '../../src/errors.ts';
import { minuteMs } from '../../src/lib/time.ts';
import { type Period } from '../../src/views/blocks/period.ts';

// A Saturday.
const now = new Date('2026-11-21T12:00:30Z');
const berlin = 'Europe/Berlin';

/** As far as it has passed, to the minute. */
const write = ({ from, to }: Period, at = now): string[] =>
  [from, Math.min(to, Math.floor(at.getTime() / minuteMs) * minuteMs)].map((at) =>
    new Date(at).toISOString().slice(2, 16).replace('26-', ''),
  );
function readPeriod(typed: string, clock: PeriodClock): Period {
  const period = findPeriod(typed, clock);
  if (period) return period;
  throw createPeriodError(typed, clock);
}

const read = (typed: string, timeZone = berlin, at = now) =>
  write(readPeriod(typed, { now: at, timeZone }), at);

function refuse(typed: string, timeZone = berlin, at = now): UserError {
  try {
    readPeriod(typed, {
      now: at,
      timeZone,
      command: 'errors',
    });
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
  throw new Error(`${typed} was not refused`);
}

/** What people type, by the moments from and until which it is read. */
const periods = `
25-11-02T23:00 25-11-03T23:00 ← nov 3, 2025
09-30T22:00 10-31T23:00 ← in october
10-28T23:00 11-02T23:00 ← 29 Oct to 2 Nov
10-22T12:00 11-21T12:00 ← month
10-31T23:00 11-21T12:00 ← this month / november / since november
25-10-31T23:00 25-11-30T23:00 ← last november /
  november 2025 / nov 2025
25-10-31T23:00 11-21T12:00 ← since last november
25-11-23T23:00 25-11-30T23:00 ← 2025-W48 / week 48 2025 / week 48 of 2025
11-08T23:00 11-21T12:00 ← since week 46
11-08T23:00 11-15T23:00 ← 2026-W46 / week 46 / KW46 / 2026w46 / calendar week 46
11-08T23:00 11-21T12:00 ← week 46 to 47 / week 46-47 / weeks 46 and 47 / KW46 - KW47 / 2026-W46..2026-W47
11-10T23:00 11-11T23:00 ← 2026-W46-3
11-07T12:00 11-21T12:00 ← last fortnight
11-09T23:00 11-12T23:00 ← from 10 to 12 nov
11-12T23:00 11-16T23:00 ← fri-mon
11-13T23:00 11-14T23:00 ← last saturday
11-13T23:00 11-15T23:00 ← last weekend
11-13T23:00 11-21T12:00 ← since last weekend
11-14T12:00 11-21T12:00 ← since last week / last week / 1w / week
11-15T23:00 11-16T23:00 ← on monday
11-15T23:00 11-18T23:00 ← mon-wed
11-15T23:00 11-21T12:00 ← this week / since the start of the week / 2026-W47 / wk 47
11-16T09:00 11-16T11:00 ← monday 10-12
11-17T23:00 11-20T23:00 ← 2026/11/20..2026/11/18 / 18..20 Nov / Nov 18-20
11-18T12:00 11-21T12:00 ← 3d / since 3 days
11-16T23:00 11-17T23:00 ← tues
11-18T23:00 11-19T23:00 ← 2 days ago / thur / thurs
11-18T23:00 11-20T23:00 ← 2026-11-19..2026-11-20
11-19T09:00 11-20T09:00 ← last 24h before yesterday 10:00
11-19T12:00 11-21T12:00 ← a couple of days
11-19T23:00 11-20T23:00 ← yesterday / 2026-11-20 / on 2026-11-20 / 2026/11/20 / 20 Nov / Nov 20 /
  20th of November 2026 /
  20-Nov / 20-Nov-2026 / Fri 20 Nov / friday, november 20th / fri 2026-11-20 / all day yesterday /
  the whole day yesterday / yesterday’s
11-19T23:00 11-21T12:00 ← yesterday and today / since yesterday
11-20T00:00 11-21T00:00 ← 2026-11-20T00:00Z..2026-11-21T00:00Z / 2026-11-20 UTC
11-20T04:30 11-20T06:30 ← 2026-11-20T10:00:00+05:30..2026-11-20T12:00:00+05:30
11-20T08:00 11-20T10:00 ← between 9 and 11 yesterday
11-20T08:00 11-20T23:00 ← yesterday 9am to midnight
11-20T09:00 11-20T11:00 ← from 10 to 12 nov 20 / 10-12 nov 20 2026 / yesterday from 10:00 to 12:00 /
  10:00..12:00 yesterday / on 20 Nov between 10:00 and 12:00 / 2026-11-20 10:00..12:00 /
  2026-11-20 10:00…12:00 / 2026-11-20 from 10 to 12 /
  10 to 12 yesterday / 2026-11-20 10-12
11-20T09:00 11-21T08:00 ← 10am yesterday to 9am today
11-20T09:00 11-21T12:00 ← since yesterday at 10am
11-20T10:00 11-20T12:00 ← 2026-11-20 10:00..12:00 UTC / 2026-11-20T10:00..12:00Z /
  2026-11-20T10:00:00.000Z..2026-11-20T12:00:00.000Z / 2026-11-20T10:00:00Z/2026-11-20T12:00:00Z /
  10am-12pm UTC yesterday / 20/Nov/2026:10:00:00 +0000 to 20/Nov/2026:12:00:00 +0000 /
  Fri, 20 Nov 2026 10:00:00 GMT to Fri, 20 Nov 2026 12:00:00 GMT /
  20261120T100000Z..20261120T120000Z / Fri Nov 20 10:00:00 UTC 2026 to Fri Nov 20 12:00:00 UTC 2026 /
  2026-11-20_10:00..2026-11-20_12:00 UTC / 1795168800..1795176000 / from 1795168800000 to 1795176000000
11-20T10:00 11-21T12:00 ← since 2026-11-20T10:00Z
11-20T11:00 11-21T12:00 ← yesterday since noon
11-20T11:00 11-20T13:00 ← yesterday noon until 2:00
11-20T12:00 11-21T12:00 ← 1440m / ２４ｈ
11-20T12:30 11-20T14:00 ← 1:30-3pm
11-20T15:00 11-20T16:00 ← 10:00..11:00 EST
11-20T15:00 11-20T17:00 ← 2026-11-20T10:00-05:00 to 2026-11-20T12:00-0500 /
  20/Nov/2026:10:00:00 -0500 to 20/Nov/2026:12:00:00 -0500
11-20T17:00 11-20T23:00 ← yesterday evening /
  20 nov evening / last evening / evening of the 20th of nov
11-20T19:00 11-21T05:00 ← last night /
  friday night / yesterday night
11-20T19:00 11-21T12:00 ← since last night
09-30T22:00 11-21T12:00 ← since october
10-01T00:00 11-21T12:00 ← since october utc
11-19T23:00 11-20T09:00 ← yesterday before 10am / before 10 yesterday / yesterday until 10
11-20T14:00 11-20T15:00 ← 15:00-16:00 / 1500-1600 / from 1500 to 1600 / yesterday 1500-1600 /
  1500-1600 yesterday /
  15-16h / 15h-16h / 15:00h-16:00h / yesterday 3-4pm
11-20T21:00 11-20T22:00 ← 22:00..23:00 / 10pm-11
11-20T21:00 11-21T02:00 ← 10pm to 3
11-20T21:00 11-20T23:00 ← 2026-11-20 22:00..24:00
11-20T21:00 11-21T01:00 ← 22:00..02:00 / yesterday 22:00..02:00 / yesterday 22:00..today 02:00
11-20T23:00 11-21T09:00 ← until 10:00 / before 10am / till 10 / by 10am / til 10
11-20T23:00 11-21T11:00 ← before noon / 2026-11-20T23:00..2026-11-21T11:00Z
11-20T23:00 11-21T12:00 ← today so far / this weekend / today / saturday
11-21T00:00 11-21T12:00 ← today UTC
11-21T05:00 11-21T11:00 ← this morning
11-21T05:00 11-21T12:00 ← since this morning
11-21T06:00 11-21T12:00 ← last 6h / 6h
11-21T07:00 11-21T12:00 ← since 8 today
11-21T08:00 11-21T09:00 ← 10:00-11:00 +02:00 /
  10:00-11:00 CEST / 3am-4am EST / 8am-9am UTC
11-21T08:30 11-21T09:15 ← 9h30 to 10h15
11-21T08:30 11-21T09:00 ← 9:30-10 / 9:30 to 10
11-21T08:30 11-21T11:00 ← 9:30 am to noon
11-21T08:00 11-21T12:00 ← 9am-5pm / 9-5pm
11-21T09:00 11-21T10:00 ← 10h-11h / 10:00..11:00 / 10:00 - 11:00 / 10am..11am / 10-11am /
  between 10am and 11 / １０：００－１１：００ / 10∶00‐11∶00 / 10:00 for 1h / for 1h from 10:00 /
  1h before 11:00 / 10:00-11:00 Europe/Berlin / 10h..11h / 10:00h-11:00h / ١٠:٠٠-١١:٠٠ / 10 o’clock to 11 o’clock /
  10:00 + 1h / 10:00/11:00 / 10 a.m. – 11 a.m. / 10:00-11:00 (CET) / 10:00-11:00 UTC +1
11-21T09:00 11-21T11:00 ← 10:00–12:00 / 10:00 — 12:00 / from 10 to 12 / from 10:00 to 12:00 /
  between 10:00 and 12:00 / 10-12 / 10 to 12
11-21T09:00 11-21T11:30 ← 10.00-12.30
11-21T09:00 11-21T12:00 ← 10:00 onwards / since 10 / last few hours / since 10:00 / today 10:00..23:00 /
  today from 10:00 / since 10:00 CET
11-21T09:15 11-21T12:00 ← since 2026-11-21T09:15:59.999Z
11-21T09:30 11-21T12:00 ← 2.5 hours / last 2 hours and a half
11-21T10:00 11-21T11:00 ← 2h..1h / 2h ago to 1h ago /
  now-2h..now-1h / -2h to -1h
11-21T10:00 11-21T12:00 ← the last two hours / -2h / since 2 hours ago / 2 hours ago
11-21T10:30 11-21T12:00 ← 1h30m / 1.5h / 1,5h / 1 hour and 30 minutes / an hour and a half / 1h30 /
  1½h /
  1.5 hours ago
11-21T11:00 11-21T12:00 ← for 1h / an hour ago / hour ago / last hour / in the last hour / now-1h / 1h..now / 10:00-11:00 UTC-1
11-21T11:30 11-21T12:00 ← Last 30 minutes / half an hour / half an hour ago / last half hour
11-21T11:45 11-21T12:00 ← a quarter of an hour
11-21T11:50 11-21T12:00 ← 10 min ago
11-21T12:00 11-21T12:00 ← this hour
`;

const rows = periods.replaceAll('\n  ', ' ').trim().split('\n');
test.each(rows.map((row) => row.split(' ← ') as [string, string]))('%s ← %s', (moments, typed) => {
  const [from, to] = moments.split(' ');
  for (const one of typed.split(' / ')) {
    const [begin, end] = read(one);
    // This hour has just begun.
    expect([one, begin, begin === to ? to : end]).toEqual([one, from, to]);
  }
});

const refused = `
last 0h / last 999999y / lst 6h / shop / 10 / 10:00 / 18..20 / 2026-13-01 / 2026-02-30 / 31 Feb / 29 Feb / 2026-11-20
10:00.. / ..12:00 / 10:00..11:00..12:00 / 25:00..26:00 / 13am..2pm / 2026-11-20 10:00..10:00 /
2026-11-22 / tomorrow / 22 Nov / 1 Dec / 2 Jan / 2026-11-19 24:00..2026-11-20 0:00 / today 13:10..13:20
/ 2026-11-18..25 / 11/20/2026 / mayflower 20 / 2026-W60 / 2025-W53 / 2025-2026 / 2026-11-20T10:00:00.000Z / whenever you
like / 18th to 20th / tonight / midnight / yesterday noon / 9-5 / 11:00-1:00 / yesterday 9 to 5 / Thu 20 Nov / monday and
thursday / 10:00-11:00 IST / 10:00-11:00 +99 / Fri, 20 Nov 2026 10:00:00 GMT / 20/Nov/2026:10:00:00 +0000
`;

test.each(refused.replaceAll('\n', ' ').trim().split(' / '))('%s is refused with what to type', (typed) => {
  const { message, hint } = refuse(typed);
  expect(`${message} ${hint}`).toMatchSnapshot();
});

describe('a day is never silently another one', () => {
  test.each([
    ['26 Nov', '2026-11-25T20:00:00Z', 'UTC', '26 Nov 2026', '2025-11-26'],
    ['26 Nov', '2026-11-25T20:00:00Z', 'America/Los_Angeles', '26 Nov 2026', '2025-11-26'],
    ['3 Jan', '2026-12-30T12:00:00Z', 'UTC', '3 Jan 2027', '2026-01-03'],
    ['20 Dec', '2026-11-25T20:00:00Z', 'UTC', '20 Dec 2026', '2025-12-20'],
    ['2 Jan', '2026-11-25T20:00:00Z', 'UTC', '2 Jan 2027', '2026-01-02'],
    ['29 Feb', '2028-02-28T12:00:00Z', 'UTC', '29 Feb 2028', '2027-02-28'],
    ['next thursday', '2026-11-25T20:00:00Z', 'UTC', '26 Nov 2026', '`today`'],
    ['next week', '2026-11-25T20:00:00Z', 'UTC', '26 Nov 2026', '`today`'],
    ['week 48', '2026-11-21T12:00:00Z', 'UTC', '23 Nov 2026', '`today`'],
    ['december', '2026-11-25T20:00:00Z', 'UTC', '1 Dec 2026', '2025-12-01'],
    ['28 Nov to 30 Nov', '2026-11-25T20:00:00Z', 'UTC', '28 Nov 2026', '2025-11-28'],
  ])('%s on %s in %s has not begun', (typed, at, zone, day, offered) => {
    const { message, hint } = refuse(typed, zone, new Date(at));
    expect(message).toContain(day);
    expect(hint).toContain(offered);
  });

  test.each([
    ['20 Nov', '2027-01-05T12:00:00Z', '11-20T00:00'],
    ['20 Jun', '2026-11-25T12:00:00Z', '06-20T00:00'],
    ['1 Mar', '2026-11-25T12:00:00Z', '03-01T00:00'],
    ['26 nov 25', '2026-11-27T12:00:00Z', '2025-11-26T00:00'.slice(2)],
  ])('%s on %s is the last one', (typed, at, from) => {
    expect(read(typed, 'UTC', new Date(at))[0]).toBe(from);
  });

  test('the day is that of the reader where it has begun there only', () => {
    const at = new Date('2026-11-25T20:00:00Z');
    expect(read('26 Nov', 'Pacific/Auckland', at)).toEqual(['11-25T11:00', '11-25T20:00']);
  });
});

test('what ends before it begins is turned round, and says so', () => {
  const clock = { now, timeZone: berlin };
  expect(readPeriod('2026-11-20 12:00..10:00', clock)).toEqual({
    ...readPeriod('2026-11-20 10:00..12:00', clock),
    isSwapped: true,
  });
});

describe('when clocks change', () => {
  test.each([
    ['2026-10-25', berlin, '2026-10-27T00:00:00Z', 25],
    ['2026-03-29', berlin, '2026-03-31T00:00:00Z', 23],
    ['2026-11-01', 'America/New_York', '2026-11-03T00:00:00Z', 25],
    // Clocks change at midnight.
    ['2026-04-24', 'Africa/Cairo', '2026-04-26T00:00:00Z', 23],
    // Half an hour.
    ['2026-04-05', 'Australia/Lord_Howe', '2026-04-07T00:00:00Z', 24.5],
    // Both hours of what comes twice.
    ['2026-10-25 02:00..03:00', berlin, '2026-10-27T00:00:00Z', 2],
    ['2026-10-25 01:30..02:30', berlin, '2026-10-27T00:00:00Z', 2],
    // 02:30 does not exist; it is 03:30.
    ['2026-03-29 02:30..04:00', berlin, '2026-03-30T00:00:00Z', 0.5],
    ['2-3am 25 Oct', berlin, '2026-10-27T00:00:00Z', 2],
    ['25-Oct-2026 02:00 for 1h', berlin, '2026-10-27T00:00:00Z', 1],
    ['29-Mar 2:30 for 1h', berlin, '2026-03-31T00:00:00Z', 1],
    ['1h before 3:00 2026-03-29', berlin, '2026-03-31T00:00:00Z', 1],
    ['sunday 1am to 4', berlin, '2026-10-27T00:00:00Z', 4],
    ['1am to 4 2026-03-29', berlin, '2026-03-31T00:00:00Z', 2],
    ['24 oct night', berlin, '2026-10-27T00:00:00Z', 11],
    ['28 mar night', berlin, '2026-03-31T00:00:00Z', 9],
    ['week 43 2026', berlin, '2026-10-27T00:00:00Z', 7 * 24 + 1],
    ['2-3am 25 Oct CEST', 'UTC', '2026-10-27T00:00:00Z', 1],
    ['1:30am-2:30am 1 nov', 'America/New_York', '2026-11-03T00:00:00Z', 2],
    ['1-2am 5 apr', 'Australia/Lord_Howe', '2026-04-07T00:00:00Z', 1.5],
    ['0-2am 24 apr', 'Africa/Cairo', '2026-04-26T00:00:00Z', 1],
    // The present offset of a zone that Node does not know.
    ['2-3am 25 Oct', '+02:00', '2026-10-27T00:00:00Z', 1],
  ])('%s in %s, read at %s, has %d hours', (typed, zone, at, hours) => {
    const { from, to } = readPeriod(typed, { now: new Date(at), timeZone: zone });
    expect((to - from) / 3_600_000).toBe(hours);
  });

  test('hours are those of the clock on their day, also where it was put back since', () => {
    expect(read('2026-10-24 10:00..11:00', berlin, new Date('2026-10-25T12:00:00Z'))).toEqual([
      '10-24T08:00',
      '10-24T09:00',
    ]);
  });
});

const split = (typed: string) => {
  const { subject, period } = splitPeriod(parseWords(typed), { now, timeZone: berlin });
  return [subject.join(' '), period && write(period)[0]];
};

const two = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'));

test.each(['2:00..3:00', '2:30..3:30'])('an hour that the clocks skip (%s) is told as that', (typed) => {
  expect(refuse(typed, berlin, new Date('2026-03-29T12:00:00Z')).message).toMatchSnapshot();
});

describe('subject and period', () => {
  test.each([
    ['shop', 'shop', undefined],
    ['shop last 3 days', 'shop', '11-18T12:00'],
    ['24h shop', 'shop', '11-20T12:00'],
    ['10:00-11:00 shop', 'shop', '11-21T09:00'],
    ['shop from yesterday at 10 am to today at 11 am', 'shop', '11-20T09:00'],
    ['shop in the last hour', 'shop', '11-21T11:00'],
    ['my shop yesterday', 'my shop', '11-19T23:00'],
    ['shop yesterday from 10 to 12', 'shop', '11-20T09:00'],
    ['shop today since 10:00', 'shop', '11-21T09:00'],
    ['shop since 3 days', 'shop', '11-18T12:00'],
    ['shop 2 days ago', 'shop', '11-18T23:00'],
    ['shop 2 days ago 10:00..11:00', 'shop', '11-19T09:00'],
    ['shop 10:00..11:00 2 days ago', 'shop', '11-19T09:00'],
    ['shop 16th-18th november', 'shop', '11-15T23:00'],
    ['shop 16.-18. november', 'shop', '11-15T23:00'],
    ['shop 10.00 to 11.00', 'shop', '11-21T09:00'],
    ['"20/11" today', '20/11', '11-20T23:00'],
    ['shop last night', 'shop', '11-20T19:00'],
    ['yesterday', '', '11-19T23:00'],
    ['zone week', 'zone week', undefined],
    ['zone week today', 'zone week', '11-20T23:00'],
    ['"today"', 'today', undefined],
    ['“24h” 1h', '24h', '11-21T11:00'],
    ['"last week" yesterday', 'last week', '11-19T23:00'],
    ['shop 2', 'shop 2', undefined],
    ['shop now', 'shop', undefined],
    ['shop right now', 'shop', undefined],
    ['zone now', 'zone now', undefined],
    ['zone right now', 'zone right now', undefined],
    ['"now"', 'now', undefined],
    ['Blog Two 24h', 'Blog Two', '11-20T12:00'],
    ['my half today', 'my half', '11-20T23:00'],
    ['1795168800', '1795168800', undefined],
    ['shop – yesterday', 'shop', '11-19T23:00'],
    ['shop | 24h', 'shop', '11-20T12:00'],
    ['shop after yesterday', 'shop', '11-20T23:00'],
    ['shop Nov 18 – 20, 2026', 'shop', '11-17T23:00'],
    ['shop 10:30 for 1h30', 'shop', '11-21T09:30'],
    ['yesterday west', 'west', '11-19T23:00'],
    ['since 10:00 met', 'met', '11-21T09:00'],
    ['first yesterday', 'first', '11-19T23:00'],
    ['for all yesterday', 'for all', '11-19T23:00'],
    ['shop "week 47" yesterday', 'shop week 47', '11-19T23:00'],
  ])('%s is %s from %s on', (typed, subject, from) => {
    expect(split(typed)).toEqual([subject, from]);
  });
});

test.each([
  ['shop week 47 yesterday', ['errors shop week 47', 'errors shop yesterday']],
  ['24h shop yesterday', ['errors shop 24h', 'errors shop yesterday']],
  ['shop last week of november', ['errors shop last week', 'errors shop november']],
  ['shop first week of november', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop early november', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop today & yesterday', ['errors shop today', 'errors shop yesterday']],
  ['shop 18, 19 and 20 Nov', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop 10:00 ± 15m', ['errors shop 10:00 for 1h', 'errors shop since 10:00']],
  ['shop 10:00-11:00 IST yesterday', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop UTC yesterday', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop half past ten', ['errors shop half past ten for 1h', 'errors shop since half past ten']],
  [
    'shop yesterday 9 to 5 UTC',
    ['errors shop 2026-11-20 9am..5pm UTC', 'errors shop 2026-11-20 9pm..5am UTC'],
  ],
  ['shop 9-5', ['errors shop 9am..5pm', 'errors shop 9pm..5am']],
  ['shop before yesterday', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop until friday', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop not today', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['20/11 shop', ['errors shop 2026-11-20']],
  ['shop 11/20 today', ['errors shop today', 'errors shop 11/20']],
  ['shop last night 10pm', ['errors shop last night', 'errors shop 10pm']],
  ['shop 10:00 11:00', ['errors shop 10:00 for 1h', 'errors shop since 10:00']],
  ['friday night 24h', ['errors 24h', 'errors friday night']],
  ['shop 20.11.', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop 5/6', ['errors shop 2026-05-06', 'errors shop 2026-06-05']],
  ['shop 31/12', ['errors shop 2025-12-31']],
  ['shop 3am', ['errors shop 3am for 1h', 'errors shop since 3am']],
  ['shop around 3:15 am', ['errors shop 3:15 am for 1h', 'errors shop since 3:15 am']],
  ['shop yesterday 3pm', ['errors shop yesterday 3pm for 1h', 'errors shop since yesterday 3pm']],
  ['shop a week ago', ['errors shop a week ago for 1h', 'errors shop since a week ago']],
  ['what happened at 3am UTC', ['errors 3am UTC for 1h', 'errors since 3am UTC']],
])('%s is refused, never another day', (typed, offered) => {
  const clock = { now, timeZone: berlin, command: 'errors' };
  let refused: unknown;
  try {
    splitPeriod(parseWords(typed), clock);
  } catch (error) {
    refused = error;
  }
  expect(refused).toBeInstanceOf(UserError);
  expect(refused).toMatchObject({ offer: offered.map((types) => ({ types })) });
});

test('in every zone a typed time is that time on the clocks there', () => {
  const zones =
    'UTC Europe/Berlin Asia/Kathmandu America/St_Johns Pacific/Chatham America/Los_Angeles +05:30 -03:00';
  fc.assert(
    fc.property(fc.constantFrom(...zones.split(' ')), two(22), two(59), (zone, hour, minute) => {
      const { from } = readPeriod(`2026-11-18 ${hour}:${minute}..23:59`, { now, timeZone: zone });
      const shown = new Intl.DateTimeFormat('sv-SE', {
        timeZone: zone,
        dateStyle: 'short',
        timeStyle: 'short',
      }).format(from);
      expect(shown).toBe(`2026-11-18 ${hour}:${minute}`);
    }),
  );
});

test('whatever is typed begins before it ends and has begun, or is refused', () => {
  const known =
    'last 6h 2026-11-20 10:00 .. 12:00 today now utc - 3 d … to since nov 20 10am z ago an monday 2026-11-20T10:00:00.5+01:00 night week 46 for 1h noon until and cest 15h november 9-5 Fri,';
  const words = fc.array(fc.constantFrom(...known.split(' ')), { maxLength: 6 });
  const zone = fc.constantFrom('UTC', berlin, 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Kiritimati');
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        words.map((list) => list.join(' ')),
      ),
      zone,
      (typed, timeZone) => {
        let period: Period;
        try {
          period = readPeriod(typed, { now, timeZone });
        } catch (error) {
          if (error instanceof UserError) return;
          throw error;
        }
        expect(period.from).toBeLessThan(period.to);
        expect(period.from).toBeLessThan(now.getTime());
        expect(period.isWholeDays || period.to < now.getTime() + minuteMs).toBe(true);
        expect(period.from % minuteMs).toBe(0);
      },
    ),
    { numRuns: 500 },
  );
});
