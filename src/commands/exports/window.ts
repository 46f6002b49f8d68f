import { isExists } from 'date-fns/isExists';
import { findOldestEnd } from '../../api/event-logs.ts';
import { UserError } from '../../errors.ts';
import { hourMs, minuteMs, shiftDay } from '../../lib/time.ts';
import { findMoment, toLocalTime } from '../../lib/time-zone.ts';
import { formatCode } from '../../views/blocks/text.ts';

export type Window = { readonly from: Date; readonly to: Date };

const units: Readonly<Record<string, number>> = { m: minuteMs, h: hourMs, d: 24 * hourMs };

const shapes = 'Type `last 6h`, `last 30m`, `today`, `yesterday`, `2026-11-20` or `2026-11-20 10:00..12:00`.';

export interface TypedWindow extends Window {
  /** It was typed with its end first. */
  readonly swapped?: true;
}

export function defaultWindow(now: Date): Window {
  return { from: new Date(floor(now).getTime() - 24 * hourMs), to: floor(now) };
}

/**
 * Reads a typed window in a time zone (IANA name; a trailing `UTC` or `Z` means UTC): `last 6h`,
 * `today`, `yesterday 22:00..today 02:00`, `2026-11-20 10:00..12:00`. A window into the future ends now. A window that
 * ends before it begins is swapped; if no day is named, it began yesterday, as does one that is still to come.
 *
 * @throws UserError if it cannot be read.
 */
export function readWindow(typed: string, now: Date, timeZone: string): TypedWindow {
  const window = findWindow(typed, now, timeZone);
  if (window) return window;
  throw new UserError(`${formatCode(typed, 60)} is no window that can be read.`, shapes);
}

/** The same, undefined where it cannot be read. @throws UserError if it lies in the future. */
export function findWindow(typed: string, now: Date, timeZone: string): TypedWindow | undefined {
  const words = typed
    .toLowerCase()
    .replaceAll(/\s+/gu, ' ')
    // Phones replace three dots by one character; people add spaces.
    .replaceAll(/ ?(?:…|\.{2,3}) ?/gu, '..')
    .trim();
  const [, inUtc] = /^(.*?\d) ?(?:utc|z)$/u.exec(words) ?? [];
  const window =
    readLast(words, now) ?? readRange(inUtc ?? words, now, inUtc === undefined ? timeZone : 'UTC');
  if (!window || window.from.getTime() === window.to.getTime()) return undefined;
  const { from, to } = window;
  if (from >= now) throw new UserError(`The window ${formatCode(typed, 60)} lies in the future.`, shapes);
  return to > now ? { ...window, to: floor(now) > from ? floor(now) : now } : window;
}

/** `last 6h` */
function readLast(words: string, now: Date): Window | undefined {
  const [, count, unit = ''] =
    /^(?:(?:the )?(?:last|past) )?(\d{1,6}) ?(m|h|d)(?:in(?:ute)?s?|r?s?|ours?|ays?)?$/u.exec(words) ?? [];
  if (count === undefined) return undefined;
  return { from: new Date(floor(now).getTime() - Number(count) * (units[unit] ?? 0)), to: floor(now) };
}

/** `2026-11-20 10:00..12:00` */
function readRange(words: string, now: Date, zone: string): TypedWindow | undefined {
  const [first = '', second, ...more] = words.split(/\.\.| (?:to|until|till) /u);
  const start = readMoment(first, now, zone);
  if (!start || more.length > 0) return undefined;
  const from = findMoment(zone, start.day, start.time, { skipped: 'later' });
  // A bare time has no end.
  if (second === undefined) return start.time === undefined ? { from, to: endOf(start, zone) } : undefined;
  const end = second === 'now' ? undefined : readMoment(second, now, zone, start.day);
  if (second !== 'now' && !end) return undefined;
  const to = end ? endOf(end, zone) : floor(now);
  // At half past midnight `23:00..23:30` means yesterday evening.
  if (to > from && from >= now && end && !start.isNamed && !end.isNamed)
    return { from: dayBefore(start, zone), to: dayBefore(end, zone) };
  if (to >= from) return { from, to };
  if (start.isNamed || end?.isNamed) return { from: to, to: from, swapped: true };
  // `22:00..02:00` means last night.
  return { from: dayBefore(start, zone), to };
}

/** The same time a day earlier. */
function dayBefore({ day, time = 0 }: Moment, zone: string): Date {
  return findMoment(zone, shiftDay(day, -1), time, { skipped: 'later' });
}

/** Whether a window ends within the 72 hours. Where it begins is the CDN's to refuse. */
export function endsInTime({ to }: Window, now: Date): boolean {
  return to > findOldestEnd(now);
}

/** The nearest window that is surely valid: it begins before it ends, ends by now, and lies in the last 72 hours. */
export function correctWindow(from: Date | undefined, to: Date | undefined, now: Date): Window {
  if (!from || !to) return defaultWindow(now);
  const [first, last] = from < to ? [from, to] : [to, from];
  const end = last > now ? floor(now) : last;
  const start = first < end ? first : new Date(end.getTime() - hourMs);
  const earliest = findOldestEnd(now);
  if (end <= earliest) return defaultWindow(now);
  return { from: start < earliest ? earliest : start, to: end };
}

interface Moment {
  /** `2026-11-20` */
  readonly day: string;
  readonly isNamed: boolean;
  /** Minutes since midnight; undefined if only a day was typed. */
  readonly time: number | undefined;
}

function readMoment(words: string, now: Date, zone: string, sameDay?: string): Moment | undefined {
  const found =
    /^(?:(today|yesterday)|(\d{4})[-/.](\d{1,2})[-/.](\d{1,2}))?(?:[ t]?(\d{1,2})(?::(\d{2}))?(?::\d{2})?)?$/u.exec(
      words.trim(),
    );
  if (!found || words.trim() === '') return undefined;
  const [, word, year, month = '', date = '', hours, minutes] = found;
  // `10` alone is ambiguous.
  if (hours !== undefined && minutes === undefined) return undefined;
  const today = toLocalTime(zone, now).day;
  const time = hours === undefined ? undefined : Number(hours) * 60 + Number(minutes);
  // 24:00 is the end of a day.
  if (time !== undefined && (time > 24 * 60 || Number(minutes) > 59)) return undefined;
  if (word) return { day: word === 'today' ? today : shiftDay(today, -1), isNamed: true, time };
  if (year === undefined) return { day: sameDay ?? today, isNamed: false, time };
  if (!isExists(Number(year), Number(month) - 1, Number(date))) return undefined;
  return { day: `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`, isNamed: true, time };
}

/** A day alone lasts until the next one begins. */
function endOf({ day, time }: Moment, zone: string): Date {
  return time === undefined
    ? findMoment(zone, shiftDay(day, 1))
    : findMoment(zone, day, time, { twice: 'second', skipped: 'later' });
}

/** Date-time pickers have whole minutes. */
function floor(at: Date): Date {
  return new Date(Math.floor(at.getTime() / minuteMs) * minuteMs);
}
