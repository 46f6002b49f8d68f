import type { Button } from '@slack/types';
import { minuteMs } from '../../lib/time.ts';
import { renderAnswer } from '../blocks/answer.ts';
import type { Message } from '../blocks/blocks.ts';
import { selectOf } from '../blocks/buttons.ts';
import { formatInteger, pluralize } from '../blocks/format.ts';
import { capitalize, escapeMrkdwn, formatCode, join, type Maybe, truncateLines } from '../blocks/text.ts';
import { shareFileButton } from '../share.ts';
import { showButton } from '../zones/rows.ts';
import { type Clock, chooseParts, createClock, describeMinutes, describePeriod } from './period.ts';
import { formatKind, type Picture, pictureNames, pictures, renderPicture } from './pictures.ts';
import {
  describeFilters,
  fileButton,
  isFiltered,
  questionButton,
  refreshButton,
  renderPeriodMenu,
  writeQuestion,
} from './question.ts';
import { describeReference, findLastDay, type Report, rankKinds, warnOfMore } from './report.ts';

export interface ReportView {
  /** `2026-11-21`, in UTC. */
  readonly today: string;
  readonly picture: Picture;
  /** IANA name of the reader's; UTC if unknown. */
  readonly timeZone: string | undefined;
  /** The zone was not typed: it is that of the channel. */
  readonly isOfChannel?: boolean;
}

/** The origin errors of a zone in some time: how many, whether it still burns, why, since when. */
export function renderOriginErrors(report: Report, view: ReportView): Message {
  const { counts, zone, period, filters, recent, takenAt, undated } = report;
  const clock = createClock(view.timeZone);
  const name = escapeMrkdwn(zone.name, 80) || `zone ${escapeMrkdwn(zone.id, 20)}`;
  const when = describePeriod(period, view.today, clock);
  const least = report.incomplete.length > 0 || report.unread.length > 0 ? 'at least ' : '';
  // Without a time they may be of that time: never "none".
  const isUnknown = counts.total === 0 && undated > 0;
  const number = isUnknown ? pluralize(undated, 'origin error') : pluralize(counts.total, 'origin error');
  const headline = capitalize(`${least}${number} ${isUnknown ? 'at an unknown time' : when} in ${name}`);
  const behind = describeFilters(filters, report.all) + describeLastHour(counts.total, recent);
  const cause = describeCause(report, clock);
  const facts = capitalize(join([describeWorstHour(report, clock), describeTimeBefore(report)], ' · '));
  const title = capitalize(`${least}${pluralize(counts.total, 'error')} ${when}`);
  const picture = renderPicture(view.picture, report, {
    clock,
    // Slack's limit of a title.
    title:
      [title + describeLastHour(counts.total, recent), title].find(({ length }) => length <= 50) ?? title,
  });
  const hasPaths = view.picture === 'addresses' || view.picture === 'samples';
  const show = `show:${view.picture}`;
  return renderAnswer({
    text: join([headline + behind, cause, facts], '. '),
    lines: [`*${headline}*${behind}`, cause, describeChange(report, clock), facts],
    warnings: renderWarnings(report),
    picture,
    actions: [
      counts.total > 0 &&
        selectOf(
          pictures[view.picture],
          pictureNames.map((each) => questionButton(pictures[each], report, `show:${each}`)),
          { chosen: pictures[view.picture] },
        ),
      renderPeriodMenu(report, view, takenAt, show),
      isFiltered(filters)
        ? questionButton('Without filters', { ...report, filters: {} }, show)
        : questionButton('All zones', { ...report, zone: undefined }),
    ],
    share: writeQuestion(report, { more: show }),
    more: renderMore(report, view),
    notes: [
      view.isOfChannel && `${name} is the zone of this channel`,
      `Times are ${clock.zone}`,
      hasPaths && 'query values are left out',
      `as of ${clock.time(takenAt.getTime())}`,
    ],
  });
}

/** Whether it still burns: the first question at night. */
function describeLastHour(total: number, recent: number | undefined): string {
  if (recent === undefined || total === 0) return '';
  return recent === 0 ? ', none in the last hour' : `, ${formatInteger(recent)} in the last hour`;
}

/** What the codes of the CDN mean; another code is told by its message. */
const causes: Readonly<Record<string, string>> = {
  dns_lookup: 'The CDN cannot resolve',
  http_timeout: 'No answer in time from',
  network_socket_exception: 'The CDN cannot connect to',
};

/** ``The CDN cannot resolve `origin-shop.example.com` (`dns_lookup` 502): 129 of 240 errors, since 01:12`` */
function describeCause(report: Report, clock: Clock): string {
  const { counts, origin } = report;
  const [main] = rankKinds(counts.groups);
  const { total } = counts;
  if (!main || (main.count === 1 && total > 1)) return '';
  const { errorCode = '', statusCode = 'no status', count, first } = main;
  const sample = counts.samples.find((one) => (one.errorCode ?? '') === errorCode);
  const known = Object.hasOwn(causes, errorCode) ? causes[errorCode] : undefined;
  const message = escapeMrkdwn(sample?.message ?? '', 120).replace(/[.:]$/u, '');
  const words = known ? `${known} ${origin ? formatCode(origin, 80) : 'the origin'}` : message;
  const code = errorCode === '' ? formatKind(main) : `${formatCode(errorCode, 60)} ${statusCode}`;
  const what = words === '' ? code : `${words} (${code})`;
  const share =
    count === total
      ? total === 1
        ? ''
        : `all ${formatInteger(total)}`
      : `${formatInteger(count)} of ${formatInteger(total)} errors`;
  const since =
    first === undefined ? '' : `${total === 1 ? 'at' : 'since'} ${clock.moment(first, findLastDay(report))}`;
  return join([what, join([share, since], ', ')], ': ');
}

/** A setting that changed shortly before the first error. */
function describeChange(report: Report, clock: Clock): string {
  const { change, counts } = report;
  if (!change || counts.first === undefined) return '';
  const minutes = Math.round((counts.first - change.at) / minuteMs);
  const ago = minutes < 1 ? 'just' : describeMinutes(minutes).replace(/^(?=hour$|minute$)/u, 'a ');
  return `:wrench: ${escapeMrkdwn(change.text, 200)}, found ${ago} before the first error (${clock.moment(change.at, findLastDay(report))})`;
}

/** `worst hour 13–14: 61`, `worst 5 minutes 10:05–10:10: 12` */
function describeWorstHour(report: Report, clock: Clock): string {
  const { hours, total } = report.counts;
  const highest = Math.max(0, ...hours);
  if (highest === 0 || total === 1) return '';
  const { start, length } = chooseParts(report.period);
  const at = start + hours.indexOf(highest) * length;
  const minutes = length / minuteMs;
  const format = minutes < 60 ? clock.time : clock.hour;
  const part = join(
    [
      clock.day(at) !== clock.day(findLastDay(report).getTime()) && clock.day(at),
      `${format(at)}–${format(at + length)}`,
    ],
    ' ',
  );
  return `worst ${describeMinutes(minutes)} ${part}: ${formatInteger(highest)}`;
}

/** `day before 240`, `hour before at least 12` */
function describeTimeBefore({ before, undated }: Report): string {
  if (before?.total === undefined || undated > 0) return '';
  const number = before.total > 0 || before.incomplete ? formatInteger(before.total) : 'none';
  return `${before.name} ${before.incomplete ? 'at least ' : ''}${number}`;
}

/** What makes the numbers doubtful, and what is new. */
function renderWarnings(report: Report): Maybe<string>[] {
  const { counts, before, incomplete, unread, skipped, repeated, undated } = report;
  const odd = [
    skipped > 0 && `${pluralize(skipped, 'entry', 'entries')} could not be read`,
    repeated > 0 &&
      `${pluralize(repeated, 'entry', 'entries')} came twice and ${repeated === 1 ? 'is' : 'are'} counted once`,
  ];
  return [
    counts.total === 0 && describeValues(report),
    undated > 0 &&
      `:warning: ${pluralize(undated, 'error')} without a time that can be read: nobody knows whether ${undated === 1 ? 'it is' : 'they are'} of this time.`,
    describeNew(report),
    before &&
      before.total === undefined &&
      counts.total > 0 &&
      `:grey_question: The ${before.name} could not be read, so what is new is not known.`,
    incomplete.length > 0 && warnOfMore(incomplete.join(', ')),
    ...unread.map(
      ({ day, why }) =>
        `:warning: ${day} could not be read and is left out: ${why.message}${describeReference(why)}`,
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
function describeNew({ counts, before }: Report): string {
  if (!before?.codes || !before.total) return '';
  const fresh = [...counts.codes]
    .filter(([code]) => before.codes?.has(code) === false)
    .map(([code, times]) => `${code === '' ? 'no code' : formatCode(code, 60)} (${formatInteger(times)})`);
  if (fresh.length === 0) return '';
  const part = before.incomplete ? ' (the CDN gave only a part of it)' : '';
  return `:new: *Not in the ${before.name}*: ${truncateLines(fresh, 1000, ', ')}${part}`;
}

function renderMore(report: Report, { picture }: ReportView): Maybe<Button>[] {
  const hasErrors = report.counts.total > 0;
  const more = `show:${picture}`;
  return [
    refreshButton(report, more),
    hasErrors && fileButton('All as CSV', 'csv', report),
    hasErrors && fileButton('All as NDJSON', 'ndjson', report),
    hasErrors && shareFileButton(writeQuestion(report, { more }), 'csv'),
    showButton(report.zone.id, 'The zone'),
  ];
}
