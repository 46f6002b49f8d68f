import { isExists } from 'date-fns/isExists';
import { type Instead, UserError } from '../errors.ts';
import { type DayRange, dayMs, hourMs, minuteMs, shiftDay, startOfDay } from '../lib/time.ts';
import { findMoment, toLocalTime } from '../lib/time-zone.ts';
import { formatShortDay } from '../views/blocks/format.ts';
import { formatCode } from '../views/blocks/text.ts';
import { findClosest } from './did-you-mean.ts';

/** A time that was typed: one grammar for errors, changes and exports. */
export interface TypedPeriod {
  /** Epoch ms of a whole minute. */
  readonly from: number;
  /** Not part of it, and not later than now. */
  readonly to: number;
  /** Minutes back from now, where that was typed: it moves on when it is read again. */
  readonly last?: number;
  /** It ends now, and grows when it is read again: `since 10:00`, `today`. */
  readonly isOpen?: true;
  /** Whole UTC days, by which the CDN files its logs. */
  readonly utcDays?: DayRange;
  /** The end was typed before the start. */
  readonly isSwapped?: true;
}

export interface PeriodClock {
  readonly now: Date;
  /** That of the reader, as IANA name or offset. A `UTC`, `Z` or offset that is typed counts more. */
  readonly timeZone: string;
  /** What to type instead, for the buttons of a refusal. */
  readonly instead?: (period: string, subject: string) => Instead;
}

const shapes =
  'Try `24h`, `yesterday`, `20 Nov`, `10:00..11:00`, `since 10:00` or `2026-11-20 10:00..12:00`.';

/** Words in front of or behind a subject are a period, at most so many. */
const mostWords = 10;

/**
 * Splits `shop last 3 days`, or `last 3 days shop`, into subject and period. A quoted word is never part of a period.
 *
 * @throws UserError for a day that does not exist or has not begun.
 */
export function splitPeriod(
  { list, quoted }: { readonly list: readonly string[]; readonly quoted?: readonly boolean[] | undefined },
  clock: PeriodClock,
): { readonly subject: readonly string[]; readonly period: TypedPeriod | undefined } {
  const isName = (from: number, to: number): boolean => quoted?.slice(from, to).includes(true) ?? false;
  // The longest phrase wins; a time usually follows its subject.
  for (let length = Math.min(mostWords, list.length); length > 0; length -= 1)
    for (const at of new Set([list.length - length, 0])) {
      if (isName(at, at + length)) continue;
      const subject = [...list.slice(0, at), ...list.slice(at + length)];
      const period = findPeriod(list.slice(at, at + length).join(' '), clock, subject.join(' '));
      if (period) return { subject, period };
    }
  return { subject: list, period: undefined };
}

/** For words that are not a period. */
export function createPeriodError(typed: string, clock: PeriodClock, subject = ''): UserError {
  const asked = { ...clock, typed, subject };
  const part = readPart(clean(typed), asked, clock.timeZone);
  if (part?.at !== undefined || part?.minutes !== undefined) {
    const moment = typed.replace(/^at /u, '').slice(0, 60);
    const hint = `Say how long: \`since ${moment}\` or \`10:00..11:00\`.`;
    return refuse(asked, `${formatCode(typed, 60)} is a moment, not a period.`, hint, [`since ${moment}`]);
  }
  const [near] = findClosest(typed, ['today', 'yesterday'], 1);
  const hint = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/u.test(typed)
    ? 'Write the year first, so that nobody mistakes day and month: `2026-11-20`.'
    : near
      ? `Did you mean \`${near}\`?`
      : shapes;
  const dates = findDates(typed, toLocalDay(clock.now.getTime(), clock.timeZone));
  const periods = near ? [near] : (dates ?? ['24h', 'today', 'yesterday']);
  return refuse(asked, `I can’t read ${formatCode(typed, 60)} as a time.`, hint, periods);
}

/** Offers other periods of the same subject, where there is one. */
function refuse(
  { instead, subject }: Asked,
  message: string,
  hint: string,
  periods: readonly string[],
): UserError {
  const offer =
    instead && subject.trim() !== '' ? periods.map((period) => instead(period, subject)) : undefined;
  return new UserError(message, hint, offer);
}

/** The days that a date with the year last may mean; undefined if none has begun. */
function findDates(typed: string, today: string): string[] | undefined {
  const [, first, second, year] = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/u.exec(typed) ?? [];
  const either = [
    [first, second],
    [second, first],
  ];
  const found = either
    .filter(([month, day]) => isExists(Number(year), Number(month) - 1, Number(day)))
    .map(([month = '', day = '']) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
    .filter((day) => day <= today);
  return found.length > 0 ? [...new Set(found)] : undefined;
}

/** Lower case, single spaces; dots, dashes and words between two ends become `..`. */
function clean(typed: string): string {
  return (
    typed
      .toLowerCase()
      .replaceAll(/\s+/gu, ' ')
      .trim()
      // Phones and word processors make dashes longer.
      .replaceAll(/[–—−‒]/gu, '-')
      .replace(/ so far$/u, '')
      .replaceAll(countWords, (word) => String(counts.indexOf(word) + 1))
      // `from 10 to 12` means hours, as no dates are told like that.
      .replace(/^(?:from|between) (\d{1,2}) (?:to|and|until|till) (\d{1,2})(?=$| )/u, '$1:00..$2:00')
      .replace(/^(?:until|till|before) (?=\d{1,2}(?::| ?[ap]m)|noon)/u, '0:00..')
      // The CDN's files and ours write times with milliseconds.
      .replaceAll(/(\d:\d{2}:\d{2})[.,]\d{1,9}/gu, '$1')
      // Phones replace three dots by one character; people add spaces.
      .replaceAll(/ ?(?:…|\.{2,3}) ?/gu, '..')
      .replace(/\bbetween (.+?) and /u, '$1..')
      .replaceAll(/ (?:to|until|till|through|-{1,2}) /gu, '..')
      .replaceAll(/(?<=\d(?:z|[+-]\d{2}:?\d{2})?)\/(?=\d{4}-\d{2}-\d{2}t)/gu, '..')
      // `10:00-11:00`, `10am-11am`, `10-11am`, but not the offset of `2026-11-20t10:00-05:00`.
      .replaceAll(/(?<!t[\d:]*)(?<=\d:\d{2}|\d ?[ap]m|noon) ?-{1,2} ?(?=\d|now|noon|midnight)/gu, '..')
      .replace(/(?<![\d./-])(\d{1,2}) ?-{1,2} ?(?=\d{1,2} ?(?:[ap]m|[a-z]{3,}))/u, '$1..')
      .replace(/([a-z]{3,9} \d{1,2}) ?-{1,2} ?(?=\d{1,2}$)/u, '$1..')
  );
}

const counts = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const countWords = new RegExp(`\\b(?:${counts.join('|')})(?= (?:minute|min|hour|day|week|month))`, 'gu');

/** Undefined where the words are not a period. @throws UserError for a day that does not exist or has not begun. */
export function findPeriod(typed: string, clock: PeriodClock, subject = ''): TypedPeriod | undefined {
  const words = clean(typed)
    .replace(/^(?:(?:in|on|for|during|within|over|of|at) )+(?:the )?/u, '')
    .replace(/^since (?=(?:the )?(?:last|past) (?!\w+day))/u, '');
  if (words === '') return undefined;
  return readLast(words, clock) ?? readNamed(words, clock) ?? readRange(words, { ...clock, typed, subject });
}

const unitMinutes = { m: 1, h: 60, d: 24 * 60, w: 7 * 24 * 60, o: 30 * 24 * 60 } as const;
const unit = '(m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:ee)?ks?|w|months?)';
const amount = new RegExp(`(?:(\\d{1,6}(?:\\.\\d)?|half an?(?= )|\\ban?(?= )) ?|\\b)${unit}(?![a-z])`, 'gu');
const lastAmounts = new RegExp(
  `^((?:the )?(?:last|past|previous) )?(?:(?:\\d{1,6}(?:\\.\\d)?|an?|half an?) ?)?${unit}(?:(?:,| and)? ?\\d{1,6} ?${unit})*$`,
  'u',
);

/** Minutes of `24h`, `1h30m`, `90 minutes`, `half an hour`; undefined where the words are not a length of time. */
function readLength(words: string): number | undefined {
  let sum = 0;
  for (const [, count = '1', name = ''] of words.matchAll(amount)) {
    const each = unitMinutes[name.startsWith('mo') ? 'o' : (name.charAt(0) as keyof typeof unitMinutes)];
    sum += each * (count.startsWith('half') ? 0.5 : count.startsWith('a') ? 1 : Number(count));
  }
  return sum > 0 ? sum : undefined;
}

/** `last 6h`, `24h`, `past hour`, `1h30m` */
function readLast(words: string, { now }: PeriodClock): TypedPeriod | undefined {
  const [, given] = lastAmounts.exec(words) ?? [];
  // A unit alone is a word.
  if (!lastAmounts.test(words) || (given === undefined && !/^(?:\d|an? |half)/u.test(words)))
    return undefined;
  const last = readLength(words.slice(given?.length ?? 0));
  const to = floor(now.getTime());
  return last === undefined || last > 5_000_000 ? undefined : { from: floor(to - last * minuteMs), to, last };
}

/** `this week`, `since the start of the month` */
function readNamed(words: string, { now, timeZone }: PeriodClock): TypedPeriod | undefined {
  const [, named, inUtc] =
    /^(?:since )?(?:the )?(?:this |start of (?:the )?)(hour|week|month)( utc)?$/u.exec(words) ?? [];
  if (named === undefined) return undefined;
  const zone = inUtc ? 'UTC' : timeZone;
  const at = now.getTime();
  const today = toLocalDay(at, zone);
  const from =
    named === 'hour'
      ? floor(at) - (toLocalTime(zone, now).minutes % 60) * minuteMs
      : toInstant(
          named === 'week' ? shiftDay(today, 1 - toLocalTime(zone, now).weekday) : `${today.slice(0, 8)}01`,
          0,
          zone,
        );
  return { from, to: floor(at) > from ? floor(at) : at, isOpen: true };
}

/** One end of a period as it was typed. */
interface Part {
  /** `2026-11-20`, on the clocks of `zone`. */
  readonly day?: string | undefined;
  /** Minutes since midnight. */
  readonly minutes?: number | undefined;
  /** A moment that needs no clock: `now`, `2 hours ago`. */
  readonly at?: number | undefined;
  readonly zone?: string | undefined;
}

interface Asked extends PeriodClock {
  readonly typed: string;
  readonly subject: string;
}

function readRange(words: string, asked: Asked): TypedPeriod | undefined {
  const { now, timeZone } = asked;
  const hasEnd = words.includes('..');
  const isSince = !hasEnd && /^(?:since|from|after) /u.test(words);
  const plain = words
    .replace(/^(?:since|from|after) (?:the )?/u, '')
    // `yesterday from 10:00..12:00`
    .replace(/ (?:from|since) (?=.*\.\.)/u, ' ');
  const [first = '', second, ...more] = `${plain}${isSince ? '..now' : ''}`.split('..');
  if (more.length > 0) return undefined;
  const zone = findZone(first) ?? (second === undefined ? undefined : findZone(second)) ?? timeZone;
  const [typedFirst, typedSecond] = fillBareEnds(first, second);
  const start = readPart(typedFirst, asked, zone);
  const end = typedSecond === undefined ? undefined : readPart(typedSecond, asked, zone);
  if (!start || (typedSecond !== undefined && !end)) return undefined;
  for (const { day, zone: own } of [start, end ?? {}])
    if (day !== undefined) assertBegun(day, own ?? zone, asked);

  // A moment alone has no length.
  if (!end)
    return start.at === undefined && start.minutes === undefined
      ? wholeDays(start, start, zone, now)
      : undefined;
  const days = start.minutes ?? start.at ?? end.minutes ?? end.at;
  if (days === undefined) return wholeDays(start, end, zone, now);

  const today = toLocalDay(now.getTime(), zone);
  // `10:00..12:00 yesterday`
  const day = start.day ?? (start.at === undefined ? end.day : toLocalDay(start.at, zone));
  const isNamed = day !== undefined || end.day !== undefined || end.at !== undefined;
  let from = start.at ?? toInstant(day ?? today, start.minutes ?? 0, start.zone ?? zone);
  let to = endOf({ ...end, day: end.day ?? day ?? today }, zone);
  if (from >= now.getTime() && !isNamed && to > from) {
    // At half past midnight `23:00..23:30` means yesterday evening.
    from = toInstant(shiftDay(today, -1), start.minutes ?? 0, zone);
    to = endOf({ ...end, day: shiftDay(today, -1) }, zone);
  } else if (to < from && start.day === undefined && start.at === undefined) {
    // `22:00..02:00` means last night; since a time later than now it is that of yesterday.
    from = toInstant(shiftDay(end.day ?? today, -1), start.minutes ?? 0, zone);
  } else if (
    to < from &&
    end.day === undefined &&
    end.at === undefined &&
    end.minutes !== undefined &&
    !start.at
  ) {
    const next = endOf({ ...end, day: shiftDay(day ?? today, 1) }, zone);
    // `yesterday 22:00..02:00` goes over midnight; `yesterday 12:00..10:00` was typed the wrong way round.
    if (next - from <= 12 * hourMs) to = next;
  }
  if (from === to) return undefined;
  const isOpen = end.at !== undefined && typedSecond === 'now';
  const isSwapped = to < from;
  if (isSwapped) [from, to] = [to, from];
  return cut({ from: floor(from), to: ceil(to) }, asked, { isOpen, isSwapped });
}

/** Whole days on the clocks of a zone, in either order. */
function wholeDays(start: Part, end: Part, zone: string, now: Date): TypedPeriod | undefined {
  const [first = '', last = ''] = [start.day ?? '', end.day ?? ''].toSorted();
  if (first === '' || last === '') return undefined;
  const from = toInstant(first, 0, zone);
  const to = toInstant(shiftDay(last, 1), 0, zone);
  const at = now.getTime();
  const count = Math.round((startOfDay(last) - startOfDay(first)) / dayMs) + 1;
  const days = isUtc(zone) ? { utcDays: { first, count } } : {};
  if (to <= at) return { from, to, ...days };
  return { from, to: floor(at) > from ? floor(at) : at, isOpen: true, ...days };
}

function isUtc(zone: string): boolean {
  return /^(?:(?:etc\/)?(?:utc|gmt)|\+00:00)$/iu.test(zone);
}

/** Ends now what would end later. @throws UserError for what has not begun. */
function cut(
  { from, to }: { readonly from: number; readonly to: number },
  asked: Asked,
  { isOpen, isSwapped }: { readonly isOpen: boolean; readonly isSwapped: boolean },
): TypedPeriod {
  const at = asked.now.getTime();
  if (from >= at)
    throw refuse(asked, `${formatCode(asked.typed, 60)} is in the future.`, shapes, ['today', 'yesterday']);
  const end = floor(at) > from ? floor(at) : at;
  return {
    from,
    to: to > at ? end : to,
    ...(isOpen || to > at ? { isOpen: true as const } : {}),
    ...(isSwapped ? { isSwapped: true as const } : {}),
  };
}

function isNumber(words: string): boolean {
  return /^\d{1,2}$/u.test(words);
}

/** `18..20 nov`, `2026-11-18..20`, `10..11am`: an end that is a number alone takes the rest from the other one. */
function fillBareEnds(first: string, second: string | undefined): [string, string | undefined] {
  if (second === undefined) return [first, second];
  const half = /^\d{1,2}(?::\d{2})? ?([ap]m)\b/u.exec(second)?.[1];
  if (half && /(?:^| )\d{1,2}(?::\d{2})?$/u.test(first)) return [`${first}${half}`, second];
  if (isNumber(first))
    return [second.replace(/\d{1,2}(?=[a-z.]* [a-z])|(?<=[a-z] )\d{1,2}|\d{1,2}$/u, first), second];
  if (!isNumber(second)) return [first, second];
  return [
    first,
    first.replace(
      /^(\d{4}[-/.]\d{1,2}[-/.])\d{1,2}$|^\d{1,2}(?= [a-z])|(?<=^[a-z]{3,9} )\d{1,2}/u,
      `$1${second}`,
    ),
  ];
}

/** A day alone lasts until the next one begins. */
function endOf({ day = '', minutes, at, zone: own }: Part, zone: string): number {
  if (at !== undefined) return at;
  if (minutes === undefined) return toInstant(shiftDay(day, 1), 0, own ?? zone);
  return toInstant(day, minutes, own ?? zone, minutes % (24 * 60) === 0 ? 'first' : 'second');
}

const zoneSuffix =
  /(?<=\d|[ap]m|noon|midnight|[a-z]{3}) ?(?:utc|gmt|(?<=\d)z)$|(?<=t[\d:]+)[+-]\d{2}(?::?\d{2})?$/u;

/** The zone that was typed behind a time: `Z`, `UTC` or an offset. */
function findZone(words: string): string | undefined {
  const [found] = zoneSuffix.exec(words) ?? [];
  if (found === undefined) return undefined;
  const [, sign, hours, minutes = '00'] = /^([+-])(\d{2}):?(\d{2})?$/u.exec(found) ?? [];
  return hours === undefined ? 'UTC' : `${sign}${hours}:${minutes}`;
}

const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const clockTime = String.raw`(?:\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?|\d{1,2} ?[ap]m|noon|midday|midnight)`;
const dayAndTime = new RegExp(`^(?:(.+?)(?:,? at |t(?=\\d)|,? ))?(${clockTime})$`, 'u');
const timeAndDay = new RegExp(`^(${clockTime})(?:,? on|,)? (.+)$`, 'u');

/** A day, a time, or both; undefined where the words are neither. */
function readPart(typed: string, asked: Asked, zone: string): Part | undefined {
  const own = findZone(typed);
  const words = typed
    .replace(zoneSuffix, '')
    .replace(/^(?:(?:on|at|the) )+/u, '')
    .trim();
  const now = asked.now.getTime();
  if (words === 'now') return { at: floor(now) };
  if (words.endsWith(' ago')) {
    const minutes = lastAmounts.test(words.slice(0, -4)) ? readLength(words.slice(0, -4)) : undefined;
    return minutes === undefined ? undefined : { at: floor(now - minutes * minuteMs) };
  }
  const today = toLocalDay(now, own ?? zone);
  const [, dayBefore, timeBehind] = dayAndTime.exec(words) ?? [];
  const [, timeBefore, dayBehind] = timeAndDay.exec(words) ?? [];
  const typedTime = timeBehind ?? timeBefore;
  const typedDay = typedTime === undefined ? words : timeBehind === undefined ? dayBehind : dayBefore;
  const minutes = typedTime === undefined ? undefined : readTime(typedTime);
  const day = typedDay === undefined ? undefined : readDay(typedDay, today, asked);
  if (typedTime !== undefined && minutes === undefined) return undefined;
  if (typedDay !== undefined && day === undefined) return undefined;
  return { day, minutes, ...(own === undefined ? {} : { zone: own }) };
}

/** Minutes since midnight of `10:00`, `10:00:30`, `10am`, `noon`; `24:00` is the end of a day. */
function readTime(words: string): number | undefined {
  if (/^(?:noon|midday)$/u.test(words)) return 12 * 60;
  if (words === 'midnight') return 0;
  const [, hours = '', minutes = '0', half] =
    /^(\d{1,2})(?::(\d{2}))?(?::\d{2})? ?([ap]m)?$/u.exec(words) ?? [];
  const [hour, minute] = [Number(hours), Number(minutes)];
  if (hours === '' || minute > 59 || (half !== undefined && (hour < 1 || hour > 12))) return undefined;
  const time = (half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0)) * 60 + minute;
  return time <= 24 * 60 ? time : undefined;
}

const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

/** `2026-11-20` of `today`, `last monday`, `2026/11/20`, `20 Nov`, `Nov 20th, 2026`. @throws UserError if it does not exist. */
function readDay(typed: string, today: string, asked: Asked): string | undefined {
  const words = typed.replace(/^(?:on )?(?:the )?/u, '').trim();
  if (words === 'today') return today;
  if (words === 'yesterday') return shiftDay(today, -1);
  if (words === 'day before yesterday') return shiftDay(today, -2);
  if (words === 'tomorrow') return shiftDay(today, 1);
  const [, before, name] = /^(last )?([a-z]{3,9})$/u.exec(words) ?? [];
  const weekday = weekdays.findIndex(
    (day) => day === name || (day.startsWith(name ?? '-') && /^(?:...|tues|thurs?)$/u.test(name ?? '')),
  );
  if (weekday >= 0) {
    const back = (new Date(startOfDay(today)).getUTCDay() - weekday + 7) % 7;
    return shiftDay(today, -(back === 0 && before ? 7 : back));
  }
  const date = readDate(words, today);
  if (!date) return undefined;
  const [year, month, day] = date;
  if (isExists(year, month - 1, day))
    return [year, month, day].map((part, nth) => String(part).padStart(nth === 0 ? 4 : 2, '0')).join('-');
  const hint = 'Year first, then month and day: `2026-11-20`.';
  throw refuse(asked, `There is no day ${formatCode(typed, 20)}.`, hint, ['today', 'yesterday']);
}

/** Year, month and day; without a year the nearest one. */
function readDate(words: string, today: string): [number, number, number] | undefined {
  const [, year, , month, date] = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/u.exec(words) ?? [];
  if (year) return [Number(year), Number(month), Number(date)];
  const [, before, name, behind, named] =
    /^(?:(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?)?([a-z]{3,9})(?:\.? (\d{1,2})(?:st|nd|rd|th)?)?(?:,? (\d{4}))?$/u.exec(
      words,
    ) ?? [];
  const at =
    months.findIndex(
      (one) => name !== undefined && (one.startsWith(name) || (name === 'sept' && one === 'september')),
    ) + 1;
  if (at === 0 || (before === undefined) === (behind === undefined)) return undefined;
  const day = Number(before ?? behind);
  return [named === undefined ? guessYear(at, day, today) : Number(named), at, day];
}

/** Days ahead in which a date without a year is taken for a coming one. */
const nearDays = 60;

/** The year of the last such day, or of the next one where it is near: nobody means a year ago by `26 Nov` on the 25th. */
function guessYear(month: number, day: number, today: string): number {
  const year = Number(today.slice(0, 4));
  const daysAhead = (of: number): number => (Date.UTC(of, month - 1, day) - startOfDay(today)) / dayMs;
  if (daysAhead(year) > nearDays) return year - 1;
  if (daysAhead(year) >= 0) return year;
  return daysAhead(year + 1) <= nearDays / 2 ? year + 1 : year;
}

/** @throws UserError for a day that has not begun on the clocks of the zone. */
function assertBegun(day: string, zone: string, asked: Asked): void {
  const today = toLocalDay(asked.now.getTime(), zone);
  if (day <= today) return;
  const yearBefore = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`;
  const [written, now] = [day, today].map((one) => `${formatShortDay(one)} ${one.slice(0, 4)}`);
  const message = `${written} has not started yet: it is ${now}${isUtc(zone) ? ' in UTC' : ''}.`;
  if (!/\d{4}|tomorrow/u.test(asked.typed)) {
    const hint = `Type an earlier day, or \`${yearBefore}\` for last year’s.`;
    throw refuse(asked, message, hint, ['today', yearBefore]);
  }
  throw refuse(asked, message, 'Type `today` or an earlier day.', ['today', 'yesterday']);
}

function floor(at: number): number {
  return Math.floor(at / minuteMs) * minuteMs;
}

function ceil(at: number): number {
  return Math.ceil(at / minuteMs) * minuteMs;
}

function toLocalDay(at: number, zone: string): string {
  return toLocalTime(zone, new Date(at)).day;
}

/** A time that a clock change skips is as much later; of one that comes twice it is the first or the second. */
function toInstant(day: string, minutes: number, zone: string, twice: 'first' | 'second' = 'first'): number {
  return findMoment(zone, day, minutes, { twice, skipped: 'later' }).getTime();
}
