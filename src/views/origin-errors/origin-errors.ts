import type { KnownBlock } from '@slack/types';
import type { Group, OriginErrorCounts, Sample } from '../../api/origin-errors/counts.ts';
import type { DayRange } from '../../lib/time.ts';
import { actions, button, context, message, section } from '../blocks/blocks.ts';
import { formatDate, formatMoment } from '../blocks/dates.ts';
import type { Message } from '../blocks/message.ts';
import {
  escapeMrkdwn,
  formatCode,
  formatInteger,
  formatPercent,
  pluralize,
  truncateLines,
} from '../blocks/text.ts';
import { showButton } from '../zones/rows.ts';
import { describePeak, renderHourChart } from './hours.ts';
import { describeDays, type Report, type ZoneName } from './report.ts';

/** Offered days; each can be typed as well. */
export const dayChoices = ['today', 'yesterday', 'last 3 days', 'last 7 days'] as const;

interface Shown {
  readonly report: Report;
  /** The current UTC day: `2026-11-21`. */
  readonly today: string;
  /** Encodes a zone and days for a button. */
  readonly value: (zone: ZoneName, days: DayRange, more?: Readonly<Record<string, string>>) => string;
}

const maxGroups = 8;
const maxPrefixes = 6;

/** The origin errors of a zone on some days: the number first, then codes, addresses, hours and samples. */
export function renderOriginErrors(shown: Shown): Message {
  const { report } = shown;
  const { counts, zone } = report;
  const name = escapeMrkdwn(zone.name, 80) || `zone ${escapeMrkdwn(zone.id, 20)}`;
  const when = describeDays(report.days, shown.today);
  const atLeast = report.incomplete.length > 0 || report.unread.length > 0 ? 'At least ' : '';
  const number = `${atLeast}${pluralize(counts.total, 'origin error')}`;
  const headline = `${number.charAt(0).toUpperCase()}${number.slice(1)} ${when} in ${name}`;
  const peak = describePeak(counts, report.days);
  return message([headline, ...formatTopCodes(counts)].join(': ') + (peak && `; ${peak}`), [
    section([`*${headline}*`, renderSummary(report)].filter(Boolean).join('\n')),
    ...renderWarnings(report).map((warning) => section(warning)),
    ...renderHourChart(counts, report.days, {
      title: `${atLeast}${pluralize(counts.total, 'error')} ${when}`,
      now: report.takenAt,
    }),
    ...renderPart('By error', renderGroups(counts), 2500),
    ...renderPart('By address', renderPrefixes(counts), 1200),
    ...renderPart(counts.samples.length === 1 ? 'Sample' : 'Samples', counts.samples.map(renderSample), 2600),
    actions(...renderDayButtons(shown)),
    actions(
      ...(counts.total > 0
        ? [
            button('All as CSV', 'origin-errors:file:csv', shown.value(zone, report.days, { as: 'csv' })),
            button(
              'All as NDJSON',
              'origin-errors:file:ndjson',
              shown.value(zone, report.days, { as: 'ndjson' }),
            ),
          ]
        : []),
      button('Refresh', 'origin-errors:day:refresh', shown.value(zone, report.days, { fresh: '1' })),
      showButton(zone.id, 'Show the zone'),
    ),
    context(
      [
        `As of ${formatMoment(report.takenAt)}. Days and hours are UTC.`,
        'Query values in addresses are never shown.',
      ].join(' '),
    ),
  ]);
}

/** First and last error, the peak, and the comparison with the day before. */
function renderSummary({ counts, before, days }: Report): string {
  const { first, last } = counts;
  const compared =
    before === undefined || days.count > 1
      ? ''
      : `the day before: ${before.incomplete ? 'at least ' : ''}${before.total === 0 ? 'none' : `${formatInteger(before.total)} in all`}`;
  const between =
    first === undefined || last === undefined
      ? ''
      : `first ${formatMoment(new Date(first))}, last ${formatMoment(new Date(last))}`;
  const peak = describePeak(counts, days);
  return [between, peak, compared].filter(Boolean).join(' · ');
}

function renderWarnings(report: Report): string[] {
  const { counts, before, incomplete, unread, skipped, repeated } = report;
  const fresh = before
    ? [...counts.codes]
        .filter(([code]) => !before.codes.has(code))
        .map(([name, times]) => `${formatErrorCode(name)} (${formatInteger(times)})`)
    : [];
  const odd = [
    skipped > 0 ? `${pluralize(skipped, 'entry', 'entries')} could not be read` : '',
    repeated > 0
      ? `${pluralize(repeated, 'entry', 'entries')} came twice and ${repeated === 1 ? 'is' : 'are'} counted once`
      : '',
  ].filter(Boolean);
  return [
    ...(fresh.length > 0 && before
      ? [
          `:new: *New since the day before* (${before.day}${before.incomplete ? ', of which the CDN gave only a part' : ''}): ${truncateLines(fresh, 1000, ', ')}`,
        ]
      : []),
    ...(before === undefined && counts.total > 0
      ? [':grey_question: The day before could not be read, so what is new is not known.']
      : []),
    ...(incomplete.length > 0
      ? [
          `:warning: *More entries exist* than the CDN gave for ${incomplete.join(', ')}, and it has no way to ask for the rest. The numbers are the least there were.`,
        ]
      : []),
    ...unread.map(
      ({ day, why }) =>
        `:warning: ${day} could not be read and is left out: ${why.message}${why.reference ? ` Reference ${escapeMrkdwn(why.reference, 20)}` : ''}`,
    ),
    ...(odd.length > 0 ? [`:information_source: ${odd.join('; ')}.`] : []),
  ];
}

function renderGroups(counts: OriginErrorCounts): string[] {
  const lines = counts.groups.slice(0, maxGroups).map((group) => renderGroup(group, counts.total));
  const rest = counts.total - counts.groups.slice(0, maxGroups).reduce((sum, group) => sum + group.count, 0);
  const kinds = counts.groups.length - maxGroups;
  return rest > 0
    ? [
        ...lines,
        `and ${pluralize(rest, 'more error')} of ${counts.ungrouped > 0 ? 'more than ' : ''}${pluralize(Math.max(1, kinds), 'other kind')}`,
      ]
    : lines;
}

function renderGroup(group: Group, total: number): string {
  const { first, last } = group;
  const seen =
    first === undefined || last === undefined
      ? ''
      : first === last
        ? formatMoment(new Date(first))
        : `first ${formatMoment(new Date(first))}, last ${formatMoment(new Date(last))}`;
  return [
    `*${formatInteger(group.count)}* (${formatPercent(group.count, total)})`,
    [formatErrorCode(group.errorCode ?? ''), formatStatus(group.statusCode)].filter(Boolean).join(' '),
    group.serverZone === undefined ? 'server zone not reported' : escapeMrkdwn(group.serverZone, 20),
    seen,
  ]
    .filter(Boolean)
    .join(' · ');
}

function renderPrefixes(counts: OriginErrorCounts): string[] {
  const missed = counts.prefixesMissed > 0 ? 'at least ' : '';
  const shown = counts.prefixes.slice(0, maxPrefixes);
  const more = counts.prefixes.length - shown.length;
  const lines = shown.map(
    ([prefix, times]) => `*${missed}${formatInteger(times)}* · ${formatCode(prefix, 100)}`,
  );
  return more > 0 ? [...lines, `and ${missed ? 'many' : formatInteger(more)} more`] : lines;
}

function renderSample(entry: Sample): string {
  const what = [
    entry.at === undefined ? 'time not reported' : formatMoment(new Date(entry.at)),
    [formatErrorCode(entry.errorCode ?? ''), formatStatus(entry.statusCode)].filter(Boolean).join(' '),
    escapeMrkdwn(entry.serverZone ?? '', 20),
  ];
  const where = entry.requestUrl === undefined ? 'address not readable' : formatCode(entry.requestUrl, 160);
  const why = entry.message === undefined ? '' : escapeMrkdwn(entry.message, 160);
  return `${what.filter(Boolean).join(' · ')}\n${[where, why].filter(Boolean).join(' · ')}`;
}

function renderDayButtons({ report, today, value }: Shown): ReturnType<typeof button>[] {
  const offered: (readonly [label: string, id: string, days: DayRange])[] = [
    ['Today', 'today', { first: today, count: 1 }],
    ['Yesterday', 'yesterday', { first: formatDate(today, -1), count: 1 }],
    ['Last 3 days', 'three', { first: formatDate(today, -2), count: 3 }],
  ];
  const { first, count } = report.days;
  const isOther = count === 1 && first < formatDate(today, -1);
  return [
    ...offered.filter(([, , days]) => days.first !== first || days.count !== count),
    ...(isOther ? [['The day before', 'before', { first: formatDate(first, -1), count: 1 }] as const] : []),
  ].map(([label, id, days]) => button(label, `origin-errors:day:${id}`, value(report.zone, days)));
}

/** The most frequent codes, for the notification text. */
function formatTopCodes({ codes }: OriginErrorCounts): string[] {
  const top = [...codes].sort((a, b) => b[1] - a[1]).slice(0, 3);
  return top.length === 0
    ? []
    : [top.map(([name, times]) => `${formatErrorCode(name)} ${formatInteger(times)}`).join(', ')];
}

function formatErrorCode(errorCode: string): string {
  return errorCode === '' ? 'no code' : formatCode(errorCode, 60);
}

function formatStatus(statusCode: number | undefined): string {
  return statusCode === undefined ? 'no status' : String(statusCode);
}

function renderPart(title: string, lines: readonly string[], length: number): KnownBlock[] {
  return lines.length === 0 ? [] : [section(`*${title}*\n${truncateLines(lines, length)}`)];
}
