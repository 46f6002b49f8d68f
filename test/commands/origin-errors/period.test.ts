import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRequestedPeriod } from '../../../src/commands/origin-errors/feature.ts';
import { parseWords } from '../../../src/commands/words.ts';
import { UserError } from '../../../src/errors.ts';
import { minuteMs } from '../../../src/lib/time.ts';
import { daysOf, type Period, writeMovingPeriod, writePeriod } from '../../../src/views/blocks/period.ts';
import { findBefore } from '../../../src/views/origin-errors/question.ts';

const now = new Date('2026-11-21T12:00:30Z');
const berlin = 'Europe/Berlin';

const read = (typed: string, at = now, zone = berlin) => readRequestedPeriod(parseWords(typed), at, zone);
const write = ({ from, to }: { from: number; to: number }) =>
  [from, to].map((at) => new Date(at).toISOString().slice(5, 16));

test.each([
  ['1h', 'hour before', '11-21T10:00', '11-21T11:00'],
  ['', '24 hours before', '11-19T12:00', '11-20T12:00'],
  ['10:00..10:30', '30 minutes before', '11-21T08:30', '11-21T09:00'],
  ['today UTC', 'same time the day before', '11-20T00:00', '11-20T12:01'],
  ['today', 'same time the day before', '11-19T23:00', '11-20T12:01'],
  ['since 10:00', 'same time the day before', '11-20T09:00', '11-20T12:01'],
  ['yesterday', 'day before', '11-18T23:00', '11-19T23:00'],
  ['20 Nov UTC', 'day before', '11-19T00:00', '11-20T00:00'],
])('%j is compared with an equal time, the %s', (typed, name, ...wanted) => {
  const before = findBefore(read(`shop ${typed}`).period, now);
  expect([before?.name, ...write(before ?? { from: 0, to: 0 })]).toEqual([name, ...wanted]);
});

test.each([
  ['my shop', 'my shop'],
  ['zone 1001', 'zone 1001'],
  ['shop week 46', 'shop'],
  ['week 46 shop', 'shop'],
  ['"shop 2"', 'shop 2'],
  ['my shop yesterday', 'my shop'],
])('%s names the zone %s', (typed, zone) => {
  expect(read(typed).zone).toBe(zone);
});

test('more than a day is compared with nothing', () => {
  expect(findBefore(read('shop last 3 days').period, now)).toBeUndefined();
});

test.each([
  ['shop 10:00', ['errors shop 10:00 for 1h', 'errors shop since 10:00']],
  ['shop 200h', ['errors shop last 7 days', 'errors shop yesterday']],
  ['shop at ten', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop since deploy', ['errors shop 24h', 'errors shop today', 'errors shop yesterday']],
  ['shop this sunday', ['errors shop today', 'errors shop yesterday']],
  ['shop yesteday', ['errors shop yesterday']],
  ['shop 22 Nov', ['errors shop today', 'errors shop 2025-11-22']],
  ['shop 11/20/2026', ['errors shop 2026-11-20']],
  ['shop 3.11.2026', ['errors shop 2026-03-11', 'errors shop 2026-11-03']],
  ['shop 31 Feb', ['errors shop today', 'errors shop yesterday']],
  ['shop last month', ['errors shop last 7 days', 'errors shop yesterday']],
  ['10:00', ['errors 10:00 for 1h', 'errors since 10:00']],
  ['what happened at 3am', ['errors 3am for 1h', 'errors since 3am']],
  ['week 60', ['errors 24h', 'errors today', 'errors yesterday']],
])('%s is refused, and %j offered', (typed, offered) => {
  const refuse = (): UserError => {
    try {
      read(typed);
    } catch (error) {
      if (error instanceof UserError) return error;
      throw error;
    }
    throw new Error('it was not refused');
  };
  const { offer, message } = refuse();
  expect(message).not.toBe('');
  expect(Array.isArray(offer) ? offer.map(({ types }) => types) : offer).toEqual(offered);
});

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
        ({ period } = read(`shop ${typed}`, now, zone));
      } catch (error) {
        if (error instanceof UserError) return;
        throw error;
      }
      const { from, to } = period;
      expect([from % minuteMs, to % minuteMs]).toEqual([0, 0]);
      expect(from).toBeLessThan(to);
      expect(from).toBeLessThanOrEqual(now.getTime());
      const { first, count } = daysOf(period);
      // Seven days that begin at noon are in eight logs.
      expect(count).toBeLessThanOrEqual(8);
      expect(first).toBe(new Date(from).toISOString().slice(0, 10));
      expect(new Date(to - 1).toISOString().slice(0, 10)).toBe(
        new Date(Date.parse(first) + (count - 1) * 86_400_000).toISOString().slice(0, 10),
      );

      // What Share types means the same to every reader, and a button at every press.
      const later = new Date(now.getTime() + 3_600_000);
      const again = read(`shop ${writePeriod(period)}`, later, 'America/New_York').period;
      expect(again).toMatchObject({ from, to });
      // In its first minute nothing can be typed.
      if (period.isOpen && to - from === minuteMs) return;
      const moving = read(`shop ${writeMovingPeriod(period)}`, now, zone).period;
      expect([moving.from, moving.to, moving.last]).toEqual([from, to, period.last]);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['8d', 8],
  ['last 2 weeks', 14],
  ['30d', 30],
  ['192h', 8],
])('%s is refused with the days that it has', (typed, days) => {
  expect(() => read(typed)).toThrow(new RegExp(` 7 days .* ${days} days`, 'u'));
});
