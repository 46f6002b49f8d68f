import { isExists } from 'date-fns/isExists';
import { UserError } from '../errors.ts';
import { dayMs, hourMs, minuteMs, shiftDay, startOfDay } from '../lib/time.ts';
import { findMoment, toLocalTime } from '../lib/time-zone.ts';
import { formatShortDay } from '../views/blocks/format.ts';
import { openPeriod, type Period, rollBack, wholeDays } from '../views/blocks/period.ts';
import { formatCode, join } from '../views/blocks/text.ts';
import { isPlainWord } from './aliases.ts';
import { findClosest } from './did-you-mean.ts';
import {
  type Asked,
  amounts,
  clean,
  counts,
  findZone,
  floor,
  hour,
  lastAmounts,
  looseTime,
  month,
  type Part,
  type PeriodClock,
  readMinutes,
  readPart,
  refuse,
  shapes,
  toLocalDay,
  unit,
  weekday,
} from './moments.ts';
import type { Words } from './words.ts';

/** A period has at most this many words, in front of its subject or behind it. */
const mostWords = 14;
const mostCharacters = 120;

/** `20/11` and `20.11.2026`: which number is the month differs from place to place. */
const unclearDate = /^\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?\.?$|^\d{1,2}-\d{1,2}-\d{4}$/u;

type Line = Pick<Words, 'list' | 'quoted'>;

/** A word; what is quoted is a name. */
interface Word {
  readonly text: string;
  readonly isName: boolean;
}

const write = (words: readonly Word[]): string => words.map(({ text }) => text).join(' ');

/**
 * Splits `shop last 3 days`, or `last 3 days shop`.
 * @throws UserError for two periods, for a day that does not exist, is unclear or has not begun, and for words of time that are not a period
 */
export function splitPeriod(
  { list, quoted = [] }: Line,
  clock: PeriodClock,
): { readonly subject: readonly string[]; readonly period: Period | undefined } {
  const words = list.map((text, nth) => ({ text, isName: quoted[nth] ?? false }));
  const { others, typed, period, isBehind } = splitFirst(words, clock);
  if (period) assertOnly(typed, others, isBehind, clock);
  return { subject: others.map(({ text }) => text), period };
}

function splitFirst(line: readonly Word[], clock: PeriodClock) {
  const split = (from: number, to: number) => ({
    typed: write(line.slice(from, to)),
    // `shop – yesterday`
    others: line.toSpliced(from, to - from).filter(({ text }) => /[\p{L}\p{N}]/u.test(text)),
    isBehind: from > 0,
  });
  const findUnclear = (words: readonly Word[]) =>
    words.find(({ text, isName }) => unclearDate.test(text) && !isName);
  const createError = (from: number, to: number): UserError => {
    const { typed, others, isBehind } = split(from, to);
    // `shop last night 10pm`
    if (others.length < mostWords) assertOnly(typed, others, isBehind, clock);
    const subject = others.every(({ text }) => isPlainWord(text)) ? '' : write(others);
    return createPeriodError(typed, clock, subject);
  };
  // The longest phrase wins; a time usually follows its subject.
  for (let length = Math.min(mostWords, line.length); length > 0; length -= 1)
    for (const at of new Set([line.length - length, 0])) {
      // `week 53` of a year that has none is no last week.
      const isNumbered = /^(?:week|day|hour|month) \d+$/iu.test(write(line.slice(at, at + 2)));
      const isName = line.slice(at, at + length).some((word) => word.isName);
      if (isName || (isNumbered && length === 1)) continue;
      const found = split(at, at + length);
      // `zone week` is a zone of that name.
      if (/^zone$/iu.test(write(found.others)) && at > 0) continue;
      const period = findPeriod(found.typed, clock, write(found.others));
      if (period && !findUnclear(found.others)) return { ...found, period };
      if (!period && readMoment(found.typed, clock)) throw createError(at, at + length);
    }
  const unclear = findUnclear(line);
  if (unclear) throw createError(line.indexOf(unclear), line.indexOf(unclear) + 1);
  // `shop right now`; `zone now` is a zone of that name.
  const [, now] =
    /(?<!\b(?:zone|right|and|from|since|till?|to|until)) ((?:right )?now)$/iu.exec(` ${write(line)}`) ?? [];
  const end = line.length - (now?.split(' ').length ?? 0);
  const isName = line.slice(end).some((word) => word.isName);
  return { others: isName ? line : line.slice(0, end), typed: '', period: undefined, isBehind: false };
}

const unreadTime = new RegExp(
  `^(?:at|in|during|the|this|last|next|every) (?:.* )?(?:night|morning|afternoon|evening|week|month|year|quarter)s?$| ago$|^(?:since|until|till) |^(?:at|around|about) (?:${counts.join('|')})$`,
  'iu',
);

/** The zone and the period of a typed line. @throws UserError for words that are not a time. */
export function splitZone(
  words: Line,
  clock: PeriodClock,
): { readonly zone: string; readonly period: Period | undefined } {
  const { subject, period } = splitPeriod(words, clock);
  const [first = '', ...others] = subject.filter((word) => !/^(?:zone|id)$/iu.test(word));
  const rest = others.join(' ');
  const isTime =
    /\d/u.test(rest) || unreadTime.test(rest) || findClosest(rest, ['today', 'yesterday'], 1).length > 0;
  if (!period && !words.quoted?.includes(true) && (isTime || /\d:\d\d|^\d{1,2}[ap]m$/iu.test(first)))
    throw partOfSpan.test(first)
      ? createPeriodError(`${first} ${rest}`, clock)
      : createPeriodError(rest || first, clock, rest === '' ? '' : first);
  return { zone: subject.join(' '), period };
}

/** A time, alone or behind one word: `shop yesterday`, `last 30 minutes`. */
export function isTimed({ list }: { readonly list: readonly string[] }): boolean {
  return isWholeTime(list.join(' ')) || isWholeTime(list.slice(1).join(' '));
}

export function isWholeTime(typed: string): boolean {
  const clock = { now: new Date(), timeZone: 'UTC' };
  try {
    return (findPeriod(typed, clock) ?? readMoment(typed, clock)) !== undefined;
  } catch (error) {
    if (error instanceof UserError) return true;
    throw error;
  }
}

/** @throws UserError where the words next to a period are another period, or belong to it and cannot be read. */
function assertOnly(typed: string, list: readonly Word[], isBehind: boolean, clock: PeriodClock): void {
  const adjacent = list.at(isBehind ? -1 : 0);
  if (!adjacent || adjacent.isName) return;
  const { others: subject, period, typed: other } = splitFirst(list, clock);
  // `first week of november`
  const isPart = ({ text }: Word): boolean =>
    (isBehind ? beforePeriod : behindPeriod).test(text) ||
    (isBehind && startsWithSpan.test(typed) && partOfSpan.test(text));
  if (period && !subject.slice(-1).some(isPart)) {
    const asked = { ...clock, typed, subject: write(subject) };
    const both = [other, typed].map((words) => words.replace(/^(?:in|on|for|of) /iu, ''));
    const message = `I read two periods: ${both.map((words) => formatCode(words, 40)).join(' and ')}.`;
    throw refuse(asked, message, 'Type one. A name that reads like a time goes in quotes.', both);
  }
  const words = isBehind ? list.toReversed() : list;
  // `10:00-11:00 IST yesterday`
  const hasName = list.some(({ isName }) => isName);
  const time = hasName ? -1 : words.findLastIndex(({ text }) => timeOfDay.test(text));
  const ends = words.findIndex((word) => !isPart(word));
  const count = Math.max(time + 1, ends === -1 ? words.length : ends);
  const others = write(isBehind ? list.slice(0, -count) : list.slice(count));
  const isExcluded = /^(?:before|until|till|not|except|without)$/iu.test(adjacent.text);
  if (count === 0 || (!isExcluded && /^(?:zone)?$/iu.test(others) && count === 1)) return;
  const unread = write(isBehind ? list.slice(-count) : list.slice(0, count));
  throw createPeriodError(isBehind ? `${unread} ${typed}` : `${typed} ${unread}`, clock, others);
}

/** `3am`, `yesterday at 15:00`, `5 minutes ago`: a time without a length. */
function readMoment(typed: string, clock: PeriodClock): Part | undefined {
  // `what fails now`, an id
  if (typed.length > mostCharacters || /^(?:now|\d+)$/iu.test(typed)) return undefined;
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
  const [, zone] = /\d(?:[ap]m)? ([a-z]{2,5})(?= |$)/iu.exec(typed) ?? [];
  const hint = unclearDate.test(typed)
    ? 'Write the year first, so that nobody mistakes day and month: `2026-11-20`.'
    : near
      ? `Did you mean \`${near}\`?`
      : zone && /^[A-Z]{2,5}$/u.test(zone)
        ? `I don’t know which time zone ${formatCode(zone, 5)} is: type its offset, as in \`10:00..11:00 +05:30\`.`
        : shapes;
  const dates = findDates(typed, toLocalDay(clock.now.getTime(), clock.timeZone));
  const others = dates.length > 0 ? dates : ['24h', 'today', 'yesterday'];
  return refuse(asked, `I can’t read ${formatCode(typed, 60)} as a time.`, hint, near ? [near] : others);
}

/** The past days that a date may mean if its year is last or missing. */
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

/** Words that belong to the period behind them. Others may end a name: `Blog Two`. */
const beforePeriod = new RegExp(
  `^(?:before|until|till?|not|except|without|since|from|to|and|or|between|past|last|next|this|earlier|later|every|weeks|months|days|hours|minutes|ago|of|noon|midnight|night|utc|gmt|${weekday},?|\\d{1,2}(?:,|:\\d.*|[ap]m))$`,
  'iu',
);
const timeOfDay = /^\d{1,2}(?::\d\d|[ap]m\b)/iu;
const partOfSpan =
  /^(?:first|second|third|last|half|quarter|early|late|mid|start|beginning|end|week|of|the)$/iu;
const startsWithSpan = new RegExp(`^(?:of |in )?(?:the )?(?:${month}|week|month|year)\\b`, 'iu');
const behindPeriod =
  /^(?:ago|and|or|to|until|till|before|after|night|morning|evening|noon|midnight|\d{1,2}:\d.*|\d{1,2}[ap]m|[A-Z]{2,4}T|UTC|GMT)$/u;

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
  const [, by, since = ''] =
    /^(?:(since|from|after) |(?=[\d.]+ ?(?:m|min|minutes?|h|hours?)(?: ?\d+ ?m[a-z]*)? ago$))(?:the )?(.+)$/u.exec(
      words,
    ) ?? [];
  const start = readPart(since, asked, hour);
  const isAfter = by === 'after' && start?.last !== undefined && start.minutes === undefined;
  const first = isAfter ? shiftDay(start.last ?? '', 1) : start?.first;
  return start && resolve({ ...start, first }, undefined, asked);
}

/** `before 10am`, `until 10 yesterday`: since midnight. */
function readUntil(words: string, asked: Asked): Period | undefined {
  const [, until = ''] = /^(?:until|till?|before|by) (.+)$/u.exec(words) ?? [];
  const end = readPart(until, asked, hour);
  return end?.minutes === undefined ? undefined : resolve({ ...end, minutes: 0 }, end, asked);
}

const withLength = [
  new RegExp(`^(?<moment>.+?)(?: for (?:the )?| ?\\+ ?)(?<length>${amounts})$`, 'u'),
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

const separators = / ?\.\.+ ?| (?:to|until|till|thru|through|and|-{1,2}) | ?-{1,2} ?|\/(?=\d{4}-|\d{1,2}:)/gu;

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

/** An end that is a number alone takes the rest from the other end: `18..20 nov`, `10-11am`, `10 to 12`. */
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
  const areDates = /\d(?:st|nd|rd|th)\b/iu.test(asked.typed);
  const areTimes = from?.minutes !== undefined && (to?.minutes ?? to?.at) !== undefined;
  if (areTimes && to && (isHalf || !(isBare || areYears || areAgo || areDates)))
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
  ].map((hours) => join([start.first ?? day, hours, start.zone ?? end.zone], ' '));
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
  } else if (to < from) {
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
  // Not beyond today.
  const [last = ''] = [whole, toLocalDay(asked.now.getTime(), asked.timeZone)].toSorted();
  // The CDN files its logs by UTC day.
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

/** @throws UserError for a day that has not begun on the clocks of the zone. */
function assertBegun(day: string, zone: string, asked: Asked): void {
  const today = toLocalDay(asked.now.getTime(), zone);
  if (day <= today) return;
  const yearBefore = `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`.replace('-02-29', '-02-28');
  const [written, now] = [day, today].map((one) => `${formatShortDay(one)} ${one.slice(0, 4)}`);
  const message = `${written} has not started yet: it is ${now}${isUtc(zone) ? ' in UTC' : ''}.`;
  if (!/\d{4}|tomorrow|next|this|w(?:ee)?k?\s?\d/iu.test(asked.typed)) {
    const whose = yearBefore.slice(0, 4) === today.slice(0, 4) ? 'this' : 'last';
    const hint = `Type an earlier day, or \`${yearBefore}\` for ${whose} year’s.`;
    throw refuse(asked, message, hint, ['today', yearBefore]);
  }
  throw refuse(asked, message, 'Type `today` or an earlier day.', ['today', 'yesterday']);
}

const ceil = (at: number): number => Math.ceil(at / minuteMs) * minuteMs;

/** A time that a clock change skips is later by the change; `twice` chooses where a time comes twice. */
function toInstant(day: string, minutes: number, zone: string, twice: 'first' | 'second' = 'first'): number {
  return findMoment(zone, day, minutes, { twice, skipped: 'later' }).getTime();
}
