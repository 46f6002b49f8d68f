import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  andMore,
  countOf,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatMoney,
  formatNumber,
  formatPercent,
  formatPeriod,
  formatRoundMoney,
  listSome,
  pluralize,
} from '../../../src/views/blocks/format.ts';
import { createClock } from '../../../src/views/blocks/period.ts';
import {
  escapeMrkdwn,
  formatCode,
  plainText,
  truncate,
  truncateLines,
  unbold,
} from '../../../src/views/blocks/text.ts';

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];

test.each([
  [0, '1 second'],
  [1_001, '2 seconds'],
  [minute, '1 minute'],
  [99 * second, '99 seconds'],
  [100 * second, '2 minutes'],
  [90 * minute, '1 hour 30 minutes'],
  [601 * minute, '10 hours 1 minute'],
  [day + 5 * minute, '1 day'],
  [day + hour, '1 day 1 hour'],
  [day - 1, '1 day'],
  [100 * day, '100 days'],
])('%i ms is read as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('every duration up to a hundred days has at most two units, none of them zero or too large', () => {
  const limits: Readonly<Record<string, number>> = { second: 100, minute: 60, hour: 24, day: 101 };
  for (let ms = 1; ms < 100 * day; ms += Math.ceil(ms / 97)) {
    const parts = [...formatDuration(ms).matchAll(/(\d+) (second|minute|hour|day)(s?)/gu)];
    expect(parts.length).toBeLessThanOrEqual(2);
    for (const [, count, unit = '', many] of parts) {
      expect(Number(count)).toBeGreaterThan(0);
      expect(Number(count)).toBeLessThan(limits[unit] ?? 0);
      expect(many === 's').toBe(Number(count) !== 1);
    }
  }
});

test.each([
  [1, 'minute'],
  [60, 'hour'],
  [90, '90 minutes'],
  [120, '2 hours'],
  [150, '2 hours 30 minutes'],
  [601, '10 hours 1 minute'],
  [1440, '24 hours'],
  [2880, '2 days'],
])('%d minutes are the last %s', (minutes, words) => {
  expect(formatPeriod(minutes)).toBe(words);
});

test.each([
  [0, 'no zones', '0 zones'],
  [1, '1 zone', '1 zone'],
  [1_000, '1,000 zones', '1,000 zones'],
])('%s begins a sentence as "%s", and is "%s" behind another word', (count, subject, counted) => {
  expect(pluralize(count, 'zone')).toBe(subject);
  expect(formatCount(count, 'zone')).toBe(counted);
});

test('a count that is not known says so', () => {
  expect(pluralize(undefined, 'zone')).toBe('zones not reported');
});

test.each([
  [0, 240, '0 of 240 zones'],
  [1, 1, '1 of 1 zone'],
  [3, 1_000, '3 of 1,000 zones'],
  [0, 0, '0 of 0 zones'],
])('%i of %i zones are counted as %s', (some, all, text) => {
  expect(countOf(some, all, 'zone')).toBe(text);
});

test.each([
  [-1, '', ''],
  [0, '', ''],
  [1, 'and 1 more', 'and 1 more zone'],
  [1_000, 'and 1,000 more', 'and 1,000 more zones'],
])('%i more than are listed end the list as "%s"', (count, plain, named) => {
  expect([andMore(count), andMore(count, 'zone')]).toEqual([plain, named]);
});

test('a list names as many as it may and counts the rest', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c', 'd']].map((names) => listSome(names, 2))).toEqual([
    '',
    'a',
    'a, b',
    'a, b and 2 more',
  ]);
});

test.each([
  [0, '0 B'],
  [999.4, '999 B'],
  [999.6, '1 kB'],
  [-5e6, '-5 MB'],
  [1000, '1 kB'],
  [1_240_000_000, '1.24 GB'],
  [9_999, '10 kB'],
  [99_960, '100 kB'],
  [999_499, '999 kB'],
  [999_999_999, '1 GB'],
  [1234e12, '1,234 TB'],
])('%d bytes read as %s', (amount, text) => {
  expect(formatBytes(amount)).toBe(text);
});

test.each([
  [0, 100, '0%'],
  [0.4, 100, 'under 1%'],
  [80.5, 100, '80%'],
  [99.99, 100, '99%'],
  [100, 100, '100%'],
  [1500, 100, '1,500%'],
  [0, 0, '–'],
  [5, 0, '–'],
])('%d of %d is %s: never rounded up to a limit', (part, whole, text) => {
  expect(formatPercent(part, whole)).toBe(text);
});

test('no number of bytes has more than three digits before its unit, below 1,000 TB', () => {
  for (let amount = 1; amount < 999e12; amount += Math.ceil(amount / 53)) {
    const [, size = '', decimals = ''] =
      /^(\d+)(?:\.(\d+))? (?:B|kB|MB|GB|TB)$/u.exec(formatBytes(amount)) ?? [];
    expect(`${amount}: ${size.length > 0 && size.length + decimals.length <= 3}`).toBe(`${amount}: true`);
  }
});

test.each([
  [0, '$0.00', '$0.00'],
  [0.004, 'under $0.01', 'under $0.01'],
  [0.005, '$0.01', '$0.01'],
  [-3.5, '-$3.50', '-$3.50'],
  [-0.001, '$0.00', '$0.00'],
  [-0, '$0.00', '$0.00'],
  [99.99, '$99.99', '$99.99'],
  [99.996, '$100.00', '$100'],
  [1234.5, '$1,234.50', '$1,235'],
])('%d dollars are %s, and %s in a sentence', (amount, exact, rounded) => {
  expect([formatMoney(amount), formatRoundMoney(amount)]).toEqual([exact, rounded]);
});

test.each([
  [0, '0'],
  [0.00034, '0.00034'],
  [12.345, '12.35'],
  [-1.5, '-1.5'],
  [999_999.999, '1,000,000'],
])('%d without a unit is %s', (value, text) => {
  expect(formatNumber(value)).toBe(text);
});

test('a moment is drawn by Slack in the reader’s zone, with UTC behind it', () => {
  const at = new Date('2026-11-21T12:00:59.900Z');
  expect(formatMoment(at)).toBe('<!date^1795262459^{date_short_pretty} {time}|2026-11-21 12:00 UTC>');
});

test('foreign text loses its markup, line breaks and direction marks', () => {
  expect(escapeMrkdwn('<!here> & <https://evil|ok>')).toBe('&lt;!here&gt; &amp; &lt;https://evil|ok&gt;');
  expect(escapeMrkdwn('two\nlines\u202Eback')).toBe('two linesback');
  expect(formatCode('`x`')).toBe('`ˋxˋ`');
  expect(formatCode('')).toBe('(empty)');
  expect(plainText('', 10)).toBe('–');
});

test('cutting is visible and never splits a character', () => {
  expect(truncate('abcdef', 4)).toBe('abc…');
  expect(truncate('ab😀cd', 4)).toBe('ab…');
});

test('a list that does not fit says how much is missing', () => {
  expect(truncateLines(['one', 'two', 'three'], 100)).toBe('one\ntwo\nthree');
  expect(truncateLines(['one', 'two', 'three'], 15)).toBe('one\nand 2 more');
  expect(truncateLines([], 10)).toBe('');
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 300 })),
      fc.integer({ min: 20, max: 3000 }),
      (lines, length) => {
        const text = truncateLines(
          lines.map((line) => escapeMrkdwn(line)),
          length,
        );
        expect(text.length).toBeLessThanOrEqual(length);
        expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/u);
      },
    ),
  );
});

test.each([
  ['*240 zones* · $5', '240 zones · $5'],
  [':warning: *27 need* of *240*.', ':warning: 27 need of 240.'],
  ['*.example.com and *.example.org', '*.example.com and *.example.org'],
  ['2 * 3 * 4', '2 * 3 * 4'],
])('%s in a notification is %s', (text, plain) => {
  expect(unbold(text)).toBe(plain);
});

test.each([
  ['Europe/Vienna', '22 Sep', '00:05', '00:05'],
  ['America/New_York', '21 Sep', '18:05', '18:05'],
  [undefined, '21 Sep', '22:05', '22:05'],
])('a moment by the clock of %s', (zone, day, time, hour) => {
  const at = Date.parse('2026-09-21T22:05:00Z');
  const clock = createClock(zone);
  expect([clock.day(at), clock.time(at), clock.hour(at)]).toEqual([day, time, hour]);
});

test.each([
  ['Europe/Vienna', '2026-10-25T00:55Z', '02:55 +02:00', '02:55 +02:00'],
  ['Europe/Vienna', '2026-10-25T01:00Z', '02:00 +01:00', '02 +01:00'],
  ['Europe/Vienna', '2026-10-25T02:00Z', '03:00', '03'],
  ['America/New_York', '2026-11-01T05:30Z', '01:30 -04:00', '01:30 -04:00'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z', '01:30 +10:30', '01:30 +10:30'],
])('an hour that comes twice in %s has its offset: %s', (zone, at, time, hour) => {
  const clock = createClock(zone);
  expect([clock.time(Date.parse(at)), clock.hour(Date.parse(at))]).toEqual([time, hour]);
});

test.each([
  ['UTC', '22'],
  ['Europe/Vienna', '00'],
  ['Asia/Kolkata', '03:30'],
])('a full hour in UTC is %s %s', (zone, hour) => {
  expect(createClock(zone).hour(Date.parse('2026-09-21T22:00:00Z'))).toBe(hour);
});
