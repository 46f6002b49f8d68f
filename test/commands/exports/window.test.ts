import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkEventLogWindow } from '../../../src/api/event-logs.ts';
import {
  correctWindow,
  defaultWindow,
  endsInTime,
  readWindow,
} from '../../../src/commands/exports/window.ts';
import { UserError } from '../../../src/errors.ts';

const now = new Date('2026-11-21T12:00:30Z');
const berlin = 'Europe/Berlin';
/** Anything but a UserError is thrown on. */
function windowOr(typed: string): ReturnType<typeof readWindow> | 'refused' {
  try {
    return readWindow(typed, now, berlin);
  } catch (error) {
    if (error instanceof UserError) return 'refused';
    throw error;
  }
}

const read = (typed: string, zone = berlin, at = now): string[] => {
  const { from, to } = readWindow(typed, at, zone);
  return [from.toISOString(), to.toISOString()].map((text) => text.slice(5, 16));
};

test.each([
  ['last 6h', '11-21T06:00', '11-21T12:00'],
  ['6h', '11-21T06:00', '11-21T12:00'],
  ['Last 30 minutes', '11-21T11:30', '11-21T12:00'],
  ['past 2 hours', '11-21T10:00', '11-21T12:00'],
  ['last 2 days', '11-19T12:00', '11-21T12:00'],
  ['today', '11-20T23:00', '11-21T12:00'],
  ['yesterday', '11-19T23:00', '11-20T23:00'],
  ['2026/11/20', '11-19T23:00', '11-20T23:00'],
  ['2026-11-20', '11-19T23:00', '11-20T23:00'],
  ['2026-11-20 10:00..12:00', '11-20T09:00', '11-20T11:00'],
  ['2026-11-20 10:00…12:00', '11-20T09:00', '11-20T11:00'],
  ['2026-11-20 10:00 .. 12:00', '11-20T09:00', '11-20T11:00'],
  ['2026-11-20 10:00 to 12:00', '11-20T09:00', '11-20T11:00'],
  ['2026-11-20T10:00..2026-11-21T09:30', '11-20T09:00', '11-21T08:30'],
  ['2026-11-20 10:00..12:00 UTC', '11-20T10:00', '11-20T12:00'],
  ['2026-11-20 10:00..12:00Z', '11-20T10:00', '11-20T12:00'],
  ['yesterday 22:00..today 02:00', '11-20T21:00', '11-21T01:00'],
  ['22:00..02:00', '11-20T21:00', '11-21T01:00'],
  ['22:00..23:00', '11-20T21:00', '11-20T22:00'],
  ['10:00..now', '11-21T09:00', '11-21T12:00'],
  ['09:00..11:00', '11-21T08:00', '11-21T10:00'],
  ['2026-11-20 22:00..24:00', '11-20T21:00', '11-20T23:00'],
  ['2026-11-19..2026-11-20', '11-18T23:00', '11-20T23:00'],
  // What has not come yet is left out.
  ['today 10:00..23:00', '11-21T09:00', '11-21T12:00'],
])('%s', (typed, from, to) => {
  expect(read(typed)).toEqual([from, to]);
});

test.each([
  'last 0h',
  'lst 6h',
  'shop',
  '10',
  '10:00',
  '2026-13-01',
  '2026-02-30',
  '2026-11-20 10:00..',
  '..12:00',
  '10:00..11:00..12:00',
  '25:00..26:00',
  '2026-11-20 10:00..10:00',
  '2026-11-22',
])('%s is refused with what can be typed', (typed) => {
  expect(() => read(typed)).toThrow(UserError);
});

test('what ends before it begins is turned round, and says so', () => {
  expect(readWindow('2026-11-20 12:00..10:00', now, berlin)).toEqual({
    ...readWindow('2026-11-20 10:00..12:00', now, berlin),
    swapped: true,
  });
});

describe('when clocks change', () => {
  test('the day of 25 hours has them, and the day of 23', () => {
    const long = readWindow('2026-10-25', new Date('2026-10-27T00:00:00Z'), berlin);
    expect(long.to.getTime() - long.from.getTime()).toBe(25 * 3_600_000);
    const short = readWindow('2026-03-29', new Date('2026-03-31T00:00:00Z'), berlin);
    expect(short.to.getTime() - short.from.getTime()).toBe(23 * 3_600_000);
  });
  test('an hour that does not exist is the one after', () => {
    expect(read('2026-03-29 02:30..04:00', berlin, new Date('2026-03-30T00:00:00Z'))).toEqual([
      '03-29T01:30',
      '03-29T02:00',
    ]);
  });
});

test('in every zone a typed time is that time on the clocks there', () => {
  const zones = [
    'UTC',
    berlin,
    'Asia/Kathmandu',
    'America/St_Johns',
    'Pacific/Chatham',
    'America/Los_Angeles',
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 22 }),
      fc.integer({ min: 0, max: 59 }),
      (zone, hour, minute) => {
        const time = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
        const { from } = readWindow(`2026-11-18 ${time}..23:59`, now, zone);
        const shown = new Intl.DateTimeFormat('sv-SE', {
          timeZone: zone,
          dateStyle: 'short',
          timeStyle: 'short',
        }).format(from);
        expect(shown).toBe(`2026-11-18 ${time}`);
      },
    ),
  );
});

test('whatever is typed is a window that begins before it ends and does not reach into the future, or a UserError', () => {
  const words = fc.array(
    fc.constantFrom(
      'last',
      '6h',
      '2026-11-20',
      '10:00',
      '..',
      '12:00',
      'today',
      'now',
      'utc',
      '-',
      '3',
      'd',
      '…',
    ),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        words.map((list) => list.join(' ')),
      ),
      (typed) => {
        const window = windowOr(typed);
        if (window === 'refused') return;
        expect(window.from.getTime()).toBeLessThan(window.to.getTime());
        expect(window.to.getTime()).toBeLessThanOrEqual(now.getTime());
      },
    ),
  );
});

test('a window that ends within the 72 hours is taken wherever it begins, at any second of a minute', () => {
  fc.assert(
    fc.property(fc.nat({ max: 59_999 }), fc.integer({ min: 1, max: 90 }), (ms, hours) => {
      const at = new Date(Date.UTC(2026, 10, 21, 12) + ms);
      const ended = new Date(at.getTime() - hours * 3_600_000);
      const window = { from: new Date(0), to: ended };
      expect(endsInTime(window, at)).toBe(hours < 72);
      const isTaken = hours >= 72 || checkEventLogWindow(window, at.getTime()) === undefined;
      expect(isTaken).toBe(true);
    }),
  );
  expect(defaultWindow(now).to.getTime() - defaultWindow(now).from.getTime()).toBe(24 * 3_600_000);
});

test('whatever window is corrected, the CDN takes it', () => {
  const moment = fc.option(
    fc.integer({ min: -120, max: 48 }).map((hours) => new Date(now.getTime() + hours * 3_600_000)),
    { nil: undefined },
  );
  fc.assert(
    fc.property(moment, moment, (from, to) => {
      const corrected = correctWindow(from, to, now);
      expect(() => checkEventLogWindow(corrected, now.getTime())).not.toThrow();
      expect(now.getTime() - corrected.from.getTime()).toBeLessThan(72 * 3_600_000);
    }),
  );
});
