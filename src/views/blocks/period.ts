import { type DayRange, dayMs, minuteMs, shiftDay, startOfDay, toUtcDay } from '../../lib/time.ts';
import { findAmbiguousOffset, toLocalTime } from '../../lib/time-zone.ts';
import { formatCount, formatPeriod, formatShortDay } from './format.ts';
import { join } from './text.ts';

export interface Period {
  readonly from: number;
  readonly to: number;
  /** Asked for as the last minutes, so it moves on when it is read again. */
  readonly last?: number | undefined;
  readonly isOpen?: true | undefined;
  /** Whole UTC days, by which the CDN files its logs: all entries of these logs. */
  readonly isWholeDays?: true | undefined;
  /** The end was typed before the start. */
  readonly isSwapped?: true | undefined;
}

export function daysOf({ from, to }: Period): DayRange {
  const [first, last] = [from, to - 1].map((at) => toUtcDay(new Date(at)));
  return { first: first ?? '', count: (startOfDay(last ?? '') - startOfDay(first ?? '')) / dayMs + 1 };
}

export function wholeDays({ first, count }: DayRange): Period {
  const from = startOfDay(first);
  return { from, to: from + count * dayMs, isWholeDays: true };
}

export function rollBack(minutes: number, now: Date): Period {
  const from = Math.floor(now.getTime() / minuteMs - minutes) * minuteMs;
  return { from, to: endOfMinute(now), last: minutes };
}

export function openPeriod(from: number, now: Date): Period {
  return { from, to: endOfMinute(now), isOpen: true };
}

export function endOfMinute(now: Date): number {
  return Math.ceil(now.getTime() / minuteMs) * minuteMs;
}

export type Clock = ReturnType<typeof createClock>;

export function createClock(zone = 'UTC') {
  const date = (at: number): string => toLocalTime(zone, new Date(at)).day;
  const day = (at: number): string => formatShortDay(date(at));
  const time = (at: number): string => {
    const { minutes } = toLocalTime(zone, new Date(at));
    const shown = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
    return join([shown.join(':'), findAmbiguousOffset(zone, at)], ' ');
  };
  return {
    zone,
    date,
    day,
    time,
    /** `11:38`, or `20 Nov 11:38` where that is not the day of the answer. */
    moment: (at: number, asOf: Date) =>
      day(at) === day(asOf.getTime()) ? time(at) : `${day(at)} ${time(at)}`,
    /** `11`, or `11:30` where the clock is not a whole number of hours from UTC. */
    hour: (at: number) => time(at).replace(/^(..):00/u, '$1'),
  };
}

export function describePeriod(period: Period, today: string, clock: Clock): string {
  const { from, to, last, isOpen, isWholeDays } = period;
  if (isWholeDays) return describeDays(daysOf(period), today) + (clock.zone === 'UTC' ? '' : ' (UTC)');
  if (last !== undefined) return `in the last ${formatPeriod(last)}`;
  const [begin, end] = [clock.time(from), clock.time(to)];
  if (begin === '00:00' && (isOpen || end === '00:00')) return describeLocalDays(period, today, clock);
  const [day, lastDay] = [from, to].map((at) => writeDay(at, today, clock));
  if (isOpen) return `since ${day} ${begin}`;
  return from + dayMs >= to && clock.day(from) === clock.day(to)
    ? `on ${day} from ${begin} to ${end}`
    : `from ${day} ${begin} to ${lastDay} ${end}`;
}

function describeLocalDays({ from, to, isOpen }: Period, today: string, clock: Clock): string {
  const [first, last] = [clock.date(from), clock.date(to - 1)];
  const [begin, end] = [from, to - 1].map((at) => writeDay(at, today, clock));
  if (first === last) return nameDay(first, today) ?? `on ${begin}`;
  return isOpen ? `since ${begin}` : `from ${begin} to ${end}`;
}

function describeDays({ first, count }: DayRange, today: string): string {
  const last = shiftDay(first, count - 1);
  if (count > 1)
    return last === today ? `in the last ${formatCount(count, 'day')}` : `from ${first} to ${last}`;
  return nameDay(first, today) ?? `on ${first}`;
}

function nameDay(day: string, today: string): string | undefined {
  if (day === today) return 'today';
  return day === shiftDay(today, -1) ? 'yesterday' : undefined;
}

function writeDay(at: number, today: string, clock: Clock): string {
  const year = clock.date(at).slice(0, 4);
  return year === today.slice(0, 4) ? clock.day(at) : `${clock.day(at)} ${year}`;
}

export function writePeriod(period: Period): string {
  if (period.isWholeDays) {
    const { first, count } = daysOf(period);
    return count === 1 ? first : `${first}..${shiftDay(first, count - 1)}`;
  }
  const [from, to] = [writeMoment(period.from), writeMoment(period.to)];
  return `${from}..${from.slice(0, 11) === to.slice(0, 11) ? to.slice(11) : to}Z`;
}

/** The same, but the last minutes stay that, and what has no end has none. Whole days are those of UTC for every reader. */
export function writeMovingPeriod(period: Period): string {
  const { from, to, last, isOpen, isWholeDays } = period;
  if (last !== undefined) return writeLast(last);
  // A minute that has begun is not yet a time until now.
  if (isOpen && to - from > minuteMs) return `${writeMoment(from)}Z..now`;
  return isWholeDays ? `${writePeriod(period)} UTC` : writePeriod(period);
}

/** `7d`, `24h`, `90m`. */
function writeLast(minutes: number): string {
  if (minutes % (24 * 60) === 0 && minutes > 24 * 60) return `${minutes / 24 / 60}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

function writeMoment(at: number): string {
  return new Date(at).toISOString().slice(0, 16);
}
