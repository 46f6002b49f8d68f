import { isExists } from 'date-fns/isExists';
import { parseISO } from 'date-fns/parseISO';
import { type Instead, UserError } from '../errors.ts';
import { toPlainSigns } from '../lib/names.ts';
import { dayMs, minuteMs, shiftDay, startOfDay, toEpochMs, toUtcDay } from '../lib/time.ts';
import { isTimeZone, toLocalTime } from '../lib/time-zone.ts';
import { formatShortDay } from '../views/blocks/format.ts';
import { capitalize, formatCode, join } from '../views/blocks/text.ts';
import { quoteName } from '../views/zones/rows.ts';

export interface PeriodClock {
  readonly now: Date;
  /** The reader’s, as IANA name or offset. A zone that is typed takes precedence. */
  readonly timeZone: string;
  /** The command that the buttons of a refusal run. */
  readonly command?: string;
}

export interface Asked extends PeriodClock {
  readonly typed: string;
  readonly subject: string;
}

/** A day, or several, a time of day, or both: one end of a period, or a whole one. */
export interface Part {
  readonly first?: string | undefined;
  readonly last?: string | undefined;
  /** Minutes since midnight. */
  readonly minutes?: number | undefined;
  /** The end of a part of a day, such as an evening. */
  readonly until?: number | undefined;
  readonly at?: number | undefined;
  readonly zone?: string | undefined;
}

export const shapes =
  'Try `24h`, `yesterday`, `20 Nov`, `10:00..11:00`, `since 10:00` or `2026-11-20 10:00..12:00`.';

export function refuse(asked: Asked, message: string, hint: string, periods: readonly string[]): UserError {
  return new UserError(message, hint, offerPeriods(asked, asked.subject, periods));
}

/** Buttons for the periods that were probably meant. */
export function offerPeriods(
  { command }: PeriodClock,
  subject: string,
  periods: readonly string[],
): Instead[] | undefined {
  return command === undefined
    ? undefined
    : periods.map((period) => ({
        label: capitalize(period),
        types: join([command, subject.trim() && quoteName(subject.trim()), period], ' '),
      }));
}

export const counts = 'one two three four five six seven eight nine ten eleven twelve'.split(' ');
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const months = 'january february march april may june july august september october november december'.split(
  ' ',
);
export const unit = '(m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:ee)?ks?|w|months?|y(?:ears?)?)';
export const weekday = `(?:${weekdays.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|tues|thurs?)`;
/** Before 1900 zones had other offsets. */
const year = '(?:19|20)\\d{2}';
export const month = `(?:${months.map((name) => `${name}|${name.slice(0, 3)}`).join('|')}|sept)`;

/** Turn what people and programs write into the words of the grammar, in this order. */
const rewrites: readonly (readonly [RegExp, string | ((...found: string[]) => string)])[] = [
  [/\([a-z ]+ time\)|[[\]()]|['’]s$/gu, ''],
  [/\b([ap])\.m\b\.?/gu, '$1m'],
  [/,(?!\d)|(?<!\d),/gu, ' '],
  // `20261120t100000z`, and what `date` prints: `nov 20 10:00:00 utc 2026`
  [/\b(20\d\d)(\d\d)(\d\d)t(\d\d)(\d\d)/gu, '$1-$2-$3t$4:$5:'],
  [/([a-z]{3} \d{1,2}) (\d{1,2}:\S+)( [a-z]{3,4})? (20\d\d)(?=$| )/gu, '$1 $4 $2$3'],
  // `1st - 5th november`, `1.-5. november`
  [/\b(\d{1,2})(?:st|nd|rd|th)\b/gu, '$1'],
  [/\b(\d{1,2})\.(?= ?-{1,2} ?\d| (?:to |[a-z]{3,9}(?:$| )))/gu, '$1'],
  // `20-nov-2026`, `20/nov/2026:10:00:00`
  [
    new RegExp(`(?<![\\d-])(\\d{1,2})[-/](${month})(?![a-z])(?:[-/](\\d{4}))?:?`, 'gu'),
    (_, day = '', name = '', year = '') => `${day} ${name} ${year} `,
  ],
  [/\s+/gu, ' '],
  [/^ | $| so far$/gu, ''],
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
  [/(?:\ban? |^)(?=(?:minute|hour|day|week|month) ago$)/u, '1 '],
  [/\b(?:a )?fortnight$/u, '2 weeks'],
  [/(?<=\b\d),(?=\d ?[hdw])/u, '.'],
  [/\bnow ?- ?(?=\d+ ?[mhdw])|(?<=^|\.\. ?|to )-(?=\d+ ?[mhdw])/gu, ''],
  [/^(\d+ ?[mhdw][a-z]*) ?\.\. ?now$/u, '$1'],
  [/\b(?:last night|overnight)\b/u, 'yesterday night'],
  [/\btonight\b/u, 'today night'],
  [
    /(?<=^since )(?:the )?(?=morning|evening)|^(?:in )?the (?=morning|afternoon|evening)|\bthis (?=morning|afternoon|evening|night)/u,
    'today ',
  ],
  [/\blast (?=morning|afternoon|evening)/u, 'yesterday '],
  [/\b12 (?=noon|midnight)|^(?:all|(?:the )?(?:whole|entire)) day (?=.)| all day$/u, ''],
  [/\b(half|quarter) past (\d{1,2})\b/gu, (_, part, hour = '') => `${hour}:${part === 'half' ? 30 : 15}`],
  [/(?:the )?(?:start|beginning) of (?:the |this )?/u, 'this '],
  [/^(?:from |since )?(.+) on(?:wards?)?$/u, 'since $1'],
  [new RegExp(`(${month} \\d{1,2})( ?(?:-{1,2}|to|\\.\\.) ?)(\\d{1,2}) (20\\d\\d)$`, 'u'), '$1 $4$2$3'],
  [/((?:^|last |for |\+ ?)\d{1,2}h\d{1,2})$/u, '$1m'],
];

export function clean(typed: string): string {
  return rewrites.reduce(
    (words, [pattern, by]) =>
      typeof by === 'string' ? words.replace(pattern, by) : words.replace(pattern, by),
    toPlainSigns(
      typed.replaceAll(/(\d?)½/gu, (_, whole: string) => `${whole || '0'}.5`).normalize('NFKC'),
    ).toLowerCase(),
  );
}

const unitMinutes = { m: 1, h: 60, d: 24 * 60, w: 7 * 24 * 60, o: 30 * 24 * 60, y: 365 * 24 * 60 } as const;
const half = 'half(?: an?)?';
const amount = new RegExp(`(?:(\\d{1,6}(?:\\.\\d)?|${half}(?= )|\\ban?(?= )) ?|\\b)${unit}(?![a-z])`, 'gu');
export const amounts = `(?:(?:\\d{1,6}(?:\\.\\d)?|an?|${half}) ?)?${unit}(?:(?: and)? ?\\d{1,6} ?${unit})*`;
export const lastAmounts = new RegExp(`^((?:the )?(?:last|past|previous) )?${amounts}$`, 'u');

/** Minutes of `24h`, `1h30m`, `90 minutes`, `half an hour`. */
export function readMinutes(words: string): number | undefined {
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

const clockTime = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?h?(?: ?[ap]m)?|\d{1,2}(?:\.\d{2})? ?[ap]m|noon|midday|midnight|morning|afternoon|evening|night`;

/** A time at the end, or at the beginning. */
const toShapes = (times: string): readonly RegExp[] => [
  new RegExp(`^(?:(?<day>.+?)(?: at | |t|_))?(?<time>${times})$`, 'u'),
  new RegExp(`^(?<time>${times}) (?<day>.+)$`, 'u'),
];
const strictTime = toShapes(clockTime);
/** `since 10` */
export const hour = toShapes(`${clockTime}|\\d{1,2}`);
/** `10-12`, `9h30 to 10h`, `10.00-10.30`, `1500-1600` */
export const looseTime = toShapes(
  String.raw`${clockTime}|\d{1,2}(?:h|[h.]\d{2})?|(?:^|(?!20[12]\d))[0-2]\d[0-5]\d`,
);

/** Abbreviations that mean one offset; Node knows `CET` itself. WEST and MET are words, and names of zones. */
const abbreviations = new Map(
  'cest+02:00 eest+03:00 msk+03:00 sast+02:00 est-05:00 edt-04:00 cdt-05:00 mst-07:00 mdt-06:00 pst-08:00 pdt-07:00 akst-09:00 akdt-08:00 hst-10:00 jst+09:00 kst+09:00 hkt+08:00 sgt+08:00 awst+08:00 acst+09:30 acdt+10:30 aest+10:00 aedt+11:00 nzst+12:00 nzdt+13:00'
    .split(' ')
    .map((one) => [one.slice(0, -6), one.slice(-6)]),
);
const zoneBehind = new RegExp(
  [
    String.raw`(?<=\d)z(?![a-z\d])`,
    String.raw`(?<=[a-z\d]) ?(?:utc|gmt)(?: ?[+-]\d{1,2}(?::?\d{2})?)?(?![a-z\d])`,
    String.raw`(?<=t[\d:]+(?:[.,]\d+)?)[+-]\d{2}(?::?\d{2})?(?![:\d])`,
    String.raw`(?<=\d) ?\+\d{1,2}(?::?\d{2})?(?![:a-z\d])|(?<=:\d{2}) -\d{4}(?!\d)`,
    String.raw`(?<=[a-z\d]) (?:[cew]et|${[...abbreviations.keys()].join('|')}|[a-z]{2,}(?:\/[\w+-]+)+)(?= |$)`,
  ].join('|'),
  'u',
);

/** The zone that was typed behind a time: `Z`, `UTC`, an abbreviation such as `CET`, an offset or a name. */
export function findZone(words: string): { readonly zone: string; readonly rest: string } | undefined {
  const found = zoneBehind.exec(words);
  if (!found) return undefined;
  const name = found[0].trim();
  const [, sign, hours = '', minutes = '00'] =
    /^(?:utc|gmt)? ?([+-])(0?\d|1[0-4]):?([0-5]\d)?$/u.exec(name) ?? [];
  const offset = sign ? `${sign}${hours.padStart(2, '0')}:${minutes}` : abbreviations.get(name);
  const zone = offset ?? (/^(?:utc|gmt|z)$/u.test(name) ? 'UTC' : name.toUpperCase());
  if (offset === undefined && !isTimeZone(zone)) return undefined;
  return { zone, rest: words.slice(0, found.index) + words.slice(found.index + found[0].length) };
}

export function readPart(typed: string, asked: Asked, times = strictTime): Part | undefined {
  const own = findZone(typed);
  const words = (own?.rest ?? typed).replace(/^(?:(?:on|at|the|in|of|around|about) )+/u, '').trim();
  const zone = own && { zone: own.zone };
  const now = asked.now.getTime();
  if (words === '') return undefined;
  if (words === 'now') return { at: floor(now) };
  if (/^1\d{9}(?:\d{3})?$/u.test(words)) return { at: floor(toEpochMs(Number(words))) };
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
    // An evening needs a day, and a time belongs to one day only.
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
  const words = typed.replace(/^(?:(?:on|of|the) )+/u, '');
  const named = namedDays.get(words);
  if (named !== undefined) return repeat(shiftDay(today, named));
  if (/^next (?:week|weekend|month|year)$/u.test(words)) return repeat(shiftDay(today, 1));
  const [, ago] = /^(\d{1,3}) ?d(?:ays?)? ago$/u.exec(words) ?? [];
  if (ago !== undefined) return repeat(shiftDay(today, -Number(ago)));
  const [, before, name = ''] = onWeekday.exec(words) ?? [];
  if (name !== '') {
    const back = (weekdayOf(today) - indexOf(weekdays, name) + 7) % 7;
    const isAhead = before === 'next ' || (before === 'this ' && back > (weekdayOf(today) + 6) % 7);
    const by = isAhead ? 7 - back : -(back === 0 && before === 'last ' ? 7 : back);
    return repeat(shiftDay(today, by));
  }
  const monday = shiftDay(today, -((weekdayOf(today) + 6) % 7));
  if (words === 'this year') return [`${today.slice(0, 4)}-01-01`, `${today.slice(0, 4)}-12-31`];
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

const onMonth = new RegExp(`^(last |this )?(${months.join('|')}|${month}(?= \\d{4}$))(?: (${year}))?$`, 'u');

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
  const [, year, , month, date] = /^((?:19|20)\d{2})([-/.])(\d{1,2})\2(\d{1,2})$/u.exec(words) ?? [];
  if (year) return [Number(year), Number(month), Number(date)];
  const [, before, name, behind, named] =
    /^(?:(\d{1,2}) (?:of )?)?([a-z]{3,9})(?:\.? (\d{1,2}))?(?: ((?:19|20)\d{2}))?$/u.exec(words) ?? [];
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

export const floor = (at: number): number => Math.floor(at / minuteMs) * minuteMs;

export function toLocalDay(at: number, zone: string): string {
  return toLocalTime(zone, new Date(at)).day;
}
