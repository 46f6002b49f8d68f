import type { Button, ExternalSelect, StaticSelect } from '@slack/types';
import { type Filters, filterKinds } from '../../api/origin-errors/filters.ts';
import { shiftDay } from '../../lib/time.ts';
import { findMoment } from '../../lib/time-zone.ts';
import { plain } from '../blocks/blocks.ts';
import { button, selectOf } from '../blocks/buttons.ts';
import { formatInteger } from '../blocks/format.ts';
import { capitalize, formatCode, join } from '../blocks/text.ts';
import { quoteWord } from '../zones/rows.ts';
import {
  createClock,
  describePeriod,
  type Period,
  rollBack,
  wholeDays,
  writeMovingPeriod,
  writePeriod,
} from './period.ts';

export interface ZoneName {
  readonly id: string;
  readonly name: string;
  readonly originUrl?: string | undefined;
}

/** Which errors are asked about. */
export interface Question {
  /** Undefined = the busiest zones. */
  readonly zone: ZoneName | undefined;
  readonly period: Period;
  readonly filters: Filters;
}

/** A question about one zone. */
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

/** Kind and value of each filter, as typed: `code:http_timeout status:502`. */
export function writeFilters(filters: Filters): string {
  return filterKinds
    .flatMap((kind) => (filters[kind] ?? []).map((value) => `${kind}:${quoteWord(value)}`))
    .join(' ');
}

/** Characters that all filters together may take: Slack’s entry of a menu holds 150, with everything else. */
export const maxFilters = 60;

/**
 * The typed words that show the same. A `fixed` period is the same whenever it is read. `more` are named words such as
 * `show:hours`.
 */
export function writeQuestion(
  { zone, period, filters }: Question,
  { more = '', fixed = true }: { readonly more?: string; readonly fixed?: boolean } = {},
): string {
  const when = fixed ? writePeriod(period) : writeMovingPeriod(period);
  return join(['errors', zone?.id ?? 'all', when, more, writeFilters(filters)], ' ');
}

/**
 * A button that runs the question as a command and replaces the answer. It shows what was counted already, if that is
 * still cached.
 */
export function questionButton(label: string, question: Question, more = ''): Button {
  const words = writeQuestion(question, { more: join([more, 'seen:1'], ' '), fixed: false });
  return button(label, 'origin-errors:day:0', words);
}

/** The same, counted now. */
export function refreshButton(question: Question, more = ''): Button {
  return button('Refresh', 'origin-errors:day:1', writeQuestion(question, { more, fixed: false }));
}

/** A button that sends all entries, or all zones, as a file. */
export function fileButton(label: string, as: string, question: Question): Button {
  return button(
    label,
    `origin-errors:file:${as}`,
    writeQuestion(question, { more: `as:${as}`, fixed: false }),
  );
}

/** The same question about other times. */
export function renderPeriodMenu(
  question: Question,
  view: { readonly today: string; readonly timeZone: string | undefined },
  asOf: Date,
  more = '',
): StaticSelect | undefined {
  const { period } = question;
  const { today } = view;
  const clock = createClock(view.timeZone);
  const yesterday = shiftDay(today, -1);
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
    ['Yesterday', localDay(yesterday)],
    ['Last 3 days', rollBack(3 * 24 * 60, asOf)],
    ['Last 7 days', rollBack(7 * 24 * 60, asOf)],
  ];
  const words = writeMovingPeriod(period);
  const known = offered.find(([, one]) => writeMovingPeriod(one) === words);
  const chosen = known?.[0] ?? capitalize(describePeriod(period, today, clock));
  if (!known) offered.push([chosen, period]);
  const day = writePeriod(period);
  if (period.isWholeDays && day.length === yesterday.length && day < yesterday)
    offered.push(['The day before', wholeDays({ first: shiftDay(day, -1), count: 1 })]);
  return selectOf(
    chosen,
    offered.map(([label, other]) => questionButton(label, { ...question, period: other }, more)),
    { chosen, nth: 1 },
  );
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

/** What stands behind the zone in the typed question. */
export function wordsBehindZone(question: Question, fixed = true): string {
  return writeQuestion({ ...question, zone: undefined }, { fixed }).replace(/^errors all /u, '');
}

/** The typed command of a choice in that menu. */
export function readZonePick(actionId: string, chosen: string): string {
  return `errors ${quoteWord(chosen)} ${actionId.split(':').slice(2).join(':')}`.trim();
}

/** The typed command of a button; one in a message of an older version names its zone in another form. */
export function readButton(_actionId: string, value: string): string {
  if (/^errors\b/u.test(value)) return value;
  return `errors ${new URLSearchParams(value).get('zone') ?? 'all'}`;
}
