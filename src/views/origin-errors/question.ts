import type { Button, ExternalSelect } from '@slack/types';
import { type Filters, filterKinds } from '../../api/origin-errors/filters.ts';
import { type DayRange, dayMs, hourMs, minuteMs, shiftDay, startOfDay, toUtcDay } from '../../lib/time.ts';
import { findMoment, toLocalTime } from '../../lib/time-zone.ts';
import { plain } from '../blocks/blocks.ts';
import { type ButtonGroup, button, replacingButton } from '../blocks/buttons.ts';
import { formatCount, formatInteger, formatPeriod, formatShortDay } from '../blocks/format.ts';
import { formatCode, join } from '../blocks/text.ts';
import { quoteWord } from '../zones/rows.ts';

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

function endOfMinute(now: Date): number {
  return Math.ceil(now.getTime() / minuteMs) * minuteMs;
}

/** As long a time before it, for comparison; undefined for more than a day. `name`: `hour before`, `day before`. */
export function findBefore(period: Period, now: Date): (Period & { readonly name: string }) | undefined {
  const { from, to, last, isOpen, isWholeDays } = period;
  const end = isWholeDays ? Math.min(to, endOfMinute(now)) : to;
  const length = last === undefined ? end - from : last * minuteMs;
  // A day on which clocks are put back is longer.
  if (length > dayMs + hourMs) return undefined;
  if (isOpen || end < to) return { from: from - dayMs, to: end - dayMs, name: 'same time the day before' };
  const name = length < dayMs - hourMs || last ? formatPeriod(length / minuteMs) : 'day';
  return { from: from - length, to: from, name: `${name} before`, isWholeDays };
}

/** Whether the last hour is a part of it and not all of it. */
export function hasLastHour({ from, to }: Period, takenAt: Date): boolean {
  const at = takenAt.getTime();
  return to > at - minuteMs && from < at - hourMs - minuteMs;
}

/** Parts of the period that a chart is made of: five minutes up to two hours, else hours. */
export function chooseParts({ from, to }: Period) {
  const length = to - from <= 2 * hourMs ? 5 * minuteMs : hourMs;
  const start = Math.floor(from / length) * length;
  return { start, length, count: Math.ceil((to - start) / length) };
}

export type Clock = ReturnType<typeof createClock>;

export function createClock(zone = 'UTC') {
  const date = (at: number): string => toLocalTime(zone, new Date(at)).day;
  const day = (at: number): string => formatShortDay(date(at));
  const time = (at: number): string => {
    const { minutes } = toLocalTime(zone, new Date(at));
    return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
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
    hour: (at: number) => time(at).replace(/:00$/u, ''),
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

export interface ZoneName {
  readonly id: string;
  readonly name: string;
  readonly originUrl?: string | undefined;
}

export interface Question {
  readonly zone: ZoneName | undefined;
  readonly period: Period;
  readonly filters: Filters;
}

export type ZoneQuestion = Question & { readonly zone: ZoneName };

export function isFiltered(filters: Filters): boolean {
  return Object.keys(filters).length > 0;
}

/** ` with code:dns_lookup or code:http_timeout and status:5xx (of 240)`; '' without filters. */
export function describeFilters(filters: Filters, of?: number): string {
  const kinds = filterKinds.flatMap((kind) => {
    const values = filters[kind];
    return values ? [values.map((value) => formatCode(`${kind}:${value}`, 80)).join(' or ')] : [];
  });
  if (kinds.length === 0) return '';
  return ` with ${kinds.join(' and ')}${of === undefined ? '' : ` (of ${formatInteger(of)})`}`;
}

export function writeFilters(filters: Filters): string {
  return filterKinds
    .flatMap((kind) => (filters[kind] ?? []).map((value) => `${kind}:${quoteWord(value)}`))
    .join(' ');
}

/** Characters that all filters together may take: Slack’s entry of a menu holds 150, with everything else. */
export const maxFilters = 60;

/** The typed words that show the same; `fixed`: whenever they are read. `more`: named words such as `show:hours`. */
export function writeQuestion(
  { zone, period, filters }: Question,
  { more = '', fixed = true }: { readonly more?: string; readonly fixed?: boolean } = {},
): string {
  const when = fixed ? writePeriod(period) : writeMovingPeriod(period);
  return join(['errors', zone?.id ?? 'all', when, more, writeFilters(filters)], ' ');
}

/** A button that replaces the answer, with what was counted if that is still cached. */
export function questionButton(label: string, question: Question, more = ''): Button {
  const words = writeQuestion(question, { more: join([more, 'seen:1'], ' '), fixed: false });
  return replacingButton(label, words);
}

export function refreshButton(question: Question, more = ''): Button {
  return replacingButton('Refresh', writeQuestion(question, { more, fixed: false }), 1);
}

export function fileButton(label: string, as: string, question: Question): Button {
  return button(
    label,
    `origin-errors:file:${as}`,
    writeQuestion(question, { more: `as:${as}`, fixed: false }),
  );
}

/** Buttons of other periods, for a menu; the answer says the one that is shown. */
export function listPeriods(
  question: Question,
  view: { readonly today: string; readonly timeZone: string | undefined },
  asOf: Date,
  more = '',
): ButtonGroup {
  const { today } = view;
  const clock = createClock(view.timeZone);
  const localDay = (first: string): Period => {
    if (clock.zone === 'UTC') return wholeDays({ first, count: 1 });
    const [from = 0, to = 0] = [first, shiftDay(first, 1)].map((day) =>
      findMoment(clock.zone, day).getTime(),
    );
    return { from, to, isOpen: first === today ? true : undefined };
  };
  const offered: [label: string, period: Period][] = [
    ['Today', localDay(today)],
    ['Last hour', rollBack(60, asOf)],
    ['Last 24 hours', rollBack(24 * 60, asOf)],
    ['Yesterday', localDay(shiftDay(today, -1))],
    ['Last 3 days', rollBack(3 * 24 * 60, asOf)],
    ['Last 7 days', rollBack(7 * 24 * 60, asOf)],
  ];
  const buttons = offered.map(([label, period]) => questionButton(label, { ...question, period }, more));
  return { label: 'Period', buttons };
}

/** Any zone, by a menu with search; the action's id has the words behind the zone. */
export function pickZone(question: Question): ExternalSelect {
  return {
    type: 'external_select',
    action_id: `origin-errors:pick:${wordsBehindZone(question, false)}`,
    placeholder: plain('Another zone…'),
    min_query_length: 0,
  };
}

export function wordsBehindZone(question: Question, fixed = true): string {
  return writeQuestion({ ...question, zone: undefined }, { fixed }).replace(/^errors all /u, '');
}

export function readZonePick(actionId: string, chosen: string): string {
  return `errors ${quoteWord(chosen)} ${actionId.split(':').slice(2).join(':')}`.trim();
}
