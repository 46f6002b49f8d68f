import { findNextRun } from '../../../lib/schedule.ts';
import { minuteMs } from '../../../lib/time.ts';
import { toLocalTime, toMinutes } from '../../../lib/time-zone.ts';
import type { AlertSubject, WeekHours } from '../../../views/reports/report.ts';

/**
 * The next check after a moment. Checks stand on a grid of `every` minutes from midnight (UTC), so that those of one account
 * fall together; outside of its hours an alert waits until they begin.
 */
export function findNextCheck(
  { every, hours, timeZone }: Pick<AlertSubject, 'every' | 'hours' | 'timeZone'>,
  after: Date,
): Date {
  const step = every * minuteMs;
  const next = new Date((Math.floor(after.getTime() / step) + 1) * step);
  if (!hours || isWithin(hours, timeZone, next)) return next;
  const { from: time, weekdays } = hours;
  return findNextRun({ time, zone: timeZone, weekdays, monthDays: [] }, after);
}

/** Whether a moment lies in those hours. */
export function isWithin({ weekdays, from, until }: WeekHours, timeZone: string, at: Date): boolean {
  const { minutes: minute, weekday: today } = toLocalTime(timeZone, at);
  const yesterday = today === 1 ? 7 : today - 1;
  const [start, end] = [toMinutes(from), toMinutes(until)];
  if (start < end) return weekdays.includes(today) && minute >= start && minute < end;
  return (weekdays.includes(today) && minute >= start) || (weekdays.includes(yesterday) && minute < end);
}

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const every = [1, 2, 3, 4, 5, 6, 7];
const groups: Readonly<Record<string, readonly number[]>> = {
  workdays: every.slice(0, 5),
  weekdays: every.slice(0, 5),
  weekend: [6, 7],
};

/**
 * Reads `Mon-Fri 08:00-18:00`, `Sat, Sun`, `22:00–06:00`: days, hours, or both. Undefined where it says something else, or
 * the whole week: an empty text means that.
 */
export function parseHours(text: string): WeekHours | undefined {
  const plain = text
    .trim()
    .toLowerCase()
    .replaceAll(/[–—]/gu, '-')
    .replaceAll(/\s*([-,])\s*/gu, '$1');
  const found = /^(?<names>[a-z][a-z,-]*)?\s*(?:(?<from>\d{1,2}:\d\d)-(?<until>\d{1,2}:\d\d))?$/u.exec(plain);
  const { names, from, until } = found?.groups ?? {};
  if (names === undefined && from === undefined) return undefined;
  const weekdays = names === undefined ? every : parseDays(names);
  const [start, end] = [readTime(from ?? '0:00'), readTime(until ?? '24:00')];
  if (!weekdays || !start || !end || start === end) return undefined;
  // Until midnight is until the beginning of the next day.
  return { weekdays, from: start, until: end === '24:00' ? '00:00' : end };
}

function parseDays(names: string): number[] | undefined {
  const chosen = names.split(',').map((part) => {
    const ends = part.split('-').map((name) => days.indexOf(name.slice(0, 3)) + 1);
    const [first = 0, last = first] = ends;
    if (groups[part]) return groups[part];
    if (first === 0 || last === 0 || ends.length > 2) return [];
    return every.filter((day) => (first <= last ? day >= first && day <= last : day >= first || day <= last));
  });
  if (chosen.some(({ length }) => length === 0)) return undefined;
  return every.filter((day) => chosen.some((days) => days.includes(day)));
}

function readTime(text: string): string | undefined {
  const [hours = '', minutes = ''] = text.split(':');
  const isTime = (Number(hours) < 24 && Number(minutes) < 60) || text === '24:00';
  return isTime ? `${hours.padStart(2, '0')}:${minutes}` : undefined;
}
