import { isExists } from 'date-fns/isExists';
import { type Instead, UserError } from '../../errors.ts';
import { type DayRange, dayMs, shiftDay, startOfDay, toUtcDay } from '../../lib/time.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { capitalize, formatCode } from '../../views/blocks/text.ts';
import { quoteWord } from '../../views/zones/rows.ts';
import { findClosest } from '../did-you-mean.ts';

export const maxDays = 7;

const acceptedDays =
  'Type `today`, a day such as `2026-11-20` or `20 Nov`, days such as `2026-11-18..20` or `last 3 days`, or hours such as `1h`, `10:00..11:00` or `2026-11-20 10:00..12:00`.';

/**
 * Parses `today`, `2026-11-20`, `2026/11/20`, `20 Nov`, `2026-11-18..20`, `last 3 days`; undefined if it is none.
 * Throws a UserError for impossible days and for too many; if the `zone` is known, it offers possible ones.
 */
export function readDays(typed: string, now: Date, zone = ''): DayRange | undefined {
  const words = typed.trim().toLowerCase();
  const today = toUtcDay(now);
  if (words === 'today') return { first: today, count: 1 };
  if (words === 'yesterday') return { first: shiftDay(today, -1), count: 1 };
  if (/^(?:(?:(?:the )?last |past )?week|1 ?w(?:eek)?)$/u.test(words))
    return { first: shiftDay(today, 1 - maxDays), count: maxDays };
  const last =
    /^(?:(?:the )?last |past )?(\d{1,9}) ?d(?:ays?)?$/u.exec(words) ?? /^last (\d{1,9})$/u.exec(words);
  if (last) return readLastDays(Number(last[1]), today, zone);
  if (/^(?:(?:the )?last|past|this) month$/u.test(words)) return readLastDays(30, today, zone);
  const date = findDate(words, today);
  if (date) return readDay(words, date, today, zone);
  const [from = '', to] = words.split(/ ?(?:\.{2,3}|…) ?| (?:to|until|till|-) /u);
  return to === undefined ? undefined : readRange(from, to, now, zone);
}

const isPart = (words: string) => /^\d{1,2}$/u.test(words);

/** `2026-11-18..20`, `18..20 Nov`, `20 Nov to today`: an end that is a number alone is in the month of the other. */
function readRange(from: string, to: string, now: Date, zone: string): DayRange | undefined {
  const month = readDays(isPart(from) ? to : from, now, zone)?.first.slice(0, 8);
  const ends = [from, to].map((words) => readDays(isPart(words) ? `${month}${words}` : words, now, zone));
  if (ends.some((end) => end?.count !== 1)) return undefined;
  const [first = '', last = ''] = ends.map((end) => end?.first ?? '').toSorted();
  const count = (startOfDay(last) - startOfDay(first)) / dayMs + 1;
  if (count <= maxDays) return { first, count };
  throw createLengthError(count, `${shiftDay(last, 1 - maxDays)}..${last}`, toUtcDay(now), zone);
}

const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

/** Year, month and day of `2026-11-20`, `2026/11/20`, `20 Nov` or `November 20, 2026`; without a year the latest one. */
function findDate(words: string, today: string): number[] | undefined {
  const [, year, , month, date] = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/u.exec(words) ?? [];
  if (year) return [year, month, date].map(Number);
  const [, before, name, behind, named] =
    /^(?:(\d{1,2})(?:st|nd|rd|th|\.)? )?([a-z]{3,9})(?:\.? (\d{1,2})(?:st|nd|rd|th)?)?(?:,? (\d{4}))?$/u.exec(
      words,
    ) ?? [];
  const at = months.findIndex((one) => name !== undefined && one.startsWith(name)) + 1;
  if (at === 0 || (before === undefined) === (behind === undefined)) return undefined;
  const day = Number(before ?? behind);
  const hasBegun = at * 100 + day <= Number(today.slice(5).replace('-', ''));
  return [Number(named ?? Number(today.slice(0, 4)) - (hasBegun ? 0 : 1)), at, day];
}

function readLastDays(number: number, today: string, zone: string): DayRange {
  if (number >= 1 && number <= maxDays) return { first: shiftDay(today, 1 - number), count: number };
  throw createLengthError(number, `last ${maxDays} days`, today, zone);
}

function createLengthError(count: number, nearest: string, today: string, zone: string): UserError {
  return new UserError(
    `Origin errors can be read for 1 to ${maxDays} days at once, not for ${pluralize(count, 'day')}.`,
    `Type \`${nearest}\`, or a single day such as \`${shiftDay(today, -maxDays)}\`.`,
    createInsteads(zone, [nearest, 'today']),
  );
}

function readDay(typed: string, date: number[], today: string, zone: string): DayRange {
  const [year = 0, month = 0, day = 0] = date;
  const insteads = createInsteads(zone, ['today', 'yesterday']);
  if (!isExists(year, month - 1, day))
    throw new UserError(
      `There is no day ${formatCode(typed, 20)}.`,
      'Year first, then month and day: `2026-11-20`.',
      insteads,
    );
  const first = toUtcDay(new Date(Date.UTC(year, month - 1, day)));
  if (first <= today) return { first, count: 1 };
  throw new UserError(
    `${formatCode(first, 20)} has not begun yet: it is ${formatCode(today, 20)} in UTC, by which the CDN counts days.`,
    'Type `today` or an earlier day.',
    insteads,
  );
}

/** For words that are no time. */
export function createDayError(typed: string, zone: string, now: Date): UserError {
  const [near] = findClosest(typed, ['today', 'yesterday'], 1);
  return new UserError(
    `${formatCode(typed, 60)} is no time that can be read.`,
    explainDayError(typed, near),
    createInsteads(
      zone,
      near ? [near] : (findDates(typed, toUtcDay(now)) ?? ['today', 'yesterday', 'last 3 days']),
    ),
  );
}

/** The days that a date with the year last may mean; undefined if none has begun. */
function findDates(typed: string, today: string): string[] | undefined {
  const [, first, second, year] = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/u.exec(typed) ?? [];
  const found = [
    [first, second],
    [second, first],
  ]
    .filter(([month, day]) => isExists(Number(year), Number(month) - 1, Number(day)))
    .map(([month = '', day = '']) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
    .filter((day) => day <= today);
  return found.length > 0 ? [...new Set(found)] : undefined;
}

function explainDayError(typed: string, near: string | undefined): string {
  if (/^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/u.test(typed))
    return 'Write it with the year first, so that nobody mistakes day and month: `2026-11-20`.';
  return near
    ? `Did you mean \`${near}\`? ${acceptedDays}`
    : `${acceptedDays} A zone name with spaces goes in quotes.`;
}

/** The same zone on possible days. */
export function createInsteads(zone: string, days: readonly string[]): Instead[] | undefined {
  if (zone.trim() === '') return undefined;
  return days.map((day) => ({ label: capitalize(day), types: `errors ${quoteWord(zone)} ${day}` }));
}
