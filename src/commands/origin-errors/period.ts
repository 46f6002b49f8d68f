import type { OriginError } from '../../api/origin-errors/origin-errors.ts';
import { UserError } from '../../errors.ts';
import { dayMs, hourMs, listDays } from '../../lib/time.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { capitalize } from '../../views/blocks/text.ts';
import { createPeriod, openPeriod, type Period, rollBack } from '../../views/origin-errors/period.ts';
import { quoteWord } from '../../views/zones/rows.ts';
import { findClosest } from '../did-you-mean.ts';
import { createPeriodError, type PeriodClock, splitPeriod, type TypedPeriod } from '../periods.ts';
import type { Words } from '../words.ts';

/** Of the CDN's logs, one a UTC day, so many are read at once. */
export const maxDays = 7;

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
  const clock: PeriodClock = { now, timeZone, instead: createInstead };
  const { subject, period: typed } = splitPeriod(words, clock);
  const zone = subject.join(' ');
  if (typed) return { zone, period: toPeriod(typed, clock, zone) };
  const [first = '', ...others] = subject;
  const rest = others.join(' ');
  // Other words are the name of a zone, which may have spaces.
  const isTime = /\d/u.test(rest) || findClosest(rest, ['today', 'yesterday'], 1).length > 0;
  if (!words.quoted?.includes(true) && (isTime || /\d:\d\d/u.test(first)))
    throw createPeriodError(rest || first, clock, rest === '' ? '' : first);
  return { zone, period: lastDay(now) };
}

/** What is shown where no time is asked for. */
export function lastDay(now: Date): Period {
  return rollBack(24 * 60, now);
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
  if (utcDays) return { days: utcDays };
  if (last !== undefined) return rollBack(last, now);
  return isOpen ? openPeriod(from, now) : createPeriod({ from, to });
}

function createInstead(period: string, zone: string) {
  return { label: capitalize(period), types: `errors ${quoteWord(zone)} ${period}` };
}

/** A test of the entries of a day's log. One without a time is of its day, and of no part of it. */
export function createPeriodTest({ days, span }: Period): (entry: OriginError, day: string) => boolean {
  if (span) return ({ at }) => at !== undefined && at >= span.from && at < span.to;
  const all = new Set(listDays(days));
  return (_, day) => all.has(day);
}
