import { UserError } from '../../errors.ts';
import { minuteMs, toUtcDay } from '../../lib/time.ts';
import { createPeriod, openPeriod, type Period, rollBack } from '../../views/origin-errors/period.ts';
import { findWindow } from '../exports/window.ts';
import { createDayError, createInsteads, maxDays, readDays } from './days.ts';

/**
 * Parses `shop last 3 days`, `shop 90m`, `shop 10:00..11:00`; today by default. Hours are those of the time zone (IANA
 * name), days are UTC. Throws a UserError if the words beside the zone are no time.
 */
export function readRequestedPeriod(
  list: readonly string[],
  now: Date,
  timeZone: string,
): { zone: string; period: Period } {
  // The time follows the zone; people also type it first. The longest phrase wins.
  for (let length = Math.min(7, list.length); length > 0; length -= 1) {
    const first = list.slice(0, -length).join(' ');
    const behind = readPeriod(list.slice(-length).join(' '), now, timeZone, first);
    if (behind) return { zone: first, period: behind };
    const last = list.slice(length).join(' ');
    const before = readPeriod(list.slice(0, length).join(' '), now, timeZone, last);
    if (before) return { zone: last, period: before };
  }
  const [zone = '', ...rest] = list;
  if (rest.length > 0 || /\d:\d\d/u.test(zone)) throw createDayError(rest.join(' ') || zone, zone, now);
  return { zone, period: { days: { first: toUtcDay(now), count: 1 } } };
}

/**
 * Parses `24h`, `90m`, `10:00..11:00`, `2026-11-20 10:00..12:00`, `since 10:00`, and whole days; undefined if it is none.
 * Throws a UserError for impossible ones; if the `zone` is known, it offers possible ones.
 */
function readPeriod(typed: string, now: Date, timeZone: string, zone: string): Period | undefined {
  const words = typed.trim().toLowerCase();
  const period = readLast(words, now) ?? readClock(words, now, timeZone);
  if (!period) {
    const days = readDays(words, now, zone);
    return days && { days };
  }
  if (period.days.count <= maxDays) return period;
  throw new UserError(
    `Origin errors can be read for ${maxDays} UTC days at once, and this is in ${period.days.count} of them.`,
    `Type \`last ${maxDays} days\`, or up to \`${(maxDays - 1) * 24}h\`.`,
    createInsteads(zone, [`last ${maxDays} days`, '24h', 'today']),
  );
}

/** `24h`, `last 90 minutes`, `past hour` */
function readLast(words: string, now: Date): Period | undefined {
  const [, given, count, unit] =
    /^((?:the )?(?:last|past) )?(?:(\d{1,5}) ?)?(m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?)$/u.exec(words) ?? [];
  if (unit === undefined || (given === undefined && count === undefined)) return undefined;
  const minutes = Number(count ?? 1) * (unit.startsWith('h') ? 60 : 1);
  return minutes > 0 ? rollBack(minutes, now) : undefined;
}

/** Times by the clock, with a day or without. */
function readClock(words: string, now: Date, timeZone: string): Period | undefined {
  if (!/\d:\d\d/u.test(words)) return undefined;
  const typed = words
    .replace(/^(?:since|from) (?!.*(?:\.\.|…| to ))(.+)$/u, '$1..now')
    .replace(/(\d:\d\d) ?- ?(?=\d|now)/u, '$1..');
  const window = findWindow(typed, now, timeZone);
  if (!window) return undefined;
  const from = window.from.getTime();
  if (/\.\. ?now$/u.test(typed)) return openPeriod(from, now);
  // A window that has just begun ends now: buttons hold whole minutes.
  return createPeriod({ from, to: Math.ceil(window.to.getTime() / minuteMs) * minuteMs });
}
