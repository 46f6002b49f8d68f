import { renderAnswer } from '../blocks/answer.ts';
import { type Message, say } from '../blocks/blocks.ts';
import { commandButton, selectOf } from '../blocks/buttons.ts';
import type { Failure } from '../blocks/failure.ts';
import { agree, countOf, formatCount, formatInteger, pluralize } from '../blocks/format.ts';
import { createClock, describePeriod } from '../blocks/period.ts';
import { type Cell, renderTable } from '../blocks/table.ts';
import { capitalize, escapeMrkdwn, join, type Maybe, truncateLines, unbold } from '../blocks/text.ts';
import { describeReference, formatKind, type ReportView, renderTime, warnOfMore } from './origin-errors.ts';
import {
  describeFilters,
  hasLastHour,
  isFiltered,
  listPeriods,
  pickZone,
  type Question,
  questionButton,
  refreshButton,
  writeQuestion,
  type ZoneName,
} from './question.ts';

export interface Overview extends Question {
  readonly zone: undefined;
  readonly takenAt: Date;
  readonly zones: readonly ZoneErrors[];
  readonly unread: readonly { readonly zone: ZoneName; readonly why: Failure }[];
  readonly asked: number;
  readonly of: number;
}

export interface ZoneErrors {
  readonly zone: ZoneName;
  readonly total: number;
  readonly all: number;
  readonly recent: number | undefined;
  readonly mostly:
    | { readonly errorCode?: string | undefined; readonly statusCode?: number | undefined }
    | undefined;
  readonly last: number | undefined;
  readonly hasMore: boolean;
  readonly undated: number;
}

type OverviewView = Pick<ReportView, 'today' | 'timeZone'>;

const maxOffered = 25;

export function renderOverview(overview: Overview, view: OverviewView): Message {
  const { zones, filters, takenAt } = overview;
  const clock = createClock(view.timeZone);
  const failing = zones.filter(hasErrors);
  const lines = describeOverview(overview, view);
  return renderAnswer({
    text: lines.map(unbold).join('. '),
    lines,
    warnings: renderWarnings(overview),
    picture: renderZones(overview, view),
    actions: [
      failing.length === 0 && pickZone(overview),
      selectOf(failing.length === 0 ? 'Period…' : 'Zone or period…', [
        {
          label: 'Zone',
          buttons: failing
            .slice(0, maxOffered)
            .map(({ zone, total, recent }) =>
              questionButton(
                `${zone.name || zone.id} · ${recent ? `${formatInteger(recent)} now` : formatInteger(total)}`,
                { ...overview, zone },
              ),
            ),
        },
        listPeriods(overview, view, takenAt),
      ]),
    ],
    share: writeQuestion(overview),
    more: [
      refreshButton(overview),
      failing.length > 0 && commandButton('Another zone', 'zone'),
      isFiltered(filters) && questionButton('Without filters', { ...overview, filters: {} }),
      commandButton('Alert on errors', 'alert new errors'),
    ],
    notes: [`Times are ${clock.zone}`, `as of ${clock.time(takenAt.getTime())}`],
  });
}

export function renderReading({ period, asked }: Overview, { today, timeZone }: OverviewView): Message {
  const when = describePeriod(period, today, createClock(timeZone));
  return say(`Reading the origin errors ${when} of ${formatCount(asked, 'zone')}…`);
}

function hasErrors({ total, undated }: ZoneErrors): boolean {
  return total > 0 || undated > 0;
}

function describeOverview(overview: Overview, view: OverviewView): string[] {
  const { zones, period, filters, takenAt, of } = overview;
  const when = describePeriod(period, view.today, createClock(view.timeZone));
  const failing = zones.filter(hasErrors);
  const total = sum(zones.map((zone) => zone.total));
  const undated = sum(zones.map((zone) => zone.undated));
  const filtered = describeFilters(filters);
  const ofAll = filtered && ` (of ${formatInteger(sum(zones.map(({ all }) => all)))})`;
  const hasMore = zones.some((zone) => zone.hasMore);
  const least = hasMore ? 'at least ' : '';
  const errors =
    total === 0 && (undated > 0 || hasMore) ? '' : `${least}${pluralize(total, 'origin error')}${ofAll}`;
  const [most] = failing.toSorted((a, b) => b.total - a.total);
  const where =
    most &&
    most.total > 0 &&
    failing.length > 1 &&
    `most in ${nameOf(most.zone)}: ${formatInteger(most.total)}`;
  const doubts = [
    undated > 0 && `${pluralize(undated, 'error')} at an unknown time`,
    zones.length < of && `*${countOf(of - zones.length, of, 'zone')} not checked*`,
  ];
  if (!hasLastHour(period, takenAt)) {
    const certain = zones.filter((zone) => zone.total > 0).length;
    const open = zones.filter((zone) => zone.total === 0 && (zone.hasMore || zone.undated > 0)).length;
    if (zones.length === 0) return [describeUnsure(of, of, `failed ${when}`)];
    const failed =
      certain === 0 && open > 0
        ? describeUnsure(open, zones.length, `failed ${when}`)
        : `*${open > 0 ? 'At least ' : ''}${countZones(certain, zones.length)} failed* ${when}${filtered}`;
    return [join([failed, errors, ...doubts], ' · '), where ? capitalize(where) : ''].filter(Boolean);
  }
  if (zones.length === 0) return [describeUnsure(of, of, 'fails now', 'fail now')];
  const recents = zones.flatMap(({ recent }) => recent ?? []);
  const now = recents.filter((recent) => recent > 0);
  const unsure = zones.length - recents.length;
  // The table says that now is the last hour.
  const last = now.length > 0 && `(${pluralize(sum(now), 'error')})`;
  const number = last && undated === 0 ? least + formatInteger(total) + ofAll : errors;
  // Entries without a time, and those that the CDN did not give, may be of the last hour.
  const fail =
    now.length === 0 && unsure > 0
      ? describeUnsure(unsure, zones.length, 'fails now', 'fail now')
      : `*${unsure > 0 ? 'At least ' : ''}${countZones(now.length, zones.length)} ${agree(now.length || 1, 'fails', 'fail')} now*`;
  const inAll = join([number && `${number} ${when}`, where], ', ');
  return [join([join([fail + filtered, last], ' '), inAll, ...doubts], ' · ')];
}

function describeUnsure(some: number, of: number, one: string, many = one): string {
  return `*Unknown whether ${countOf(some, of, 'zone')} ${agree(some, one, many)}*`;
}

function countZones(some: number, of: number): string {
  return countOf(some, of, 'zone').replace(/^0/u, 'None');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

function toCell(number: number): Cell {
  return { number, text: formatInteger(number) };
}

function renderZones({ zones, period, takenAt }: Overview, { timeZone }: OverviewView) {
  const clock = createClock(timeZone);
  const failing = zones.filter(hasErrors);
  const hasRecent = hasLastHour(period, takenAt);
  return renderTable({
    caption: hasRecent ? 'Failing now first' : 'Most errors first',
    columns: ['Zone', ...(hasRecent ? ['Last hour'] : []), 'Errors', 'Mostly', 'Last'],
    rows: failing.map(({ zone, total, recent, mostly, last, undated }) => [
      zone.name || `zone ${zone.id}`,
      ...(hasRecent ? [recent === undefined ? { number: -1, text: 'not known' } : toCell(recent)] : []),
      total > 0 ? toCell(total) : { number: undated, text: `${formatInteger(undated)} without a time` },
      mostly ? formatKind(mostly) : '',
      renderTime(last, clock, takenAt),
    ]),
  });
}

function renderWarnings({ zones, unread }: Overview): Maybe<string>[] {
  const part = zones.filter(({ hasMore }) => hasMore).map(({ zone }) => nameOf(zone));
  const reasons = Map.groupBy(unread, ({ why }) => why.message);
  return [
    ...[...reasons].map(([message, failed]) => {
      const names = truncateLines(
        failed.map(({ zone }) => nameOf(zone)),
        600,
        ', ',
      );
      const which = failed.length === 1 ? names : `${pluralize(failed.length, 'zone')} (${names})`;
      return `:warning: ${which} could not be read and ${agree(failed.length, 'is', 'are')} left out: ${message}${describeReference(failed[0]?.why)}`;
    }),
    part.length > 0 && warnOfMore(truncateLines(part, 600, ', ')),
  ];
}

function nameOf({ id, name }: ZoneName): string {
  return escapeMrkdwn(name, 60) || id;
}
