import { isExists } from 'date-fns/isExists';
import { parseISO } from 'date-fns/parseISO';
import { type Instead, UserError } from '../errors.ts';
import { toPlainSigns } from '../lib/names.ts';
import { dayMs, hourMs, minuteMs, shiftDay, startOfDay, toUtcDay } from '../lib/time.ts';
import { findMoment, isTimeZone, toLocalTime } from '../lib/time-zone.ts';
import { formatShortDay } from '../views/blocks/format.ts';
import { openPeriod, type Period, rollBack, wholeDays } from '../views/blocks/period.ts';
import { capitalize, formatCode, join } from '../views/blocks/text.ts';
import { quoteName } from '../views/zones/rows.ts';
import { isPlainWord } from './aliases.ts';
import { findClosest } from './did-you-mean.ts';

/** A button for what was meant. */
export const createInstead =
  (command: string) =>
  (period: string, subject: string): Instead => ({
    label: capitalize(period),
    types: join([command, subject && quoteName(subject), period], ' '),
  });

export interface PeriodClock {
  readonly now: Date;
  /** That of the reader, as IANA name or offset. A `UTC`, `Z` or offset that is typed counts more. */
  readonly timeZone: string;
  /** For the buttons of a refusal. */
  readonly instead?: (period: string, subject: string) => Instead;
}

interface Asked extends PeriodClock {
  readonly typed: string;
  readonly subject: string;
}

/** A day, or several, a time of day, or both: one end of a period, or a whole one. */
interface Part {
  readonly first?: string | undefined;
  readonly last?: string | undefined;
  /** Minutes since midnight. */
  readonly minutes?: number | undefined;
  /** Of a part of a day, such as its evening. */
  readonly until?: number | undefined;
  readonly at?: number | undefined;
  readonly zone?: string | undefined;
}

const shapes =
  'Try `24h`, `yesterday`, `20 Nov`, `10:00..11:00`, `since 10:00` or `2026-11-20 10:00..12:00`.';

/** Words in front of or behind a subject are a period, at most so many. */
const mostWords = 14;
const mostCharacters = 120;

/** `20/11` and `20.11.2026`, which differ from place to place. */
const unclearDate = /^\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?\.?$|^\d{1,2}-\d{1,2}-\d{4}$/u;

/**
 * Splits `shop last 3 days`, or `last 3 days shop`.
 * @throws UserError for two periods, for a day that does not exist, is unclear or has not begun, and for words of time that say no period
 */
export function splitPeriod(
  { list, quoted }: { readonly list: readonly string[]; readonly quoted?: readonly boolean[] | undefined },
  clock: PeriodClock,
): { readonly subject: readonly string[]; readonly period: Period | undefined } {
  const isName = (from: number, to: number): boolean => quoted?.slice(from, to).includes(true) ?? false;
  const without = (from: number, to: number): string[] => [...list.slice(0, from), ...list.slice(to)];
  const findUnclear = (from: number, to: number): number =>
    list.findIndex((word, at) => (at < from || at >= to) && unclearDate.test(word) && !isName(at, at + 1));
  // The longest phrase wins; a time usually follows its subject.
  for (let length = Math.min(mostWords, list.length); length > 0; length -= 1)
    for (const at of new Set([list.length - length, 0])) {
      // `week 53` of a year that has none is no last week.
      const isNumbered = /^(?:week|day|hour|month) \d+$/iu.test(list.slice(at, at + 2).join(' '));
      if (isName(at, at + length) || (isNumbered && length === 1)) continue;
      const subject = without(at, at + length);
      // `zone week` is a zone of that name.
      if (/^zone$/iu.test(subject.join(' ')) && at > 0) continue;
      const typed = list.slice(at, at + length).join(' ');
      const period = findPeriod(typed, clock, subject.join(' '));
      if (period && findUnclear(at, at + length) === -1) {
        const names = quoted && [...quoted.slice(0, at), ...quoted.slice(at + length)];
        assertOnly(typed, { list: subject, quoted: names, isBehind: at > 0 }, clock);
        return { subject, period };
      }
      if (!period && readMoment(typed, clock))
        throw createPeriodError(typed, clock, subject.every(isPlainWord) ? '' : subject.join(' '));
    }
  const unclear = findUnclear(0, 0);
  if (unclear >= 0)
    throw createPeriodError(list[unclear] ?? '', clock, without(unclear, unclear + 1).join(' '));
  return { subject: list, period: undefined };
}

/** @throws UserError where the words beside a period are another one, or belong to it and are not understood. */
function assertOnly(
  typed: string,
  rest: { list: readonly string[]; quoted?: readonly boolean[] | undefined; isBehind: boolean },
  clock: PeriodClock,
): void {
  const { list, quoted, isBehind } = rest;
  const at = isBehind ? list.length - 1 : 0;
  const beside = list[at] ?? '';
  if (quoted?.[at] || list.length === 0) return;
  const { subject, period } = list.length > 1 ? splitPeriod(rest, clock) : { subject: list };
  if (period) {
    const other = list.filter((word) => !subject.includes(word)).join(' ');
    const asked = { ...clock, typed, subject: subject.join(' ') };
    const both = `I read two periods: ${formatCode(other, 40)} and ${formatCode(typed, 40)}.`;
    throw refuse(asked, both, 'Type one. A name that reads like a time goes in quotes.', [other, typed]);
  }
  const words = isBehind ? list.toReversed() : list;
  const ends = words.findIndex((word) => !(isBehind ? beforePeriod : behindPeriod).test(word));
  const count = ends === -1 ? words.length : ends;
  const others = isBehind ? list.slice(0, -count) : list.slice(count);
  const isExcluded = /^(?:before|until|till|not|except|without)$/iu.test(beside);
  if (count === 0 || (!isExcluded && /^(?:zone)?$/iu.test(others.join(' ')) && count === 1)) return;
  const unread = isBehind ? list.slice(-count) : list.slice(0, count);
  throw createPeriodError(
    (isBehind ? [...unread, typed] : [typed, ...unread]).join(' '),
    clock,
    others.join(' '),
  );
}

/** `3am`, `yesterday at 15:00`, `5 minutes ago`: no length. */
function readMoment(typed: string, clock: PeriodClock): Part | undefined {
  const part = readPart(clean(typed), { ...clock, typed, subject: '' });
  return part && isMoment(part) ? part : undefined;
}

const isMoment = ({ at, minutes, until }: Part): boolean =>
  (at ?? minutes) !== undefined && until === undefined;

export function createPeriodError(typed: string, clock: PeriodClock, subject = ''): UserError {
  const asked = { ...clock, typed, subject };
  if (readMoment(typed, clock)) {
    const moment = typed.replace(/^(?:(?:at|around|about) )+/iu, '').slice(0, 60);
    const others = [`${moment} for 1h`, `since ${moment}`];
    const hint = `Say how long: ${others.map((one) => `\`${one}\``).join(' or ')}.`;
    return refuse(asked, `${formatCode(typed, 60)} is a moment, not a period.`, hint, others);
  }
  const [near] = findClosest(typed, ['today', 'yesterday'], 1);
  const [, zone] = /\d(?:[ap]m)? ([a-z]{2,5})$/iu.exec(typed) ?? [];
  const hint = unclearDate.test(typed)
    ? 'Write the year first, so that nobody mistakes day and month: `2026-11-20`.'
    : near
      ? `Did you mean \`${near}\`?`
      : zone && (isTimeZone(zone) || /^[A-Z]{3,5}$/u.test(zone))
        ? `I don’t know which time zone ${formatCode(zone, 5)} is: type its offset, as in \`10:00..11:00 +05:30\`.`
        : shapes;
  const dates = findDates(typed, toLocalDay(clock.now.getTime(), clock.timeZone));
  const others = dates.length > 0 ? dates : ['24h', 'today', 'yesterday'];
  return refuse(asked, `I can’t read ${formatCode(typed, 60)} as a time.`, hint, near ? [near] : others);
}

function refuse(
  { instead, subject }: Asked,
  message: string,
  hint: string,
  periods: readonly string[],
): UserError {
  const offer = instead && periods.map((period) => instead(period, subject.trim()));
  return new UserError(message, hint, offer);
}

/** The days that have begun which a date with the year last, or without one, may mean. */
function findDates(typed: string, today: string): string[] {
  const [, first, second, named] = /^(\d{1,2})[./-](\d{1,2})(?:[./-](\d{4}))?$/u.exec(typed) ?? [];
  const either = [
    [first, second],
    [second, first],
  ];
  const found = either.flatMap(([month = '', day = '']) => {
    const inYear = `${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    const year = Number(named ?? today.slice(0, 4)) - (!named && inYear > today.slice(5) ? 1 : 0);
    return isExists(year, Number(month) - 1, Number(day)) ? [`${year}-${inYear}`] : [];
  });
  return [...new Set(found)].filter((day) => day <= today);
}

const counts = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const months = 'january february march april may june july august september october november december'.split(
  ' ',
);
const unit = '(m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:ee)?ks?|w|months?|y(?:ears?)?)';
const weekday = `(?:${weekdays.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|tues|thurs?)`;
const month = `(?:${months.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|sept)`;

/** Beside a period they belong to it. */
const beforePeriod = new RegExp(
  `^(?:before|until|till?|not|except|without|since|from|to|and|or|between|first|second|third|half|quarter|past|last|next|this|early|late|every|whole|weeks?|months?|days?|hours?|minutes?|ago|of|noon|midnight|night|${weekday},?|${month}|${counts.join('|')}|\\d{1,2}:\\d.*|\\d{1,2}[ap]m)$`,
  'iu',
);
const behindPeriod =
  /^(?:ago|and|or|to|until|till|before|after|night|morning|evening|noon|midnight|\d{1,2}:\d.*|\d{1,2}[ap]m|[A-Z]{2,4}T|UTC|GMT)$/u;

/** What people and programs write, in the words of the grammar. In this order. */
const rewrites: readonly (readonly [RegExp, string | ((...found: string[]) => string)])[] = [
  [/[[\]]|['’]s$/gu, ''],
  [/,(?!\d)|(?<!\d),/gu, ' '],
  [/\s+/gu, ' '],
  [/^ | $/gu, ''],
  // `1st - 5th november`, `1.-5. november`
  [/\b(\d{1,2})(?:st|nd|rd|th)\b/gu, '$1'],
  [/\b(\d{1,2})\.(?= ?-{1,2} ?\d| (?:to |[a-z]{3,9}(?:$| )))/gu, '$1'],
  // `20-nov-2026`, `20/nov/2026:10:00:00`
  [
    new RegExp(`(?<![\\d-])(\\d{1,2})[-/](${month})(?![a-z])(?:[-/](\\d{4}))?:?`, 'gu'),
    (_, day = '', name = '', year = '') => `${day} ${name} ${year} `,
  ],
  [/ {2,}/gu, ' '],
  [/ $| so far$/u, ''],
  [/\b(\d{1,2}) o['’]?clock\b/gu, '$1:00'],
  [
    new RegExp(
      `\\b(?:${counts.join('|')})(?= (?:${unit.slice(1)})|(?<=past )(?:${counts.join('|')})\\b`,
      'gu',
    ),
    (word) => `${counts.indexOf(word) + 1}`,
  ],
  [/\b(?:an? )?(hour|day) and a half\b/u, '1.5 $1'],
  [/\b(\d+)( hours| days)? and a half\b/u, '$1.5$2'],
  [/\b(?:a )?few(?= [mhdw])/u, '3'],
  [/\b(?:a )?couple(?: of)?(?= [mhdw])/u, '2'],
  [/\b(?:(?:a )?quarter (?:of an )?|1[/⁄]4 )hour$/u, '15m'],
  [/\bhalf an hour ago$/u, '30m ago'],
  [/\ban? (?=(?:minute|hour|day|week|month) ago$)/u, '1 '],
  [/\b(?:a )?fortnight$/u, '2 weeks'],
  [/(?<=\b\d),(?=\d ?[hdw])/u, '.'],
  [/^now ?-(?= ?\d+ ?[mhdw])|^-(?=\d)| ?\.\. ?now$(?<=^\d+ ?[mhdw][a-z]* ?\.\. ?now)/u, ''],
  [/\b(?:last night|overnight)\b/u, 'yesterday night'],
  [/\btonight\b/u, 'today night'],
  [
    /(?<=^since )(?:the )?(?=morning|evening)|^(?:in )?the (?=morning|afternoon|evening)|\bthis (?=morning|afternoon|evening|night)/u,
    'today ',
  ],
  [/\blast (?=morning|afternoon|evening)/u, 'yesterday '],
  [/\b12 (?=noon|midnight)|^all day (?=.)| all day$/u, ''],
  [/\b(half|quarter) past (\d{1,2})\b/gu, (_, part, hour = '') => `${hour}:${part === 'half' ? 30 : 15}`],
  [/(?:the )?(?:start|beginning) of (?:the |this )?/u, 'this '],
  [/^(.+) onwards?$/u, 'since $1'],
  [/^((?:last )?\d{1,2}h\d{1,2})$/u, '$1m'],
];

function clean(typed: string): string {
  return rewrites.reduce(
    (words, [pattern, by]) =>
      typeof by === 'string' ? words.replace(pattern, by) : words.replace(pattern, by),
    toPlainSigns(
      typed.replaceAll(/(\d?)½/gu, (_, whole: string) => `${whole || '0'}.5`).normalize('NFKC'),
    ).toLowerCase(),
  );
}

/** Undefined where the words are not a period. @throws UserError for a day that does not exist or has not begun. */
export function findPeriod(typed: string, clock: PeriodClock, subject = ''): Period | undefined {
  if (typed.length > mostCharacters) return undefined;
  const written = clean(typed)
    .replace(/^(?:(?:in|on|for|during|within|over|of|at) )+(?:the )?/u, '')
    .replace(sinceLast, '');
  const asked = { ...clock, timeZone: findZone(written)?.zone ?? clock.timeZone, typed, subject };
  // `yesterday from 10:00 to 12:00`
  const [, day = '', joint = ''] = dayInFront.exec(written) ?? [];
  const part = readPart(day, asked);
  const isDay = part?.first !== undefined && part.minutes === undefined;
  const words = isDay ? `${joint} ${day} ${written.slice(day.length + joint.length + 2)}` : written;
  for (const read of [readLast, readOpen, readUntil, readLength, readWhole, readBetween]) {
    const period = words === '' ? undefined : read(words, asked);
    if (period) return period;
  }
  return undefined;
}

const dayInFront = /^(.+?) (since|from|between|until|till?|before|by|after) (?=\d|noon|midnight)/u;

const sinceLast = new RegExp(
  `^since (?=(?:the )?(?:last|past) (?!\\w+day|night|weekend|${month})|\\d+ ?${unit}$)`,
  'u',
);
const unitMinutes = { m: 1, h: 60, d: 24 * 60, w: 7 * 24 * 60, o: 30 * 24 * 60, y: 365 * 24 * 60 } as const;
const half = 'half(?: an?)?';
const amount = new RegExp(`(?:(\\d{1,6}(?:\\.\\d)?|${half}(?= )|\\ban?(?= )) ?|\\b)${unit}(?![a-z])`, 'gu');
const amounts = `(?:(?:\\d{1,6}(?:\\.\\d)?|an?|${half}) ?)?${unit}(?:(?:,| and)? ?\\d{1,6} ?${unit})*`;
const lastAmounts = new RegExp(`^((?:the )?(?:last|past|previous) )?${amounts}$`, 'u');

/** Minutes of `24h`, `1h30m`, `90 minutes`, `half an hour`. */
function readMinutes(words: string): number | undefined {
  let sum = 0;
  let last = Infinity;
  for (const [, count = '1', name = ''] of words.matchAll(amount)) {
    const each = unitMinutes[name.startsWith('mo') ? 'o' : (name.charAt(0) as keyof typeof unitMinutes)];
    // `24h 24h` is a zone of that name.
    if (each >= last) return undefined;
    last = each;
    sum += each * (count.startsWith('half') ? 0.5 : count.startsWith('a') ? 1 : Number(count));
  }
  return sum > 0 && sum <= 5_000_000 ? sum : undefined;
}

function readLast(words: string, { now }: PeriodClock): Period | undefined {
  const [, given] = lastAmounts.exec(words) ?? [];
  // A letter alone is a word. `shop week` is the last week.
  const isAmount = given !== undefined || /^(?:\d|an? |half|(?:hour|day|week|month)$)/u.test(words);
  if (!lastAmounts.test(words) || !isAmount) return undefined;
  const last = readMinutes(words.slice(given?.length ?? 0));
  return last === undefined ? undefined : rollBack(last, now);
}

/** `since 10:00`, `from monday`, `2 hours ago`. */
function readOpen(words: string, asked: Asked): Period | undefined {
  const [, since = ''] =
    /^(?:(?:since|from|after) |(?=\d+ ?(?:m|min|minutes?|h|hours?) ago$))(?:the )?(.+)$/u.exec(words) ?? [];
  const start = readPart(since, asked) ?? readPart(since, asked, hour);
  return start && resolve(start, undefined, asked);
}

/** `before 10am`, `until 10 yesterday`: since midnight. */
function readUntil(words: string, asked: Asked): Period | undefined {
  const [, until = ''] = /^(?:until|till?|before|by) (.+)$/u.exec(words) ?? [];
  const end = readPart(until, asked) ?? readPart(until, asked, hour);
  return end?.minutes === undefined ? undefined : resolve({ ...end, minutes: 0 }, end, asked);
}

const withLength = [
  new RegExp(`^(?<moment>.+) for (?:the )?(?<length>${amounts})$`, 'u'),
  new RegExp(
    `^(?:the )?(?:last )?(?<length>${amounts}) (?:from|after|starting(?: at)?|(?<before>before)) (?<moment>.+)$`,
    'u',
  ),
];

/** `10:00 for 1h`, `30 minutes before noon`. */
function readLength(words: string, asked: Asked): Period | undefined {
  const {
    moment = '',
    length = '',
    before,
  } = withLength.map((shape) => shape.exec(words)?.groups).find(Boolean) ?? {};
  const part = readPart(moment, asked);
  const ms = (readMinutes(length) ?? 0) * minuteMs;
  if (!part || !isMoment(part) || ms === 0) return undefined;
  const { from } = resolve(part, undefined, asked) ?? {};
  if (from === undefined) return undefined;
  return cut(before === undefined ? { from, to: from + ms } : { from: from - ms, to: from }, asked);
}

const separators = / ?\.\.+ ?| (?:to|until|till|thru|through|and|-{1,2}) | ?-{1,2} ?|\/(?=\d{4}-)/gu;

/** Two ends. */
function readBetween(words: string, asked: Asked): Period | undefined {
  const [, between, plain = ''] = /^(from |between )?(.*)$/u.exec(words) ?? [];
  for (const { 0: by, index } of plain.matchAll(separators)) {
    const [left, right] = [plain.slice(0, index), plain.slice(index + by.length)];
    const [start, end] = readEnds(left, right, by, asked) ?? [];
    if (!start || !end) continue;
    const gap = start.last && end.first ? startOfDay(end.first) - startOfDay(start.last) : dayMs;
    // `monday and thursday` may be two days.
    if (by === ' and ' && !between && Math.abs(gap) !== dayMs) continue;
    // `fri-mon` on a Wednesday
    const isBack = startsWithWeekday.test(left) && (start.first ?? '') > (end.first ?? '~');
    const [first, last] = [start.first, start.last].map((day) => day && shiftDay(day, -7));
    return resolve(isBack ? { ...start, first, last } : start, right === 'now' ? undefined : end, asked);
  }
  return undefined;
}

const startsWithWeekday = new RegExp(`^${weekday}\\b`, 'u');
const isNumber = (words: string): boolean => /^\d{1,2}$/u.test(words);
/** The number of `18 nov 2026`, `nov 18`, `week 46` or `2026-11-18` that another day has, too. */
const dayNumber = /\d{1,2}(?=[a-z.]* [a-z])|(?<=[a-z] ?)\d{1,2}(?!\d)|\d{1,2}$/u;

/** An end that is a number alone takes the rest from the other one: `18..20 nov`, `10-11am`, `10 to 12`. */
function readEnds(left: string, right: string, by: string, asked: Asked): readonly Part[] | undefined {
  const [start, end] = [left, right].map((words) => readPart(words, asked));
  const [from, to] = [left, right].map((words, nth) => {
    const strict = [start, end][nth];
    const loose = nth === 0 ? looseTime : looseTime.toReversed();
    return strict?.minutes === undefined ? readPart(words, asked, loose) : strict;
  });
  const isBare = by.includes('.') && isNumber(left) && isNumber(right);
  const areYears = /^20[12]\d$/u.test(left) && /^20[12]\d/u.test(right);
  // `2h-1h`
  const areAgo = /\dh$/u.test(left) && Number(from?.minutes) > Number(to?.minutes);
  const isHalf = start?.minutes !== undefined || end?.minutes !== undefined;
  const areTimes = from?.minutes !== undefined && (to?.minutes ?? to?.at) !== undefined;
  if (areTimes && to && (isHalf || !(isBare || areYears || areAgo)))
    return chooseHalves([from, to], [left, right], asked);
  if (start && end) return [start, end];
  const typed = [
    end && isNumber(left) ? right.replace(dayNumber, left) : left,
    start && isNumber(right) ? left.replace(dayNumber, right) : right,
  ];
  const ends = typed.flatMap((words) => readPart(words, asked) ?? readPart(`${words} ago`, asked) ?? []);
  return ends.length === 2 ? ends : undefined;
}

const halfDay = 12 * 60;
const namedHalf = /(?:\d ?[ap]m|noon|midday|ing|night)\b/u;

/** `11am to 1` ends at the next such hour, `1:30-3pm` begins at the last one. @throws UserError for `9-5` */
function chooseHalves(
  ends: readonly [Part, Part],
  typed: readonly [string, string],
  asked: Asked,
): readonly Part[] {
  const [start, end] = ends;
  const { minutes: from = 0 } = start;
  const { minutes: to, first: day } = end;
  if (to === undefined) return ends;
  const [isNamed, isEndNamed] = typed.map((words) => namedHalf.test(words));
  const [early, late] = [from % halfDay, to % halfDay];
  const isFree = start.first === undefined || day === undefined;
  if (to === 0 && isEndNamed && day === undefined) return [start, { ...end, minutes: 2 * halfDay }];
  if (isFree && isNamed && !isEndNamed && to < halfDay + 60 && (from > to || /[ap]m/u.test(typed[0])))
    return [start, { ...end, minutes: [late, late + halfDay].find((at) => at > from) ?? late }];
  if (isFree && isEndNamed && !isNamed && from < halfDay + 60)
    return [{ ...start, minutes: early + halfDay < to || early >= to ? early + halfDay : early }, end];
  const isUnclear = !isNamed && !isEndNamed && from > to && from < halfDay + 60;
  if (!isUnclear || (start.first !== undefined && typed[0].includes(':'))) return ends;
  const readings = [
    `${writeHour(early)}am..${writeHour(late)}pm`,
    `${writeHour(early)}pm..${writeHour(late)}am`,
  ];
  const hint = `Type ${readings.map((one) => `\`${one}\``).join(' or ')}.`;
  throw refuse(asked, `${formatCode(asked.typed, 60)} can mean two times.`, hint, readings);
}

function writeHour(at: number): string {
  return `${Math.floor(at / 60) || 12}${at % 60 === 0 ? '' : `:${String(at % 60).padStart(2, '0')}`}`;
}

/** Days, or a part of one. */
function readWhole(words: string, asked: Asked): Period | undefined {
  const part = readPart(words, asked);
  return part && !isMoment(part) ? resolve(part, part, asked) : undefined;
}

function resolve(start: Part, end: Part | undefined, asked: Asked): Period | undefined {
  const { now, timeZone } = asked;
  for (const { first, zone = timeZone } of [start, end ?? {}])
    if (first !== undefined) assertBegun(first, zone, asked);
  if (end && (start.minutes ?? start.at ?? end.minutes ?? end.at) === undefined)
    return readWholeDays(start, end, asked);

  const today = toLocalDay(now.getTime(), timeZone);
  // `10:00..12:00 yesterday`
  const day = start.first ?? (start.at === undefined ? end?.first : toLocalDay(start.at, timeZone));
  const isNamed = day !== undefined || end === undefined || end.last !== undefined || end.at !== undefined;
  const startOn = (on: string): number => toInstant(on, start.minutes ?? 0, start.zone ?? timeZone);
  const endOn = (on: string): number =>
    end ? endOf({ ...end, last: end.last ?? on }, timeZone) : floor(now.getTime());
  let from = start.at ?? startOn(day ?? today);
  let to = endOn(day ?? today);
  if (from >= now.getTime() && !isNamed && to > from) {
    // At half past midnight `23:00..23:30` means yesterday evening.
    from = startOn(shiftDay(today, -1));
    to = endOn(shiftDay(today, -1));
  } else if (to < from && start.first === undefined && start.at === undefined) {
    // `22:00..02:00` means last night; since a time later than now it is that of yesterday.
    from = startOn(shiftDay(end?.first ?? today, -1));
  } else if (to < from && end?.minutes !== undefined && end.last === undefined && start.at === undefined) {
    const next = endOn(shiftDay(day ?? today, 1));
    // `yesterday 22:00..02:00` goes over midnight; `yesterday 12:00..10:00` was typed the wrong way round.
    if (next - from <= 12 * hourMs) to = next;
  }
  const isOpen = end === undefined;
  const isSkipped =
    start.minutes !== undefined &&
    toLocalTime(start.zone ?? timeZone, new Date(from)).minutes !== start.minutes % (24 * 60);
  if (from === to && isSkipped)
    throw refuse(asked, 'The clocks skipped this hour on that day.', shapes, ['24h', 'today', 'yesterday']);
  if (from === to && !isOpen) return undefined;
  if (to < from) return { ...cut({ from: floor(to), to: ceil(from) }, asked, isOpen), isSwapped: true };
  return cut({ from: floor(from), to: ceil(to) }, asked, isOpen);
}

/** Whole days on the clocks of a zone, in either order. */
function readWholeDays(start: Part, end: Part, asked: Asked): Period | undefined {
  const [first = '', , , whole = ''] = [start.first, start.last, end.first, end.last]
    .map((day) => day ?? '')
    .toSorted();
  // As far as they have begun.
  const [last = ''] = [whole, toLocalDay(asked.now.getTime(), asked.timeZone)].toSorted();
  if (first === '') return undefined;
  // By those of UTC the CDN files its logs.
  if (isUtc(asked.timeZone))
    return wholeDays({ first, count: Math.round((startOfDay(last) - startOfDay(first)) / dayMs) + 1 });
  const [from, to] = [first, shiftDay(last, 1)].map((day) => toInstant(day, 0, asked.timeZone));
  return cut({ from: from ?? 0, to: to ?? 0 }, asked);
}

function isUtc(zone: string): boolean {
  return /^(?:(?:etc\/)?(?:utc|gmt)|\+00:00)$/iu.test(zone);
}

function cut({ from, to }: Pick<Period, 'from' | 'to'>, asked: Asked, isOpen = false): Period {
  const at = asked.now.getTime();
  if (from >= at)
    throw refuse(asked, `${formatCode(asked.typed, 60)} is in the future.`, shapes, ['today', 'yesterday']);
  return isOpen || to > at ? openPeriod(from, asked.now) : { from, to };
}

/** A day alone lasts until the next one begins. */
function endOf({ last = '', minutes, until = minutes, at, zone }: Part, timeZone: string): number {
  if (at !== undefined) return at;
  if (until === undefined) return toInstant(shiftDay(last, 1), 0, zone ?? timeZone);
  return toInstant(last, until, zone ?? timeZone, until % (24 * 60) === 0 ? 'first' : 'second');
}

const clockTime = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?h?(?: ?[ap]m)?|\d{1,2}(?:\.\d{2})? ?[ap]m|noon|midday|midnight|morning|afternoon|evening|night`;

/** A time at the end, or at the beginning. */
const toShapes = (times: string): readonly RegExp[] => [
  new RegExp(`^(?:(?<day>.+?)(?: at | |t))?(?<time>${times})$`, 'u'),
  new RegExp(`^(?<time>${times})(?: on| of)? (?<day>.+)$`, 'u'),
];
const strictTime = toShapes(clockTime);
/** `since 10` */
const hour = toShapes(`${clockTime}|\\d{1,2}`);
/** `10-12`, `9h30 to 10h`, `10.00-10.30`, `1500-1600` */
const looseTime = toShapes(String.raw`${clockTime}|\d{1,2}(?:h|[h.]\d{2})?|(?:^|(?!20[12]\d))[0-2]\d[0-5]\d`);

/** Names that mean one offset; `CET` is a zone of Node. */
const abbreviations = new Map(
  'cest+02:00 eest+03:00 west+01:00 msk+03:00 sast+02:00 est-05:00 edt-04:00 cdt-05:00 mst-07:00 mdt-06:00 pst-08:00 pdt-07:00 akst-09:00 akdt-08:00 hst-10:00 jst+09:00 kst+09:00 hkt+08:00 sgt+08:00 awst+08:00 acst+09:30 acdt+10:30 aest+10:00 aedt+11:00 nzst+12:00 nzdt+13:00'
    .split(' ')
    .map((one) => [one.slice(0, -6), one.slice(-6)]),
);
const zoneBehind = new RegExp(
  [
    String.raw`(?<=\d)z(?![a-z\d])`,
    String.raw`(?<=[a-z\d]) ?(?:utc|gmt)(?:[+-]\d{1,2}(?::?\d{2})?)?(?![a-z\d])`,
    String.raw`(?<=t[\d:]+(?:[.,]\d+)?)[+-]\d{2}(?::?\d{2})?(?![:\d])`,
    String.raw`(?<=\d) ?\+\d{1,2}(?::?\d{2})?(?![:\d])|(?<=:\d{2}) -\d{4}(?!\d)`,
    String.raw`(?<=[a-z\d]) (?:[cew]et|met|${[...abbreviations.keys()].join('|')}|[a-z]{2,}(?:\/[\w+-]+)+)(?= |$)`,
  ].join('|'),
  'u',
);

/** The zone that was typed behind a time: `Z`, `UTC`, an abbreviation such as `CET`, an offset or a name. */
function findZone(words: string): { readonly zone: string; readonly rest: string } | undefined {
  const found = zoneBehind.exec(words);
  if (!found) return undefined;
  const name = found[0].trim();
  const [, sign, hours = '', minutes = '00'] =
    /^(?:utc|gmt)?([+-])(0?\d|1[0-4]):?([0-5]\d)?$/u.exec(name) ?? [];
  const offset = sign ? `${sign}${hours.padStart(2, '0')}:${minutes}` : abbreviations.get(name);
  const zone = offset ?? (/^(?:utc|gmt|z)$/u.test(name) ? 'UTC' : name.toUpperCase());
  if (offset === undefined && !isTimeZone(zone)) return undefined;
  return { zone, rest: words.slice(0, found.index) + words.slice(found.index + found[0].length) };
}

function readPart(typed: string, asked: Asked, times = strictTime): Part | undefined {
  const own = findZone(typed);
  const words = (own?.rest ?? typed).replace(/^(?:(?:on|at|the|in|of|around|about) )+/u, '').trim();
  const zone = own && { zone: own.zone };
  const now = asked.now.getTime();
  if (words === '') return undefined;
  if (words === 'now') return { at: floor(now) };
  const { day: today, minutes: clock } = toLocalTime(own?.zone ?? asked.timeZone, asked.now);
  if (words === 'this hour') {
    const minutes = Math.floor(clock / 60) * 60;
    return { first: today, last: today, minutes, until: minutes + 60 };
  }
  const read = (day: string | undefined) => (day === undefined ? [] : readDays(day, today, asked));
  for (const shape of times) {
    const { day, time = '' } = shape.exec(words)?.groups ?? {};
    const [minutes, until] = readTime(time);
    const days = minutes === undefined ? undefined : read(day);
    const [first, last] = days ?? [];
    // An evening is that of a day, and a time that of one.
    if (days && (first === undefined ? until === undefined : first === last))
      return { first, last, minutes, until, ...zone };
  }
  const [first, last] = read(words) ?? [];
  if (first !== undefined) return { first, last, ...zone };
  const [, ago = ''] = /^(.+) ago$/u.exec(words) ?? [];
  const minutes = lastAmounts.test(ago) ? readMinutes(ago) : undefined;
  return minutes === undefined ? undefined : { at: floor(now - minutes * minuteMs) };
}

/** In minutes since midnight. */
const namedTimes = new Map<string, readonly [number, number?]>([
  ['midnight', [0]],
  ['noon', [12 * 60]],
  ['midday', [12 * 60]],
  ['morning', [6 * 60, 12 * 60]],
  ['afternoon', [12 * 60, 18 * 60]],
  ['evening', [18 * 60, 24 * 60]],
  ['night', [20 * 60, 30 * 60]],
]);

/** Minutes since midnight of `10:00`, `10:00:30`, `10am`, `9h30`, `1500`, `noon`; `24:00` is the end of a day. */
function readTime(words: string): readonly [number?, number?] {
  const [, hours = '', minutes = '0', half] =
    /^(\d{1,2})(?:[:.h]?(\d{2}))?(?::\d{2}(?:[.,]\d+)?)?h? ?([ap]m)?$/u.exec(words) ?? [];
  const [hour, minute] = [Number(hours), Number(minutes)];
  if (hours === '' || minute > 59 || (half !== undefined && (hour < 1 || hour > 12)))
    return namedTimes.get(words) ?? [];
  const at = (half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0)) * 60 + minute;
  return at <= 24 * 60 ? [at] : [];
}

const namedDays = new Map([
  ['today', 0],
  ['yesterday', -1],
  ['day before yesterday', -2],
  ['tomorrow', 1],
]);
const weekendDays = /^(?:(?:last|this) )?weekend$/u;
const withWeekday = new RegExp(`^(${weekday}) (.*\\d.*)$`, 'u');
const onWeekday = new RegExp(`^(last |next |this )?(${weekday})$`, 'u');

/** `2026-11-20` of `today`, `last monday`, `20 Nov`, `week 46`, `november`: the first day and the last. @throws UserError if it does not exist. */
function readDays(typed: string, today: string, asked: Asked): readonly [string, string] | undefined {
  const words = typed.replace(/^(?:on )?(?:the )?/u, '').trim();
  const named = namedDays.get(words);
  if (named !== undefined) return repeat(shiftDay(today, named));
  if (/^next (?:week|weekend|month|year)$/u.test(words)) return repeat(shiftDay(today, 1));
  const [, ago] = /^(\d{1,3}) ?d(?:ays?)? ago$/u.exec(words) ?? [];
  if (ago !== undefined) return repeat(shiftDay(today, -Number(ago)));
  const [, before, name = ''] = onWeekday.exec(words) ?? [];
  if (name !== '') {
    const back = (weekdayOf(today) - indexOf(weekdays, name) + 7) % 7;
    const by = before === 'next ' ? 7 - back : -(back === 0 && before === 'last ' ? 7 : back);
    return repeat(shiftDay(today, by));
  }
  const monday = shiftDay(today, -((weekdayOf(today) + 6) % 7));
  if (words === 'this week') return [monday, shiftDay(monday, 6)];
  if (words === 'this month') return readMonth(`this ${months[Number(today.slice(5, 7)) - 1]}`, today);
  if (weekendDays.test(words)) {
    const saturday = shiftDay(monday, words.startsWith('last') || today < shiftDay(monday, 5) ? -2 : 5);
    return [saturday, shiftDay(saturday, 1)];
  }
  const span = readMonth(words, today) ?? readWeek(words, today);
  if (span) return span;
  const [, dayName = '', date = ''] = withWeekday.exec(words) ?? [];
  const dated = readDate(date || words, today);
  if (!dated) return undefined;
  const [year, month, number] = dated;
  const written = `${year}-${String(month).padStart(2, '0')}-${String(number).padStart(2, '0')}`;
  const isReal = isExists(year, month - 1, number);
  const isOther = isReal && dayName !== '' && weekdayOf(written) !== indexOf(weekdays, dayName);
  if (isReal && !isOther) return repeat(written);
  const hint = 'Year first, then month and day: `2026-11-20`.';
  const guessed = /^\D*29\D*$/u.test(words) ? ` in ${year}` : '';
  throw refuse(
    asked,
    isOther
      ? `${formatShortDay(written)} ${year} is a ${capitalize(weekdays[weekdayOf(written)] ?? '')}.`
      : `${formatCode(words, 20)} is not a date${guessed}.`,
    hint,
    isOther ? [written] : ['today', 'yesterday'],
  );
}

const repeat = (day: string): readonly [string, string] => [day, day];
const weekdayOf = (day: string): number => new Date(startOfDay(day)).getUTCDay();
const indexOf = (names: readonly string[], typed: string): number =>
  names.findIndex((name) => name.startsWith(typed.slice(0, 3)));

/** The days so far of `november` or `november 2025`; `last november` is not this one. */
function readMonth(words: string, today: string): readonly [string, string] | undefined {
  const [, before, name = '', named] = onMonth.exec(words) ?? [];
  if (name === '') return undefined;
  const month = indexOf(months, name) + 1;
  const find = (year: number): string => `${year}-${String(month).padStart(2, '0')}-01`;
  const thisYear = Number(today.slice(0, 4));
  const lastYear = month < Number(today.slice(5, 7)) ? thisYear : thisYear - 1;
  const year = Number(named ?? (before === 'last ' ? lastYear : guessYear(find, today)));
  return [find(year), toUtcDay(new Date(Date.UTC(year, month, 0)))];
}

const onMonth = new RegExp(`^(last |this )?(${months.join('|')}|${month}(?= \\d{4}$))(?: (\\d{4}))?$`, 'u');

/** ISO weeks: `2026-W47`, `week 47`, `kw47`, `week 47 2026`, and a day of one, `2026-W47-3`. */
function readWeek(words: string, today: string): readonly [string, string] | undefined {
  const [, first, week = '', nth, last] =
    /^(?:(\d{4})-?)?(?:(?:calendar )?weeks? |wk ?|w|[ck]w ?)(0?[1-9]|[1-4]\d|5[0-3])(?:-([1-7]))?(?: (?:of )?(\d{4}))?$/u.exec(
      words,
    ) ?? [];
  if (week === '') return undefined;
  const find = (year: number, day = 1): string =>
    toUtcDay(parseISO(`${year}-W${week.padStart(2, '0')}-${day}T00:00:00Z`));
  const year = Number(first ?? last ?? guessYear(find, today));
  // A week belongs to the year of its Thursday.
  if (!find(year, 4).startsWith(String(year))) return undefined;
  const day = find(year, Number(nth ?? 1));
  return [day, nth === undefined ? find(year, 7) : day];
}

const isMonth = new RegExp(`^${month}$`, 'u');

/** Year, month and day; without a year the nearest one. */
function readDate(words: string, today: string): [number, number, number] | undefined {
  const [, year, , month, date] = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/u.exec(words) ?? [];
  if (year) return [Number(year), Number(month), Number(date)];
  const [, before, name, behind, named] =
    /^(?:(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?)?([a-z]{3,9})(?:\.? (\d{1,2})(?:st|nd|rd|th)?)?(?:,? (\d{4}))?$/u.exec(
      words,
    ) ?? [];
  if (name === undefined || !isMonth.test(name) || (before ?? behind) === undefined) return undefined;
  const at = indexOf(months, name) + 1;
  const day = Number(before ?? behind);
  // `26 nov 25`
  const written = before !== undefined && behind !== undefined ? `20${behind.padStart(2, '0')}` : named;
  const find = (of: number): string => toUtcDay(new Date(Date.UTC(of, at - 1, day)));
  return [written === undefined ? guessYear(find, today) : Number(written), at, day];
}

/** Days ahead in which a date without a year is taken for a coming one. */
const nearDays = 60;

/** The year of the last such day, or of the next one where it is near. */
function guessYear(find: (year: number) => string, today: string): number {
  const year = Number(today.slice(0, 4));
  const daysAhead = (of: number): number => (startOfDay(find(of)) - startOfDay(today)) / dayMs;
  if (daysAhead(year) > nearDays) return year - 1;
  if (daysAhead(year) >= 0) return year;
  return daysAhead(year + 1) <= nearDays ? year + 1 : year;
}

/** @throws UserError for a day that has not begun on the clocks of the zone. */
function assertBegun(day: string, zone: string, asked: Asked): void {
  const today = toLocalDay(asked.now.getTime(), zone);
  if (day <= today) return;
  const yearBefore = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`.replace('-02-29', '-02-28');
  const [written, now] = [day, today].map((one) => `${formatShortDay(one)} ${one.slice(0, 4)}`);
  const message = `${written} has not started yet: it is ${now}${isUtc(zone) ? ' in UTC' : ''}.`;
  if (!/\d{4}|tomorrow|next|w(?:ee)?k?\s?\d/iu.test(asked.typed)) {
    const whose = yearBefore.slice(0, 4) === today.slice(0, 4) ? 'this' : 'last';
    const hint = `Type an earlier day, or \`${yearBefore}\` for ${whose} year’s.`;
    throw refuse(asked, message, hint, ['today', yearBefore]);
  }
  throw refuse(asked, message, 'Type `today` or an earlier day.', ['today', 'yesterday']);
}

const floor = (at: number): number => Math.floor(at / minuteMs) * minuteMs;
const ceil = (at: number): number => Math.ceil(at / minuteMs) * minuteMs;

function toLocalDay(at: number, zone: string): string {
  return toLocalTime(zone, new Date(at)).day;
}

/** A time that a clock change skips is as much later; of one that comes twice it is the first or the second. */
function toInstant(day: string, minutes: number, zone: string, twice: 'first' | 'second' = 'first'): number {
  return findMoment(zone, day, minutes, { twice, skipped: 'later' }).getTime();
}
