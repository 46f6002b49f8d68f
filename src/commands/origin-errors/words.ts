import { type FilterKind, type Filters, filterKinds } from '../../api/origin-errors/filters.ts';
import { UserError } from '../../errors.ts';
import { dayMs, hourMs } from '../../lib/time.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { capitalize, formatCode } from '../../views/blocks/text.ts';
import { openPeriod, type Period, rollBack, wholeDays } from '../../views/origin-errors/period.ts';
import { maxFilters, writeFilters } from '../../views/origin-errors/question.ts';
import { quoteWord } from '../../views/zones/rows.ts';
import { findClosest } from '../did-you-mean.ts';
import { createPeriodError, type PeriodClock, splitPeriod, type TypedPeriod } from '../periods.ts';
import type { Words } from '../words.ts';

/** Of the CDN's logs, one a UTC day, so many are read at once. */
const maxDays = 7;

/**
 * Parses `shop last 3 days`, `shop 90m`, `shop 10:00..11:00`; the last 24 hours by default. Times are those of the reader's zone.
 *
 * @throws UserError for a time that is too long or in the future, and for words behind a zone that are not a time.
 */
export function readRequestedPeriod(
  words: Pick<Words, 'list' | 'quoted'>,
  now: Date,
  timeZone: string,
): { zone: string; period: Period } {
  const clock: PeriodClock = {
    now,
    timeZone,
    instead: (period, zone) => ({
      label: capitalize(period),
      types: `errors ${quoteWord(zone)} ${period}`,
    }),
  };
  const { subject, period: typed } = splitPeriod(words, clock);
  const zone = subject.join(' ');
  if (typed) return { zone, period: toPeriod(typed, clock, zone) };
  const [first = '', ...others] = subject;
  const rest = others.join(' ');
  // Other words are the name of a zone, which may have spaces.
  const isTime = /\d/u.test(rest) || findClosest(rest, ['today', 'yesterday'], 1).length > 0;
  if (!words.quoted?.includes(true) && (isTime || /\d:\d\d/u.test(first)))
    throw createPeriodError(rest || first, clock, rest === '' ? '' : first);
  return { zone, period: rollBack(24 * 60, now) };
}

/** The time that was typed, as the logs are read. @throws UserError if it is too long */
export function toPeriod(typed: TypedPeriod, { now, instead }: PeriodClock, zone = ''): Period {
  const { from, to, last, isOpen, utcDays } = typed;
  const isTooLong = (last ?? 0) > maxDays * 24 * 60 || (utcDays?.count ?? 0) > maxDays;
  // The day on which clocks are put back is longer.
  if (isTooLong || to - from > maxDays * dayMs + hourMs)
    throw new UserError(
      `Origin errors can be read for ${maxDays} days at once, not for ${pluralize(Math.ceil((to - from) / dayMs), 'day')}.`,
      `Type \`last ${maxDays} days\`, or one day.`,
      zone === ''
        ? undefined
        : [`last ${maxDays} days`, 'yesterday'].flatMap((one) => instead?.(one, zone) ?? []),
    );
  if (utcDays) return wholeDays(utcDays);
  if (last !== undefined) return rollBack(last, now);
  return isOpen ? openPeriod(from, now) : { from, to };
}

const examples: Readonly<Record<FilterKind, string>> = {
  code: 'code:http_timeout',
  status: 'status:502` or `status:5xx',
  path: 'path:/img/*',
  in: 'in:DE',
};

/** Besides the filters: what is shown, and in our own buttons a file, or what was counted already. */
const otherNames = ['show', 'as', 'seen'];

/**
 * Parses `code:http_timeout status:5xx path:/img/* in:DE`; commas separate values of one kind.
 *
 * @throws UserError for another word with a colon, and for a value that none can have; it offers what was probably meant.
 */
export function readFilters(words: Pick<Words, 'list' | 'pairs'>): Filters {
  const found: Partial<Record<FilterKind, string[]>> = {};
  for (const [kind, typed] of words.pairs) {
    if (otherNames.includes(kind)) continue;
    if (!isFilter(kind)) throw createNameError(kind, words);
    // A comma may be a part of a path.
    const values = kind === 'path' ? [typed] : typed.split(',');
    for (const value of values) {
      const read = readValue[kind](value.trim());
      if (read === undefined) throw createValueError(kind, value.trim());
      if (!found[kind]?.includes(read)) (found[kind] ??= []).push(read);
    }
  }
  if (writeFilters(found).length <= maxFilters) return found;
  throw new UserError(
    `These filters are longer than the ${maxFilters} characters that a button of the answer can hold.`,
    'Type fewer, or the beginning of a path: `path:/img/*`.',
  );
}

function isFilter(name: string): name is FilterKind {
  return filterKinds.some((kind) => kind === name);
}

function createValueError(kind: FilterKind, value: string): UserError {
  return new UserError(
    value === ''
      ? `Nothing stands behind \`${kind}:\`.`
      : `${formatCode(`${kind}:${value}`, 60)} is in no origin error.`,
    `Type it like \`${examples[kind]}\`.`,
  );
}

const readValue: Readonly<Record<FilterKind, (typed: string) => string | undefined>> = {
  code: (typed) => (/^[\w.-]{1,100}$/u.test(typed) ? typed.toLowerCase() : undefined),
  status: (typed) => (/^[1-9](?:\d\d|\dx|xx)$/iu.test(typed) ? typed.toLowerCase() : undefined),
  path: readPath,
  in: (typed) => (/^[\w-]{1,20}$/u.test(typed) ? typed.toUpperCase() : undefined),
};

/** Pasted addresses come with a scheme and a query; a folder may come without its first slash. */
function readPath(typed: string): string | undefined {
  const path = typed.replace(/^[a-z][a-z\d+.-]*:\/\//iu, '').replace(/[?#].*$/u, '');
  if (path === '' || /\s/u.test(path)) return undefined;
  return /^[/*]/u.test(path) || /^[^/]+\.[^/]+\//u.test(path) ? path : `/${path}`;
}

function createNameError(name: string, { list, pairs }: Pick<Words, 'list' | 'pairs'>): UserError {
  const [near] = findClosest(name, [...filterKinds, 'show'], 1);
  const filters = pairs.map(([other, value]) => `${other === name ? near : other}:${quoteWord(value)}`);
  return new UserError(
    `\`/cdn errors\` does not know ${formatCode(`${name}:`, 40)}.`,
    near
      ? `Did you mean \`${near}:\`?`
      : `It knows ${filterKinds.map((kind) => `\`${examples[kind]}\``).join(', ')}.`,
    near
      ? [{ label: `With ${near}:`, types: ['errors', ...list.map(quoteWord), ...filters].join(' ') }]
      : undefined,
  );
}
