import { type DayRange, dayMs, hourMs, minuteMs, shiftDay, startOfDay, toUtcDay } from '../../lib/time.ts';
import { formatShortDay } from '../blocks/format.ts';
import type { Clock } from './clock.ts';

/** The time that is asked about: whole UTC days, by which the CDN files its logs, or a part of them. */
export interface Period {
  /** The days whose logs hold it. */
  readonly days: DayRange;
  /** Undefined = the whole days. */
  readonly span?: Span | undefined;
}

/** From one whole minute to another, in epoch ms; `to` is not part of it. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** It was asked for as the last minutes, so it moves on when it is read again. */
  readonly last?: number | undefined;
  /** It ends now, so it grows when it is read again. */
  readonly isOpen?: true | undefined;
}

export function createPeriod(span: Span): Period {
  const first = toUtcDay(new Date(span.from));
  const last = toUtcDay(new Date(span.to - 1));
  return { days: { first, count: (startOfDay(last) - startOfDay(first)) / dayMs + 1 }, span };
}

/** The last minutes, with the one that has begun and the one in which they began. */
export function rollBack(minutes: number, now: Date): Period {
  const at = now.getTime();
  const from = Math.floor(at / minuteMs - minutes) * minuteMs;
  return createPeriod({ from, to: Math.ceil(at / minuteMs) * minuteMs, last: minutes });
}

/** From a minute until now. */
export function openPeriod(from: number, now: Date): Period {
  return createPeriod({ from, to: Math.ceil(now.getTime() / minuteMs) * minuteMs, isOpen: true });
}

export function boundsOf({ days, span }: Period): Span {
  const start = startOfDay(days.first);
  return span ?? { from: start, to: start + days.count * dayMs };
}

/** As long a time before it, for comparison; undefined for more than a day. `name`: `hour before`, `day before`. */
export function findBefore(
  period: Period,
  now: Date,
):
  | { readonly from: number; readonly to: number; readonly name: string; readonly isWholeDay: boolean }
  | undefined {
  const { from, to, last, isOpen } = boundsOf(period);
  const end = period.span ? to : Math.min(to, Math.ceil(now.getTime() / minuteMs) * minuteMs);
  const length = last === undefined ? end - from : last * minuteMs;
  // A day on which clocks are put back is longer.
  if (length > dayMs + hourMs) return undefined;
  if (isOpen || end < to)
    return { from: from - dayMs, to: end - dayMs, name: 'same time the day before', isWholeDay: false };
  const name = length < dayMs - hourMs || last ? describeMinutes(length / minuteMs) : 'day';
  return { from: from - length, to: from, name: `${name} before`, isWholeDay: !period.span };
}

/**
 * `today`, `on 20 Nov`, `in the last 24 hours`, `on 20 Nov from 10:00 to 11:00`. `today` is that of the clock; days of
 * another year have it.
 */
export function describePeriod({ days, span }: Period, today: string, clock: Clock): string {
  if (!span) return describeDays(days, today) + (clock.zone === 'UTC' ? '' : ' (UTC)');
  if (span.last !== undefined) return `in the last ${describeMinutes(span.last)}`;
  const [from, to] = describeEnds(span, clock);
  if (from === '00:00' && (span.isOpen || to === '00:00')) return describeLocalDays(span, today, clock);
  const [day, lastDay] = [span.from, span.to].map((at) => writeDay(at, today, clock));
  if (span.isOpen) return `since ${day} ${from}`;
  return span.from + dayMs >= span.to && clock.day(span.from) === clock.day(span.to)
    ? `on ${day} from ${from} to ${to}`
    : `from ${day} ${from} to ${lastDay} ${to}`;
}

/** Whole days on the reader's clock. */
function describeLocalDays({ from, to, isOpen }: Span, today: string, clock: Clock): string {
  const [first, last] = [clock.date(from), clock.date(to - 1)];
  const [begin, end] = [from, to - 1].map((at) => writeDay(at, today, clock));
  if (first === last) return nameDay(first, today) ?? `on ${begin}`;
  return isOpen ? `since ${begin}` : `from ${begin} to ${end}`;
}

function nameDay(day: string, today: string): string | undefined {
  if (day === today) return 'today';
  return day === shiftDay(today, -1) ? 'yesterday' : undefined;
}

/** `20 Nov`, `20 Nov 2025` in another year than today's. */
function writeDay(at: number, today: string, clock: Clock): string {
  const year = clock.date(at).slice(0, 4);
  return year === today.slice(0, 4) ? clock.day(at) : `${clock.day(at)} ${year}`;
}

/** `12 Nov`, `20 Nov – 21 Nov`, `Last 24 hours`, `20 Nov 10:00 – 11:00`: the entry of a menu. */
export function namePeriod({ days: { first, count }, span }: Period, clock: Clock): string {
  if (!span) {
    const [from, to] = [first, shiftDay(first, count - 1)].map(formatShortDay);
    return count === 1 ? (from ?? '') : `${from} – ${to}`;
  }
  if (span.last !== undefined) return `Last ${describeMinutes(span.last)}`;
  const [from, to] = describeEnds(span, clock);
  const [day, lastDay] = [span.from, span.to].map(clock.day);
  if (span.isOpen) return `Since ${day} ${from}`;
  return `${day} ${from} – ${day === lastDay ? '' : `${lastDay} `}${to}`;
}

function describeEnds({ from, to }: Span, clock: Clock): [string, string] {
  return [clock.time(from), clock.time(to)];
}

/** `hour`, `24 hours`, `90 minutes`, `2.5 hours`, `3 days` */
export function describeMinutes(minutes: number): string {
  if (minutes === 60) return 'hour';
  if (minutes % (24 * 60) === 0 && minutes > 24 * 60) return `${minutes / (24 * 60)} days`;
  if (minutes >= 120) return `${Number((minutes / 60).toFixed(minutes < 600 ? 1 : 0))} hours`;
  return minutes === 1 ? 'minute' : `${minutes} minutes`;
}

/** `today`, `yesterday`, `on 2026-11-12`, `in the last 3 days`, `from 2026-11-10 to 2026-11-12`. */
function describeDays({ first, count }: DayRange, today: string): string {
  const last = shiftDay(first, count - 1);
  if (count > 1) return last === today ? `in the last ${count} days` : `from ${first} to ${last}`;
  return nameDay(first, today) ?? `on ${first}`;
}

/** The period as it can be typed: the same for every reader, at any later time. */
export function writePeriod({ days: { first, count }, span }: Period): string {
  if (!span) return count === 1 ? first : `${first}..${shiftDay(first, count - 1)}`;
  const [from = '', to = ''] = [span.from, span.to].map((at) => new Date(at).toISOString().slice(0, 16));
  return `${from}..${from.slice(0, 11) === to.slice(0, 11) ? to.slice(11) : to}Z`;
}

/** The same, but what was asked for as the last minutes stays that. */
export function writeMovingPeriod(period: Period): string {
  const { last } = period.span ?? {};
  return last === undefined ? writePeriod(period) : `${last}m`;
}

/** A part of a file's name: `2026-11-20`, `2026-11-18-3-days`, `2026-11-20-1000-60-minutes`. */
export function writeForFile({ days: { first, count }, span }: Period): string {
  if (!span) return count === 1 ? first : `${first}-${count}-days`;
  const start = new Date(span.from).toISOString().slice(0, 16).replace('T', '-').replace(':', '');
  return `${start}-${(span.to - span.from) / minuteMs}-minutes`;
}

/** For the value of a button. */
export function encodePeriod({ days: { first, count }, span }: Period): Readonly<Record<string, string>> {
  if (!span) return { first, days: String(count) };
  if (span.last !== undefined) return { last: String(span.last) };
  const [from, to] = [span.from, span.to].map((at) => (at / minuteMs).toString(36));
  return { at: `${from}-${span.isOpen ? '' : to}` };
}

/** Parts of the period that a chart is made of: five minutes up to two hours, else hours. */
export function chooseParts(period: Period) {
  const { from, to } = boundsOf(period);
  const length = to - from <= 2 * hourMs ? 5 * minuteMs : hourMs;
  const start = Math.floor(from / length) * length;
  return { start, length, count: Math.ceil((to - start) / length) };
}

/** The period of a button; `last` minutes, and what has no end, end now. Undefined if it has none. */
export function decodePeriod(
  {
    days,
    last,
    at,
  }: {
    readonly days?: DayRange | undefined;
    readonly last?: number | undefined;
    readonly at?: string | undefined;
  },
  now: Date,
): Period | undefined {
  if (last !== undefined) return rollBack(last, now);
  if (at === undefined) return days && { days };
  const [from = 0, to = 0] = at.split('-').map((minutes) => Number.parseInt(minutes, 36) * minuteMs);
  if (at.endsWith('-')) return from < now.getTime() ? openPeriod(from, now) : undefined;
  return from < to ? createPeriod({ from, to }) : undefined;
}
