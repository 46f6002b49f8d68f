import { isExists } from 'date-fns/isExists';
import { parseISO } from 'date-fns/parseISO';
import { type Instead, UserError } from '../errors.ts';
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

const shapes =
  'Try `24h`, `yesterday`, `20 Nov`, `10:00..11:00`, `since 10:00` or `2026-11-20 10:00..12:00`.';

/** Words in front of or behind a subject are a period, at most so many. */
const mostWords = 10;

/** `before yesterday` is not yesterday. */
const excluding = /^(?:before|until|till|not|except|without)$/iu;
/** `20/11` and `20.11.2026`, which differ from place to place. */
const unclearDate = /^\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?\.?$|^\d{1,2}-\d{1,2}-\d{4}$/u;

/** Splits `shop last 3 days`, or `last 3 days shop`. @throws UserError for a day that does not exist, is unclear or has not begun. */
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
      const [before = ''] = list.slice(at - 1, at);
      if (period && at > 0 && excluding.test(before) && !isName(at - 1, at))
        throw createPeriodError(`${before} ${typed}`, clock, without(at - 1, at + length).join(' '));
      if (period && findUnclear(at, at + length) === -1) return { subject, period };
      if (!period && /\d| ago$/iu.test(typed) && readMoment(typed, clock))
        throw createPeriodError(typed, clock, subject.every(isPlainWord) ? '' : subject.join(' '));
    }
  const unclear = findUnclear(0, 0);
  if (unclear >= 0)
    throw createPeriodError(list[unclear] ?? '', clock, without(unclear, unclear + 1).join(' '));
  return { subject: list, period: undefined };
}

/** `3am`, `yesterday at 15:00`, `5 minutes ago`: no length. */
function readMoment(typed: string, clock: PeriodClock): Part | undefined {
  const part = readPart(clean(typed), { ...clock, typed, subject: '' }, clock.timeZone);
  return (part?.at ?? part?.minutes) === undefined ? undefined : part;
}

/** The hour from a moment on: `2026-11-20 03:00..04:00`. */
function describeHour({ day, minutes, zone }: Part): string | undefined {
  if (minutes === undefined || minutes > 23 * 60 || zone !== undefined) return undefined;
  const [hour, minute] = [Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0')];
  return join([day, `${hour}:${minute}..${hour + 1}:${minute}`], ' ');
}

export function createPeriodError(typed: string, clock: PeriodClock, subject = ''): UserError {
  const asked = { ...clock, typed, subject };
  const part = readMoment(typed, clock);
  if (part) {
    const moment = typed.replace(/^(?:(?:at|around|about) )+/iu, '').slice(0, 60);
    const hours = describeHour(part);
    const hint = `Say how long: \`since ${moment}\` or \`${hours ?? '10:00..11:00'}\`.`;
    const others = hours === undefined ? [`since ${moment}`] : [hours, `since ${moment}`];
    return refuse(asked, `${formatCode(typed, 60)} is a moment, not a period.`, hint, others);
  }
  const [near] = findClosest(typed, ['today', 'yesterday'], 1);
  const hint = unclearDate.test(typed)
    ? 'Write the year first, so that nobody mistakes day and month: `2026-11-20`.'
    : near
      ? `Did you mean \`${near}\`?`
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
const dayNames = '(?:sun|mon|tue|wed|thu|fri|sat)';
const weekday = `(${dayNames}[a-z]*)`;
const isMonth = `(?:${months.map((month) => month.slice(0, 3)).join('|')})`;
/** `10-12`, `10:30 to 12`, and before `nov 20`, but neither `10-12 nov` nor `10-11am`. */
const hours = String.raw`(\d{1,2})(:\d{2})? ?(?:-|to|and|until|till) ?(\d{1,2})(:\d{2}(?=$| ))?(?![\d:.]| ?[ap]m| ?${isMonth}(?![a-z]* \d{1,2}(?!\d)))`;
const isWeekday = new RegExp(`^${weekday}`, 'u');

/** What people and programs write, in the words of the grammar: two ends are joined by `..`. In this order. */
const rewrites: readonly (readonly [RegExp, string | ((...found: string[]) => string)])[] = [
  [/\s+/gu, ' '],
  [/^ | $/gu, ''],
  [/[–—−‒]/gu, '-'],
  // `1st - 5th november`, `1.-5. november`
  [/\b(\d{1,2})(?:st|nd|rd|th)\b/gu, '$1'],
  [/\b(\d{1,2})\.(?= ?-{1,2} ?\d| (?:to |[a-z]{3,9}(?:$| )))/gu, '$1'],
  [/ so far$/u, ''],
  [
    new RegExp(`\\b(?:${counts.join('|')})(?= (?:${unit.slice(1)})`, 'gu'),
    (word) => `${counts.indexOf(word) + 1}`,
  ],
  [/\b(?:an? )?(hour|day) and a half\b/u, '1.5 $1'],
  [/\b(\d+)( hours| days)? and a half\b/u, '$1.5$2'],
  // `2h-1h` are hours ago.
  [
    /\b(\d{1,2})h(\d{2})? ?(?:-|to) ?(\d{1,2})h(\d{2})?$/u,
    (typed, from = '', minute = '00', to = '', toMinute = '00') =>
      Number(from) < Number(to) ? `${from}:${minute}..${to}:${toMinute}` : typed,
  ],
  [/\b(?:a )?few(?= [mhdw])/u, '3'],
  [/\b(?:a )?couple(?: of)?(?= [mhdw])/u, '2'],
  [/\b(?:(?:a )?quarter (?:of an )?|1\/4 )hour$/u, '15m'],
  [/\bhalf an hour ago$/u, '30m ago'],
  [/\ban? (?=(?:minute|hour|day|week|month) ago$)/u, '1 '],
  [/\b(?:a )?fortnight$/u, '2 weeks'],
  [/(?<=\b\d),(?=\d ?[hdw])/u, '.'],
  [/^now ?-(?= ?\d+ ?[mhdw])|^-(?=\d)| ?\.\. ?now$(?<=^\d+ ?[mhdw][a-z]* ?\.\. ?now)/u, ''],
  [/\b(\d{1,2})h(\d{1,2})$/u, '$1h$2m'],
  [
    /\b(\d{1,2})\.(\d{2})(?= ?(?:-|to|\.\.) ?\d{1,2}\.\d{2}$)|(?<=\d\.\d{2} ?(?:-|to|\.\.) ?)(\d{1,2})\.(\d{2})$/gu,
    (_, hour = '', minute = '', toHour = hour, toMinute = minute) => `${toHour}:${toMinute}`,
  ],
  // Hours, as no dates are told like that.
  [
    new RegExp(`(?<=^|(?:day|${dayNames}|\\d{4}-\\d{2}-\\d{2}) )(?:(?:from|between) )?${hours}(?=$| )`, 'u'),
    (_, from = '', minute = ':00', to = '', toMinute = ':00') => `${from}${minute}..${to}${toMinute}`,
  ],
  [/(?<=\b(?:since|from) )(\d{1,2})(?=$| (?:to|yester)day$)/u, '$1:00'],
  [/^(.+) onwards?$/u, 'since $1'],
  [/^(\S*day) and (\S*day)$/u, '$1..$2'],
  // `1500-1600`, but not the years `2025-2026`.
  [/(?<![\d-])(?!20[12]\d\D+20)(\d\d)([0-5]\d) ?(?:-|\.\.|to) ?(\d\d)([0-5]\d)(?![\d-])/u, '$1:$2..$3:$4'],
  [/(?<=^|day )(?:until|till?|before|by) (\d{1,2})(?=$| (?:to|yester)day$)/u, 'midnight..$1:00'],
  [/(?<=^|day )(?:until|till?|before|by) (?=\d{1,2}(?::| ?[ap]m)|noon)/u, 'midnight..'],
  [/^(?:(?:at|around|about) )+(?=\d)/u, ''],
  [/^(.+) (?:since|from) (?!.*(?:\.\.|-| to ))(?=\d)/u, 'since $1 '],
  // The CDN's files and ours write times with milliseconds.
  [/(\d:\d{2}:\d{2})[.,]\d{1,9}/gu, '$1'],
  [/ ?(?:…|\.{2,3}) ?/gu, '..'],
  [/\bbetween (.+?) and /u, '$1..'],
  [/ (?:to|until|till|through|-{1,2}) /gu, '..'],
  [/(?<=\d(?:z|[+-]\d{2}:?\d{2})?)\/(?=\d{4}-\d{2}-\d{2}t)/gu, '..'],
  // `10:00-11:00`, `10am-11am`, `10-11am`, but not the offset of `2026-11-20t10:00-05:00`.
  [/(?<!t[\d:]*)(?<=\d:\d{2}|\d ?[ap]m|noon) ?-{1,2} ?(?=\d|now|noon|midnight)/gu, '..'],
  [/(?<![\d./-])(\d{1,2}) ?-{1,2} ?(?=\d{1,2} ?(?:[ap]m|[a-z]{3,}))/u, '$1..'],
  [/([a-z]{3,9} \d{1,2}) ?-{1,2} ?(?=\d{1,2}$)/u, '$1..'],
  [new RegExp(`^${weekday} ?- ?${weekday}$`, 'u'), '$1..$2'],
  [new RegExp(`^(\\d+ ?${unit})\\.\\.-?(\\d+ ?${unit})$`, 'u'), '$1 ago..$3 ago'],
];

function clean(typed: string): string {
  return rewrites.reduce(
    (words, [pattern, by]) =>
      typeof by === 'string' ? words.replace(pattern, by) : words.replace(pattern, by),
    typed.toLowerCase(),
  );
}

/** Undefined where the words are not a period. @throws UserError for a day that does not exist or has not begun. */
export function findPeriod(typed: string, clock: PeriodClock, subject = ''): Period | undefined {
  const words = clean(typed)
    .replace(/^(?:(?:in|on|for|during|within|over|of|at) )+(?:the )?/u, '')
    .replace(sinceLast, '');
  if (words === '') return undefined;
  return readLast(words, clock) ?? readRange(nameSpans(words, clock), { ...clock, typed, subject });
}

const sinceLast = new RegExp(
  `^since (?=(?:the )?(?:last|past) (?!\\w+day|night|weekend|${isMonth})|\\d+ ?${unit}$)`,
  'u',
);
const unitMinutes = { m: 1, h: 60, d: 24 * 60, w: 7 * 24 * 60, o: 30 * 24 * 60, y: 365 * 24 * 60 } as const;
const half = 'half(?: an?)?';
const amount = new RegExp(`(?:(\\d{1,6}(?:\\.\\d)?|${half}(?= )|\\ban?(?= )) ?|\\b)${unit}(?![a-z])`, 'gu');
const lastAmounts = new RegExp(
  `^((?:the )?(?:last|past|previous) )?(?:(?:\\d{1,6}(?:\\.\\d)?|an?|${half}) ?)?${unit}(?:(?:,| and)? ?\\d{1,6} ?${unit})*$`,
  'u',
);

/** Minutes of `24h`, `1h30m`, `90 minutes`, `half an hour`. */
function readLength(words: string): number | undefined {
  let sum = 0;
  let last = Infinity;
  for (const [, count = '1', name = ''] of words.matchAll(amount)) {
    const each = unitMinutes[name.startsWith('mo') ? 'o' : (name.charAt(0) as keyof typeof unitMinutes)];
    // `24h 24h` is a zone of that name.
    if (each >= last) return undefined;
    last = each;
    sum += each * (count.startsWith('half') ? 0.5 : count.startsWith('a') ? 1 : Number(count));
  }
  return sum > 0 ? sum : undefined;
}

function readLast(words: string, { now }: PeriodClock): Period | undefined {
  const [, given] = lastAmounts.exec(words) ?? [];
  // A letter alone is a word. `shop week` is the last week.
  const isAmount = given !== undefined || /^(?:\d|an? |half|(?:hour|day|week|month)$)/u.test(words);
  if (!lastAmounts.test(words) || !isAmount) return undefined;
  const last = readLength(words.slice(given?.length ?? 0));
  return last === undefined || last > 5_000_000 ? undefined : rollBack(last, now);
}

const dayParts: Readonly<Record<string, string>> = {
  morning: '6:00..12:00',
  afternoon: '12:00..18:00',
  evening: '18:00..24:00',
};

/** `this week`, `last weekend`, `november`, `yesterday evening`, `last night`, by their ends. */
function nameSpans(words: string, { now, timeZone }: PeriodClock): string {
  const [, bare = '', zone = ''] = /^(.*?)( (?:utc|gmt))?$/u.exec(words) ?? [];
  const clock = toLocalTime(zone === '' ? timeZone : 'UTC', now);
  const monday = shiftDay(clock.day, 1 - clock.weekday);
  // `since week 46` ends now, as does `since this morning`.
  const [, later = ''] = /^(?:since|from) (.+)$/u.exec(bare) ?? [];
  const opened = later && nameSpans(later, { now, timeZone: zone === '' ? timeZone : 'UTC' });
  if (opened !== later && opened.includes('..')) return `since ${opened.replace(/\.\..*/u, '')}${zone}`;
  const [, named] = /^(?:since )?(?:the )?(?:this |start of (?:the )?)(hour|week|month)$/u.exec(bare) ?? [];
  if (/^next (?:week|weekend|month|year)$/u.test(bare)) return `tomorrow${zone}`;
  if (named === 'hour') return `since ${Math.floor(clock.minutes / 60)}:00${zone}`;
  if (named === 'week') return `since ${monday}${zone}`;
  if (named === 'month') return `since ${clock.day.slice(0, 8)}01${zone}`;
  if (/^(?:(?:last|this) )?weekend$/u.test(bare)) {
    const saturday = shiftDay(monday, bare.startsWith('last') || clock.weekday < 6 ? -2 : 5);
    return `${saturday}..${clock.day > saturday ? shiftDay(saturday, 1) : saturday}${zone}`;
  }
  const [, sinceNamed = bare] = /^(?:since|from) (.+)$/u.exec(bare) ?? [];
  const days = readMonth(sinceNamed, clock.day) ?? readWeek(sinceNamed, clock.day);
  if (days) return `${sinceNamed === bare ? days : `since ${days.replace(/\.\..*/u, '')}`}${zone}`;
  if (/^(?:last night|overnight)$/u.test(bare)) return `yesterday 20:00..today 6:00${zone}`;
  // Days ago are that whole day, hours and minutes all time since.
  const [, ago = '', agoUnit] =
    /^(\d{1,3}) ?(m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?) ago$/u.exec(bare) ?? [];
  if (agoUnit !== undefined)
    return agoUnit.startsWith('d') ? `${shiftDay(clock.day, -Number(ago))}${zone}` : `since ${bare}${zone}`;
  const [, day = '', part = ''] = /^(.+) (morning|afternoon|evening)$/u.exec(bare) ?? [];
  const span = dayParts[part];
  return span === undefined ? words : `${day === 'this' ? 'today' : day} ${span}${zone}`;
}

/** The days so far of `november`; `last november` is not this one. */
function readMonth(words: string, today: string): string | undefined {
  const month = months.indexOf(words.replace(/^last /u, '')) + 1;
  if (month === 0) return undefined;
  const find = (year: number): string => `${year}-${String(month).padStart(2, '0')}-01`;
  const isPast = words.startsWith('last ');
  const thisYear = Number(today.slice(0, 4));
  const lastYear = month < Number(today.slice(5, 7)) ? thisYear : thisYear - 1;
  const year = isPast ? lastYear : guessYear(find, today);
  return spanDays(find(year), toUtcDay(new Date(Date.UTC(year, month, 0))), today);
}

/** ISO weeks: `2026-W47`, `week 47`, `kw47`, `week 47 2026`, and a day of one, `2026-W47-3`. */
function readWeek(words: string, today: string): string | undefined {
  const [, first, week = '', nth, last] =
    /^(?:(\d{4})-?)?(?:(?:calendar )?week |wk ?|w|[ck]w ?)(0?[1-9]|[1-4]\d|5[0-3])(?:-([1-7]))?(?: (?:of )?(\d{4}))?$/u.exec(
      words,
    ) ?? [];
  if (week === '') return undefined;
  const find = (year: number, day = 1): string =>
    toUtcDay(parseISO(`${year}-W${week.padStart(2, '0')}-${day}T00:00:00Z`));
  const year = Number(first ?? last ?? guessYear(find, today));
  // A week belongs to the year of its Thursday.
  if (!find(year, 4).startsWith(String(year))) return undefined;
  return nth === undefined ? spanDays(find(year), find(year, 7), today) : find(year, Number(nth));
}

/** As far as they have begun. */
function spanDays(first: string, last: string, today: string): string {
  return first > today ? first : `${first}..${last < today ? last : today}`;
}

/** One end of a period as it was typed. */
interface Part {
  readonly day?: string | undefined;
  /** Minutes since midnight. */
  readonly minutes?: number | undefined;
  readonly at?: number | undefined;
  readonly zone?: string | undefined;
}

interface Asked extends PeriodClock {
  readonly typed: string;
  readonly subject: string;
}

function readRange(words: string, asked: Asked): Period | undefined {
  const { now, timeZone } = asked;
  const isSince = !words.includes('..') && /^(?:since|from|after) /u.test(words);
  const plain = words
    .replace(/^(?:since|from|after) (?:the )?/u, '')
    // `yesterday from 10:00..12:00`
    .replace(/ (?:from|since) (?=.*\.\.)/u, ' ');
  const [first = '', second, ...more] = `${plain}${isSince ? '..now' : ''}`.split('..');
  if (more.length > 0) return undefined;
  const zone = findZone(first) ?? (second === undefined ? undefined : findZone(second)) ?? timeZone;
  const [typedFirst, typedSecond] = fillBareEnds(first, second);
  let start = readPart(typedFirst, asked, zone);
  const end = typedSecond === undefined ? undefined : readPart(typedSecond, asked, zone);
  if (!start || (typedSecond !== undefined && !end)) return undefined;
  // `fri-mon` on a Wednesday
  if (start.day !== undefined && end?.day !== undefined && start.day > end.day && isWeekday.test(typedFirst))
    start = { ...start, day: shiftDay(start.day, -7) };
  for (const { day, zone: own } of [start, end ?? {}])
    if (day !== undefined) assertBegun(day, own ?? zone, asked);
  // A moment alone has no length.
  if (!end && (start.minutes ?? start.at) !== undefined) return undefined;
  if (!end || (start.minutes ?? start.at ?? end.minutes ?? end.at) === undefined)
    return readDays(start, end ?? start, zone, asked);

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
  } else if (to < from && end.day === undefined && end.minutes !== undefined && !start.at) {
    const next = endOf({ ...end, day: shiftDay(day ?? today, 1) }, zone);
    // `yesterday 22:00..02:00` goes over midnight; `yesterday 12:00..10:00` was typed the wrong way round.
    if (next - from <= 12 * hourMs) to = next;
  }
  const isOpen = end.at !== undefined && typedSecond === 'now';
  const isSkipped =
    start.minutes !== undefined &&
    toLocalTime(start.zone ?? zone, new Date(from)).minutes !== start.minutes % (24 * 60);
  if (from === to && isSkipped)
    throw refuse(asked, 'The clocks skipped this hour on that day.', shapes, ['24h', 'today', 'yesterday']);
  if (from === to && !isOpen) return undefined;
  if (to < from) return { ...cut({ from: floor(to), to: ceil(from) }, asked, isOpen), isSwapped: true };
  return cut({ from: floor(from), to: ceil(to) }, asked, isOpen);
}

/** Whole days on the clocks of a zone, in either order. */
function readDays(start: Part, end: Part, zone: string, asked: Asked): Period | undefined {
  const [first = '', last = ''] = [start.day ?? '', end.day ?? ''].toSorted();
  if (first === '' || last === '') return undefined;
  // By those of UTC the CDN files its logs.
  if (isUtc(zone))
    return wholeDays({ first, count: Math.round((startOfDay(last) - startOfDay(first)) / dayMs) + 1 });
  return cut({ from: toInstant(first, 0, zone), to: toInstant(shiftDay(last, 1), 0, zone) }, asked);
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

const isNumber = (words: string): boolean => /^\d{1,2}$/u.test(words);

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
  /(?<=\d|[ap]m|noon|midnight|[a-z]{3}) ?(?:utc|gmt|(?<=\d)z)$|(?<=:\d{2} ?|[ap]m )[a-z]{3,4}$|(?<=t[\d:]+)[+-]\d{2}(?::?\d{2})?$|(?<=\d) ?(?:(?:utc|gmt)[+-]|\+)\d{1,2}(?::?\d{2})?$/u;

/** The zone that was typed behind a time: `Z`, `UTC`, an abbreviation such as `CET`, or an offset. */
function findZone(words: string): string | undefined {
  const found = zoneSuffix.exec(words)?.[0].trim();
  if (found === undefined) return undefined;
  const [, sign, hours, minutes = '00'] = /^(?:utc|gmt)?([+-])(\d{1,2}):?(\d{2})?$/u.exec(found) ?? [];
  if (hours !== undefined) return `${sign}${hours.padStart(2, '0')}:${minutes}`;
  if (/^(?:utc|gmt|z)$/u.test(found)) return 'UTC';
  return isTimeZone(found) ? found.toUpperCase() : undefined;
}

const clockTime = String.raw`(?:\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?|\d{1,2} ?[ap]m|noon|midday|midnight)`;
const dayAndTime = new RegExp(`^(?:(.+?)(?:,? at |t(?=\\d)|,? ))?(${clockTime})$`, 'u');
const timeAndDay = new RegExp(`^(${clockTime})(?:,? on|,)? (.+)$`, 'u');

function readPart(typed: string, asked: Asked, zone: string): Part | undefined {
  const own = findZone(typed);
  const words = (own === undefined ? typed : typed.replace(zoneSuffix, ''))
    .replace(/^(?:(?:on|at|the) )+/u, '')
    .trim();
  const now = asked.now.getTime();
  if (words === 'now') return { at: floor(now) };
  if (words.endsWith(' ago')) {
    const minutes = lastAmounts.test(words.slice(0, -4)) ? readLength(words.slice(0, -4)) : undefined;
    if (minutes !== undefined) return { at: floor(now - minutes * minuteMs) };
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

/** `2026-11-20` of `today`, `last monday`, `20 Nov`, `Nov 20th, 2026`. @throws UserError if it does not exist. */
function readDay(typed: string, today: string, asked: Asked): string | undefined {
  const words = typed.replace(/^(?:on )?(?:the )?/u, '').trim();
  if (words === 'today') return today;
  if (words === 'yesterday') return shiftDay(today, -1);
  if (words === 'day before yesterday') return shiftDay(today, -2);
  if (words === 'tomorrow') return shiftDay(today, 1);
  const [, ago] = /^(\d{1,3}) ?d(?:ays?)? ago$/u.exec(words) ?? [];
  if (ago !== undefined) return shiftDay(today, -Number(ago));
  const [, before, name] = /^(last |next )?([a-z]{3,9})$/u.exec(words) ?? [];
  const weekday = weekdays.findIndex(
    (day) => day === name || (day.startsWith(name ?? '-') && /^(?:...|tues|thurs?)$/u.test(name ?? '')),
  );
  if (weekday >= 0) {
    const back = (new Date(startOfDay(today)).getUTCDay() - weekday + 7) % 7;
    return shiftDay(today, before === 'next ' ? 7 - back : -(back === 0 && before ? 7 : back));
  }
  const date = readDate(words, today);
  if (!date) return undefined;
  const [year, month, day] = date;
  if (isExists(year, month - 1, day))
    return [year, month, day].map((part, nth) => String(part).padStart(nth === 0 ? 4 : 2, '0')).join('-');
  const hint = 'Year first, then month and day: `2026-11-20`.';
  const guessed = /^\D*29\D*$/u.test(words) ? ` in ${year}` : '';
  throw refuse(asked, `${formatCode(typed, 20)} is not a date${guessed}.`, hint, ['today', 'yesterday']);
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
  if (at === 0 || (before ?? behind) === undefined) return undefined;
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
