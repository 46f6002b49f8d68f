import type { Button, KnownBlock } from '@slack/types';
import type { Group, OriginErrorCounts, Sample } from '../../api/origin-errors/counts.ts';
import { type DayRange, hourMs, shiftDay, startOfDay } from '../../lib/time.ts';
import { actions, context, type Message, message, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { renderChart, sumBuckets } from '../blocks/chart.ts';
import { formatInteger, formatMoment, formatPercent, formatShortDay, pluralize } from '../blocks/format.ts';
import { capitalize, escapeMrkdwn, formatCode, join, type Maybe, truncateLines } from '../blocks/text.ts';
import { showButton } from '../zones/rows.ts';
import { describeDays, type Report, type ZoneName } from './report.ts';

/** Offered days; each can be typed as well. */
export const dayChoices = ['today', 'yesterday', 'last 3 days', 'last 7 days'] as const;

const maxGroups = 8;
const maxPrefixes = 6;

/** The origin errors of a zone on some days: the number first, then codes, addresses, hours and samples. */
export function renderOriginErrors(report: Report, today: string): Message {
  const { counts, zone, days, takenAt, incomplete, unread } = report;
  const name = escapeMrkdwn(zone.name, 80) || `zone ${escapeMrkdwn(zone.id, 20)}`;
  const when = describeDays(days, today);
  const atLeast = incomplete.length > 0 || unread.length > 0 ? 'At least ' : '';
  const headline = capitalize(`${atLeast}${pluralize(counts.total, 'origin error')} ${when} in ${name}`);
  const peak = describePeak(counts, days);
  const topCodes = formatTopCodes(counts);
  const text = `${headline}${topCodes && `: ${topCodes}`}${peak && `; ${peak}`}`;
  const value = (more: Readonly<Record<string, string>>): string => encodeButton(zone, days, more);
  return message(text, [
    section([`*${headline}*`, renderSummary(report)]),
    ...renderWarnings(report).map((warning) => warning && section(warning)),
    ...renderPart('By error', renderGroups(counts), 2500),
    ...renderPart('By address', renderPrefixes(counts), 1200),
    ...renderHourChart(counts, days, `${atLeast}${pluralize(counts.total, 'error')} ${when}`, takenAt),
    ...renderPart(counts.samples.length === 1 ? 'Sample' : 'Samples', counts.samples.map(renderSample), 2600),
    actions(...renderDayButtons(report, today)),
    actions(
      counts.total > 0 && button('All as CSV', 'origin-errors:file:csv', value({ as: 'csv' })),
      counts.total > 0 && button('All as NDJSON', 'origin-errors:file:ndjson', value({ as: 'ndjson' })),
      button('Refresh', 'origin-errors:day:refresh', value({ fresh: '1' })),
      showButton(zone.id, 'Show the zone'),
    ),
    context(
      `As of ${formatMoment(takenAt)}. Days and hours are UTC. Query values in addresses are never shown.`,
    ),
  ]);
}

/** The value of a button that shows or sends these days of a zone. */
function encodeButton(
  { id, name }: ZoneName,
  { first, count }: DayRange,
  more: Readonly<Record<string, string>> = {},
): string {
  const fields = { zone: id, name: name.slice(0, 100).toWellFormed(), first, days: String(count), ...more };
  return new URLSearchParams(fields).toString();
}

/** First and last error, the peak, and the comparison with the day before. */
function renderSummary({ counts, before, days }: Report): string {
  const least = before?.incomplete ? 'at least ' : '';
  const total =
    before && (least || before.total > 0 ? `${least}${formatInteger(before.total)} in all` : 'none');
  const compared = total && days.count === 1 && `the day before: ${total}`;
  return join([formatSpan(counts), describePeak(counts, days), compared], ' · ');
}

/** `first 09:10, last 09:20`, or the one moment. */
function formatSpan({ first, last }: Pick<Group, 'first' | 'last'>): string {
  if (first === undefined || last === undefined) return '';
  const [start, end] = [first, last].map((at) => formatMoment(new Date(at)));
  return first === last ? (start ?? '') : `first ${start}, last ${end}`;
}

function renderWarnings(report: Report): Maybe<string>[] {
  const { counts, before, incomplete, unread, skipped, repeated } = report;
  const fresh = [...counts.codes]
    .filter(([code]) => before && !before.codes.has(code))
    .map(([name, times]) => `${formatErrorCode(name)} (${formatInteger(times)})`);
  const dayBefore =
    before && `${before.day}${before.incomplete ? ', of which the CDN gave only a part' : ''}`;
  const odd = [
    skipped > 0 && `${pluralize(skipped, 'entry', 'entries')} could not be read`,
    repeated > 0 &&
      `${pluralize(repeated, 'entry', 'entries')} came twice and ${repeated === 1 ? 'is' : 'are'} counted once`,
  ];
  return [
    fresh.length > 0 &&
      `:new: *New since the day before* (${dayBefore}): ${truncateLines(fresh, 1000, ', ')}`,
    before === undefined &&
      counts.total > 0 &&
      ':grey_question: The day before could not be read, so what is new is not known.',
    incomplete.length > 0 &&
      `:warning: *More entries exist* than the CDN gave for ${incomplete.join(', ')}, and it has no way to ask for the rest. The numbers are the least there were.`,
    ...unread.map(
      ({ day, why }) =>
        `:warning: ${day} could not be read and is left out: ${why.message}${why.reference ? ` Reference ${escapeMrkdwn(why.reference, 20)}` : ''}`,
    ),
    odd.some(Boolean) && `:information_source: ${join(odd, '; ')}.`,
  ];
}

function renderGroups({ groups, total, ungrouped }: OriginErrorCounts): string[] {
  const shown = groups.slice(0, maxGroups);
  const lines = shown.map((group) => renderGroup(group, total));
  const rest = total - shown.reduce((sum, { count }) => sum + count, 0);
  const kinds = pluralize(Math.max(1, groups.length - maxGroups), 'other kind');
  return rest > 0
    ? [...lines, `and ${pluralize(rest, 'more error')} of ${ungrouped > 0 ? 'more than ' : ''}${kinds}`]
    : lines;
}

function renderGroup(group: Group, total: number): string {
  const { count, serverZone } = group;
  const facts = [
    `*${formatInteger(count)}* (${formatPercent(count, total)})`,
    formatKind(group),
    serverZone === undefined ? 'server zone not reported' : escapeMrkdwn(serverZone, 20),
    formatSpan(group),
  ];
  return join(facts, ' · ');
}

function renderPrefixes({ prefixes, prefixesMissed }: OriginErrorCounts): string[] {
  const missed = prefixesMissed > 0 ? 'at least ' : '';
  const more = prefixes.length - maxPrefixes;
  const lines = prefixes
    .slice(0, maxPrefixes)
    .map(([prefix, times]) => `*${missed}${formatInteger(times)}* · ${formatCode(prefix, 100)}`);
  return more > 0 ? [...lines, `and ${missed ? 'many' : formatInteger(more)} more`] : lines;
}

function renderSample(entry: Sample): string {
  const { at, serverZone = '', requestUrl, message: why = '' } = entry;
  const what = [
    at === undefined ? 'time not reported' : formatMoment(new Date(at)),
    formatKind(entry),
    escapeMrkdwn(serverZone, 20),
  ];
  const where = requestUrl === undefined ? 'address not readable' : formatCode(requestUrl, 160);
  const details = [where, escapeMrkdwn(why, 160)];
  return `${join(what, ' · ')}\n${join(details, ' · ')}`;
}

function renderDayButtons({ zone, days: { first, count } }: Report, today: string): Button[] {
  const yesterday = shiftDay(today, -1);
  const offered: [label: string, id: string, first: string, count: number][] = [
    ['Today', 'today', today, 1],
    ['Yesterday', 'yesterday', yesterday, 1],
    ['Last 3 days', 'three', shiftDay(today, -2), 3],
  ];
  if (count === 1 && first < yesterday) offered.push(['The day before', 'before', shiftDay(first, -1), 1]);
  return offered
    .filter(([, , day, days]) => day !== first || days !== count)
    .map(([label, id, day, days]) =>
      button(label, `origin-errors:day:${id}`, encodeButton(zone, { first: day, count: days })),
    );
}

function formatTopCodes({ codes }: OriginErrorCounts): string {
  return [...codes]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([name, times]) => `${formatErrorCode(name)} ${formatInteger(times)}`)
    .join(', ');
}

function formatKind({ errorCode = '', statusCode }: Pick<Group, 'errorCode' | 'statusCode'>): string {
  return `${formatErrorCode(errorCode)} ${statusCode ?? 'no status'}`;
}

function formatErrorCode(errorCode: string): string {
  return errorCode === '' ? 'no code' : formatCode(errorCode, 60);
}

function renderPart(title: string, lines: readonly string[], length: number): KnownBlock[] {
  return lines.length === 0 ? [] : [section(`*${title}*\n${truncateLines(lines, length)}`)];
}

/** Hours of a bar, so that at most twenty stand beside each other. */
const bucketHours = [1, 2, 6, 24] as const;

/** Errors by hour up to now, in equal buckets of UTC hours. Hours to come are left out. */
function renderHourChart({ hours, total }: OriginErrorCounts, days: DayRange, title: string, now: Date) {
  if (hours.every((hour) => hour === 0))
    return total > 0 ? [section('No entry has a time in these days.')] : [];
  const start = startOfDay(days.first);
  const begun = hours.slice(0, Math.max(1, Math.ceil((now.getTime() - start) / hourMs)));
  const size = bucketHours.find((size) => begun.length / size <= 20) ?? 24;
  const sums = sumBuckets(begun, size);
  const labels = sums.map((_, nth) => {
    const from = new Date(start + nth * size * hourMs).toISOString();
    const end = start + (nth + 1) * size * hourMs;
    const hour = size === 24 ? '' : from.slice(11, 13);
    const label = days.count === 1 ? hour : `${formatShortDay(from.slice(0, 10))} ${hour}`.trimEnd();
    if (end > now.getTime()) return `${label}–now`;
    return size === 1 || size === 24 ? label : `${label}–${padHour(((nth * size) % 24) + size)}`;
  });
  const period = size === 1 ? 'an hour' : size === 24 ? 'a day' : `each ${size} hours`;
  const series = [{ name: 'Errors', values: sums }];
  return renderChart({ kind: 'bar', title, unit: `Errors ${period}, UTC`, labels, series });
}

/** `most 13:00–14:00 UTC (61)` */
function describePeak({ hours }: OriginErrorCounts, days: DayRange): string {
  const highest = Math.max(0, ...hours);
  if (highest === 0) return '';
  const at = hours.indexOf(highest);
  const day = days.count === 1 ? '' : `${shiftDay(days.first, Math.floor(at / 24))} `;
  return `most ${day}${padHour(at % 24)}:00–${padHour((at % 24) + 1)}:00 UTC (${formatInteger(highest)})`;
}

function padHour(hour: number): string {
  return String(hour).padStart(2, '0');
}
