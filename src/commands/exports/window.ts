import { isExists } from 'date-fns/isExists';
import { findEarliestStart } from '../../api/event-logs.ts';
import { UserError } from '../../errors.ts';
import { hourMs, minuteMs } from '../../lib/time.ts';
import { formatCode } from '../../views/blocks/text.ts';

export interface Window {
  readonly from: Date;
  readonly to: Date;
}

const units: Readonly<Record<string, number>> = { m: minuteMs, h: hourMs, d: 24 * hourMs };

const shapes = 'Type `last 6h`, `last 30m`, `today`, `yesterday`, `2026-11-20` or `2026-11-20 10:00..12:00`.';

/** A window that was typed. */
export interface TypedWindow extends Window {
  /** It was typed with its end first. */
  readonly swapped?: true;
}

/** The last 24 hours. */
export function defaultWindow(now: Date): Window {
  return { from: new Date(floor(now).getTime() - 24 * hourMs), to: floor(now) };
}

/**
 * Reads a typed window in a time zone (IANA name; a trailing `UTC` or `Z` means UTC): `last 6h`,
 * `today`, `yesterday 22:00..today 02:00`, `2026-11-20 10:00..12:00`. A window into the future ends now. A window that
 * ends before it begins is swapped, or began yesterday if no day is named.
 *
 * @throws UserError if it cannot be read.
 */
export function readWindow(typed: string, now: Date, timeZone: string): TypedWindow {
  const words = typed
    .toLowerCase()
    .replaceAll(/\s+/gu, ' ')
    // Phones replace three dots by one character; people add spaces.
    .replaceAll(/ ?(?:…|\.{2,3}) ?/gu, '..')
    .trim();
  const utc = /^(.*?\d) ?(?:utc|z)$/u.exec(words);
  const said = utc?.[1] ?? words;
  const zone = utc ? 'UTC' : timeZone;
  const last = /^(?:(?:the )?(?:last|past) )?(\d{1,6}) ?(m|h|d)(?:in(?:ute)?s?|r?s?|ours?|ays?)?$/u.exec(
    said,
  );
  if (last) {
    const ms = Number(last[1]) * (units[last[2] ?? ''] ?? 0);
    if (ms === 0) throw unreadable(typed);
    return { from: new Date(floor(now).getTime() - ms), to: floor(now) };
  }
  const [first = '', second, ...more] = said.split(/\.\.| (?:to|until|till) /u);
  const start = readMoment(first, now, zone);
  if (!start || more.length > 0) throw unreadable(typed);
  if (second === undefined) {
    // A bare time has no end.
    if (start.time) throw unreadable(typed);
    return ended({ from: instant(start.day, 0, zone), to: instant(next(start.day), 0, zone) }, now, typed);
  }
  const end = second === 'now' ? undefined : readMoment(second, now, zone, start.day);
  if (second !== 'now' && !end) throw unreadable(typed);
  const from = instant(start.day, start.time ?? 0, zone);
  const to = end
    ? end.time === undefined
      ? instant(next(end.day), 0, zone)
      : instant(end.day, end.time, zone)
    : floor(now);
  if (to.getTime() === from.getTime()) throw unreadable(typed);
  // `22:00..02:00` means last night.
  const before = instant(shifted(start.day, -1), start.time ?? 0, zone);
  if (to < from && !start.named && !end?.named) return ended({ from: before, to }, now, typed);
  if (to < from) return { ...ended({ from: to, to: from }, now, typed), swapped: true };
  return ended({ from, to }, now, typed);
}

/** Narrows a window to the 72 hours that the CDN keeps. Undefined if nothing of it is kept. */
export function clampWindow({ from, to }: Window, now: Date): Window | undefined {
  const earliest = findEarliestStart(now);
  if (to <= earliest) return undefined;
  return from < earliest ? { from: earliest, to } : { from, to };
}

/** The nearest valid window: it begins before it ends, ends by now, and is kept by the CDN. */
export function correctWindow(from: Date | undefined, to: Date | undefined, now: Date): Window {
  if (!from || !to) return defaultWindow(now);
  const [first, last] = from < to ? [from, to] : [to, from];
  const end = last > now ? floor(now) : last;
  const start = first < end ? first : new Date(end.getTime() - hourMs);
  return clampWindow({ from: start, to: end }, now) ?? defaultWindow(now);
}

function ended({ from, to }: Window, now: Date, typed: string): Window {
  if (from >= now) {
    throw new UserError(`The window ${formatCode(typed, 60)} lies in the future.`, shapes);
  }
  return to > now ? { from, to: floor(now) > from ? floor(now) : now } : { from, to };
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly date: number;
}

interface Moment {
  readonly day: Day;
  /** Whether a day was typed. */
  readonly named: boolean;
  /** Minutes since midnight; undefined if only a day was typed. */
  readonly time: number | undefined;
}

function readMoment(words: string, now: Date, zone: string, sameDay?: Day): Moment | undefined {
  const found =
    /^(?:(today|yesterday)|(\d{4})-(\d{1,2})-(\d{1,2}))?(?:[ t]?(\d{1,2})(?::(\d{2}))?(?::\d{2})?)?$/u.exec(
      words.trim(),
    );
  if (!found || words.trim() === '') return undefined;
  const [, word, year, month, date, hours, minutes] = found;
  // `10` alone is ambiguous.
  if (hours !== undefined && minutes === undefined) return undefined;
  const today = dayIn(now, zone);
  const day =
    word === 'yesterday'
      ? shifted(today, -1)
      : word === 'today'
        ? today
        : year === undefined
          ? (sameDay ?? today)
          : { year: Number(year), month: Number(month), date: Number(date) };
  if (!isExists(day.year, day.month - 1, day.date)) return undefined;
  const time = hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
  // 24:00 is the end of a day.
  if (time !== undefined && (time > 24 * 60 || Number(minutes) > 59)) return undefined;
  return { day, named: word !== undefined || year !== undefined, time };
}

/** The moment of a local time; a time that a clock change skips is an hour later. */
function instant({ year, month, date }: Day, minutes: number, zone: string): Date {
  const wall = Date.UTC(year, month - 1, date) + minutes * minuteMs;
  const guess = wall - offset(wall, zone);
  return new Date(wall - offset(guess, zone));
}

/** A zone's offset from UTC at a moment, ms. */
function offset(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const read = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((part) => part.type === type)?.value);
  const wall = Date.UTC(
    read('year'),
    read('month') - 1,
    read('day'),
    read('hour'),
    read('minute'),
    read('second'),
  );
  return wall - Math.floor(at / 1000) * 1000;
}

function dayIn(at: Date, zone: string): Day {
  const wall = new Date(at.getTime() + offset(at.getTime(), zone));
  return { year: wall.getUTCFullYear(), month: wall.getUTCMonth() + 1, date: wall.getUTCDate() };
}

function shifted({ year, month, date }: Day, by: number): Day {
  return dayIn(new Date(Date.UTC(year, month - 1, date + by)), 'UTC');
}

function next(day: Day): Day {
  return shifted(day, 1);
}

/** Date-time pickers have whole minutes. */
function floor(at: Date): Date {
  return new Date(Math.floor(at.getTime() / minuteMs) * minuteMs);
}

function unreadable(typed: string): UserError {
  return new UserError(`${formatCode(typed, 60)} is no window that can be read.`, shapes);
}
