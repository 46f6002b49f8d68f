import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readButton } from '../../../src/commands/origin-errors/buttons.ts';
import { readRequestedPeriod } from '../../../src/commands/origin-errors/period.ts';
import { UserError } from '../../../src/errors.ts';
import { minuteMs } from '../../../src/lib/time.ts';
import { boundsOf, findBefore, type Period, writePeriod } from '../../../src/views/origin-errors/period.ts';
import { encodeQuestion } from '../../../src/views/origin-errors/question.ts';

const now = new Date('2026-11-21T12:00:30Z');
const berlin = 'Europe/Berlin';

const read = (typed: string, at = now, zone = berlin) => readRequestedPeriod(typed.split(' '), at, zone);
const write = ({ from, to }: { from: number; to: number }) =>
  [from, to].map((at) => new Date(at).toISOString().slice(5, 16));

test.each([
  ['shop 1h', '11-21T11:00', '11-21T12:01'],
  ['shop last hour', '11-21T11:00', '11-21T12:01'],
  ['24h shop', '11-20T12:00', '11-21T12:01'],
  ['shop past 90 minutes', '11-21T10:30', '11-21T12:01'],
  ['shop 30m', '11-21T11:30', '11-21T12:01'],
  ['shop 10:00..11:00', '11-21T09:00', '11-21T10:00'],
  ['10:00-11:00 shop', '11-21T09:00', '11-21T10:00'],
  ['shop 10:00 - 11:00', '11-21T09:00', '11-21T10:00'],
  ['shop 10:00 to 11:00', '11-21T09:00', '11-21T10:00'],
  ['shop 2026-11-20 10:00..12:00', '11-20T09:00', '11-20T11:00'],
  ['shop 2026-11-20 10:00..12:00 UTC', '11-20T10:00', '11-20T12:00'],
  ['shop 2026-11-20T10:00..12:00Z', '11-20T10:00', '11-20T12:00'],
  ['shop yesterday 22:00..today 02:00', '11-20T21:00', '11-21T01:00'],
  ['shop 22:00..02:00', '11-20T21:00', '11-21T01:00'],
  // Later than now: that of yesterday is meant.
  ['shop 22:00..23:00', '11-20T21:00', '11-20T22:00'],
  ['shop since 10:00', '11-21T09:00', '11-21T12:01'],
  ['shop 10:00..now', '11-21T09:00', '11-21T12:01'],
  ['shop since yesterday 10:00', '11-20T09:00', '11-21T12:01'],
])('%s is from %s to %s', (typed, ...wanted) => {
  const { zone, period } = read(typed);
  expect([zone, ...write(boundsOf(period))]).toEqual(['shop', ...wanted]);
});

test('hours are those of the clock on their day, also where it was put back since', () => {
  const { period } = read('shop 2026-10-24 10:00..11:00', new Date('2026-10-25T12:00:00Z'));
  expect(write(boundsOf(period))).toEqual(['10-24T08:00', '10-24T09:00']);
});

test.each([
  ['1h', '11-21T10:00', '11-21T11:00'],
  ['30h', '11-19T06:00', '11-20T06:00'],
  ['10:00..10:30', '11-21T08:30', '11-21T09:00'],
  ['today', '11-20T00:00', '11-21T00:00'],
  ['last 3 days', '11-18T00:00', '11-19T00:00'],
])('%s is compared with the time from %s to %s', (typed, ...wanted) => {
  expect(write(findBefore(read(`shop ${typed}`).period))).toEqual(wanted);
});

test.each(['shop 10:00', 'shop 0h', 'shop 25:00..26:00', 'shop 200h', '10:00', 'shop today 13:10..13:20'])(
  '%s is refused with what is wrong and what is right',
  (typed) => {
    expect(() => read(typed)).toThrow(UserError);
    expect(() => read(typed)).toThrowErrorMatchingSnapshot();
  },
);

const two = fc.integer({ min: 0, max: 99 }).map((number) => String(number).padStart(2, '0'));
const clock = fc.tuple(two, two).map((parts) => parts.join(':'));
const day = fc.constantFrom('', 'today ', 'yesterday ', '2026-11-20 ', '2026-03-29 ', '2026-10-25T');
const typedPeriod = fc.oneof(
  fc.tuple(fc.nat(400), fc.constantFrom('h', 'm', ' hours', ' minutes', 'd')).map((parts) => parts.join('')),
  fc
    .tuple(day, clock, fc.constantFrom('..', ' to ', '-', '…'), day, clock, fc.constantFrom('', 'Z', ' UTC'))
    .map((parts) => parts.join('')),
  fc.tuple(fc.constant('since '), day, clock).map((parts) => parts.join('')),
);

test('whatever is typed is a time of whole minutes in at most seven days that have begun, or refused', () => {
  const zones = ['UTC', berlin, 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Kiritimati'];
  const at = fc.date({
    min: new Date('2026-11-20T00:00:00Z'),
    max: new Date('2026-11-22T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(typedPeriod, at, fc.constantFrom(...zones), (typed, now, zone) => {
      let period: Period;
      try {
        ({ period } = readRequestedPeriod(['shop', ...typed.split(' ')], now, zone));
      } catch (error) {
        if (error instanceof UserError) return;
        throw error;
      }
      const { from, to } = boundsOf(period);
      expect([from % minuteMs, to % minuteMs]).toEqual([0, 0]);
      expect(from).toBeLessThan(to);
      expect(from).toBeLessThanOrEqual(now.getTime());
      const { first, count } = period.days;
      expect(count).toBeLessThanOrEqual(7);
      expect(first).toBe(new Date(from).toISOString().slice(0, 10));
      expect(new Date(to - 1).toISOString().slice(0, 10)).toBe(
        new Date(Date.parse(first) + (count - 1) * 86_400_000).toISOString().slice(0, 10),
      );

      // What Share types means the same to every reader, and a button at every press.
      const later = new Date(now.getTime() + 3_600_000);
      const again = readRequestedPeriod(['shop', writePeriod(period)], later, 'America/New_York').period;
      expect(boundsOf(again)).toMatchObject({ from, to });
      const question = { zone: { id: '1', name: 'shop' }, period, filters: {} };
      expect(readButton(encodeQuestion(question), now).period).toEqual(period);
    }),
    { numRuns: 500 },
  );
});
