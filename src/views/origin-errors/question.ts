import type { Button, ExternalSelect } from '@slack/types';
import { type Filters, filterKinds } from '../../api/origin-errors/filters.ts';
import { dayMs, hourMs, minuteMs, shiftDay } from '../../lib/time.ts';
import { findMoment } from '../../lib/time-zone.ts';
import { plain } from '../blocks/blocks.ts';
import { type ButtonGroup, button, replacingButton } from '../blocks/buttons.ts';
import { formatInteger, formatPeriod } from '../blocks/format.ts';
import {
  createClock,
  endOfMinute,
  type Period,
  rollBack,
  wholeDays,
  writeMovingPeriod,
  writePeriod,
} from '../blocks/period.ts';
import { formatCode, join } from '../blocks/text.ts';
import { quoteWord } from '../zones/rows.ts';

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
