import type { Group, OriginErrorCounts } from '../../api/origin-errors/counts.ts';
import { minuteMs } from '../../lib/time.ts';
import { formatInteger, pluralize } from '../blocks/format.ts';
import { escapeMrkdwn, formatCode, join, type Maybe, truncateLines } from '../blocks/text.ts';
import type { Clock } from './clock.ts';
import { chooseParts, describeMinutes, findBefore, type Period } from './period.ts';
import { formatKind, hasDays } from './pictures.ts';
import type { Before, Report } from './report.ts';

/** Whether it still burns: the first question at night. */
export function describeLastHour(total: number, recent: number | undefined): string {
  if (recent === undefined || (total === 0 && recent === 0)) return '';
  if (recent === 0) return ', none in the last hour';
  // Just after midnight.
  return `, ${formatInteger(recent)} in the last hour${recent > total ? ' with yesterday’s' : ''}`;
}

/** Entries by code and status, whatever the server zone, the most frequent first. */
export function rankKinds(groups: readonly Group[]): Pick<Group, 'errorCode' | 'statusCode' | 'count'>[] {
  const kinds = new Map<string, Pick<Group, 'errorCode' | 'statusCode' | 'count'>>();
  for (const { errorCode, statusCode, count } of groups) {
    const key = formatKind({ errorCode, statusCode });
    kinds.set(key, { errorCode, statusCode, count: count + (kinds.get(key)?.count ?? 0) });
  }
  return [...kinds.values()].sort((a, b) => b.count - a.count);
}

/** `Mostly dns_lookup 502: 125` */
export function describeMainKind({ groups, total }: OriginErrorCounts): string {
  const [main] = rankKinds(groups);
  if (!main || (main.count === 1 && total > 1)) return '';
  const { errorCode = '', statusCode = 'no status', count } = main;
  const words = errorCode === '' ? formatKind(main) : `${formatCode(errorCode, 60)} ${statusCode}`;
  if (count === total) return total === 1 ? words : `All ${words}`;
  return `${count * 2 > total ? 'Mostly' : 'Most often'} ${words}: ${formatInteger(count)}`;
}

/** `worst hour 13–14: 61`, `worst 5 minutes 10:05–10:10: 12` */
export function describeWorstHour({ counts: { hours, total }, period }: Report, clock: Clock): string {
  const highest = Math.max(0, ...hours);
  if (highest === 0 || total === 1) return '';
  const { start, length } = chooseParts(period);
  const at = start + hours.indexOf(highest) * length;
  const minutes = length / minuteMs;
  const format = minutes < 60 ? clock.time : clock.hour;
  const part = join([hasDays(period, clock) && clock.day(at), `${format(at)}–${format(at + length)}`], ' ');
  return `worst ${describeMinutes(minutes)} ${part}: ${formatInteger(highest)}`;
}

/** `yesterday 240`, `hour before at least 12` */
export function describeTimeBefore({ before, period }: Report, today: string): string {
  if (!before || (!period.span && period.days.count > 1)) return '';
  const number = before.total > 0 || before.incomplete ? formatInteger(before.total) : 'none';
  const isYesterday = !period.span && period.days.first === today;
  return `${isYesterday ? 'yesterday' : nameBefore(period)} ${before.incomplete ? 'at least ' : ''}${number}`;
}

/** `day before`, `hour before`, `90 minutes before` */
function nameBefore(period: Period): string {
  const { from, to } = findBefore(period);
  return `${period.span ? describeMinutes((to - from) / minuteMs) : 'day'} before`;
}

/** What makes the numbers doubtful, and what is new. */
export function renderWarnings(report: Report): Maybe<string>[] {
  const { counts, before, incomplete, unread, skipped, repeated, undated, period } = report;
  const odd = [
    skipped > 0 && `${pluralize(skipped, 'entry', 'entries')} could not be read`,
    repeated > 0 &&
      `${pluralize(repeated, 'entry', 'entries')} came twice and ${repeated === 1 ? 'is' : 'are'} counted once`,
    undated > 0 &&
      `${pluralize(undated, 'entry', 'entries')} without a time ${undated === 1 ? 'is' : 'are'} left out`,
  ];
  return [
    counts.total === 0 && describeValues(report),
    before && describeNew(report, before),
    before === undefined &&
      counts.total > 0 &&
      `:grey_question: The ${nameBefore(period)} could not be read, so what is new is not known.`,
    incomplete.length > 0 &&
      `:warning: *More entries exist* than the CDN gave for ${incomplete.join(', ')}, and it has no way to ask for the rest.`,
    ...unread.map(
      ({ day, why }) =>
        `:warning: ${day} could not be read and is left out: ${why.message}${why.reference ? ` Reference ${escapeMrkdwn(why.reference, 20)}` : ''}`,
    ),
    odd.some(Boolean) && `:information_source: ${join(odd, '; ')}.`,
    counts.total > 0 && counts.hours.every((hour) => hour === 0) && 'No entry has a time in these days.',
  ];
}

/** What could be filtered by where the filters leave nothing. */
function describeValues({ values, all }: Report): string {
  const known = Object.entries(values).flatMap(([kind, some]) =>
    [...some].map((value) => formatCode(`${kind}:${value}`, 80)),
  );
  return all === 0 || known.length === 0 ? '' : `There are ${truncateLines(known, 1000, ', ')}.`;
}

/** Codes that the time before did not have. Where there was nothing before, everything is new. */
function describeNew({ counts, period }: Report, before: Before): string {
  const fresh = [...counts.codes]
    .filter(([code]) => !before.codes.has(code))
    .map(([code, times]) => `${code === '' ? 'no code' : formatCode(code, 60)} (${formatInteger(times)})`);
  if (fresh.length === 0 || before.total === 0) return '';
  const since = period.span ? `Not in the ${nameBefore(period)}` : `New since ${before.day}`;
  const part = before.incomplete ? ` (the CDN gave only a part of that ${period.span ? 'time' : 'day'})` : '';
  return `:new: *${since}*: ${truncateLines(fresh, 1000, ', ')}${part}`;
}
