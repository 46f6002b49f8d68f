import type { Button } from '@slack/types';
import type { OriginErrorCounts } from '../../api/origin-errors/counts.ts';
import { type DayRange, hourMs, shiftDay, startOfDay } from '../../lib/time.ts';
import { renderAnswer } from '../blocks/answer.ts';
import type { Message } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { formatInteger, formatShortDay, pluralize } from '../blocks/format.ts';
import { selectOf } from '../blocks/menu-of-buttons.ts';
import { capitalize, escapeMrkdwn, formatCode, join, type Maybe, truncateLines } from '../blocks/text.ts';
import { shareFileButton } from '../share.ts';
import { showButton } from '../zones/rows.ts';
import { type Clock, createClock } from './clock.ts';
import { formatKind, type Picture, pictureNames, pictures, renderPicture } from './pictures.ts';
import { describeDays, type Report, type ZoneName } from './report.ts';

/** Offered days; each can be typed as well. */
export const dayChoices = ['today', 'yesterday', 'last 3 days', 'last 7 days'] as const;

export interface ReportView {
  /** `2026-11-21`, in UTC. */
  readonly today: string;
  readonly picture: Picture;
  /** IANA name of the reader's; UTC if unknown. */
  readonly timeZone: string | undefined;
  /** Hours were asked for, and these are the whole days that hold them. */
  readonly isRounded?: boolean | undefined;
  /** The zone was not typed: it is that of the channel. */
  readonly isOfChannel?: boolean;
}

/** The origin errors of a zone on some days: how many, whether it still burns, what fails. */
export function renderOriginErrors(report: Report, view: ReportView): Message {
  const { counts, zone, days, recent, takenAt } = report;
  const clock = createClock(view.timeZone);
  const name = escapeMrkdwn(zone.name, 80) || `zone ${escapeMrkdwn(zone.id, 20)}`;
  const when = describeDays(days, view.today);
  const least = report.incomplete.length > 0 || report.unread.length > 0 ? 'at least ' : '';
  const headline = capitalize(`${least}${pluralize(counts.total, 'origin error')} ${when} in ${name}`);
  const lastHour = describeLastHour(counts.total, recent);
  const facts = [describeWorstHour(report, clock), describeDayBefore(report, view.today)];
  const title = capitalize(`${least}${pluralize(counts.total, 'error')} ${when}`);
  const picture = renderPicture(view.picture, report, {
    clock,
    // Slack's limit of a title.
    title: [title + lastHour, title].find(({ length }) => length <= 50) ?? title,
  });
  const main = describeMainKind(counts);
  // The title of a chart has the number.
  const lines =
    view.picture === 'hours' && picture.length > 0
      ? [
          join([`*Origin errors of ${name}*`, main && main.charAt(0).toLowerCase() + main.slice(1)], ', '),
          writeFacts(facts),
        ]
      : [`*${headline}*${lastHour}`, writeFacts([main, ...facts])];
  const hasAddresses = view.picture === 'addresses' || view.picture === 'samples';
  return renderAnswer({
    text: join([headline + lastHour, writeFacts([main, ...facts])], '. '),
    lines,
    warnings: [
      view.isRounded && `Whole days (UTC) only: ${when.replace('in ', '')}.`,
      ...renderWarnings(report),
    ],
    picture,
    actions: [
      counts.total > 0 &&
        selectOf(
          pictures[view.picture],
          pictureNames.map((each) =>
            button(pictures[each], `origin-errors:day:${each}`, encodeButton(zone, days, { show: each })),
          ),
          { chosen: pictures[view.picture] },
        ),
      renderDayMenu(report, view),
    ],
    share: writeWords(zone, days, view.picture),
    more: renderMore(report, view),
    notes: [
      view.isOfChannel && `${name} is the zone of this channel`,
      clock.zone === 'UTC' ? 'Times are UTC' : `Days are UTC, hours ${clock.zone}`,
      hasAddresses && 'query values are left out',
      `as of ${clock.time(takenAt.getTime())}`,
    ],
  });
}

function writeFacts(facts: readonly Maybe<string>[]): string {
  return capitalize(join(facts, ' · '));
}

/** Whether it still burns: the first question at night. */
function describeLastHour(total: number, recent: number | undefined): string {
  if (recent === undefined || (total === 0 && recent === 0)) return '';
  if (recent === 0) return ', none in the last hour';
  // Just after midnight.
  return `, ${formatInteger(recent)} in the last hour${recent > total ? ' with yesterday’s' : ''}`;
}

/** Entries by code and status, whatever the server zone. */
function describeMainKind({ groups, total }: OriginErrorCounts): string {
  const kinds = new Map<string, { words: string; count: number }>();
  for (const group of groups) {
    const key = formatKind(group);
    const { errorCode = '', statusCode = 'no status' } = group;
    const words = errorCode === '' ? key : `${formatCode(errorCode, 60)} ${statusCode}`;
    kinds.set(key, { words, count: group.count + (kinds.get(key)?.count ?? 0) });
  }
  const [main] = [...kinds.values()].sort((a, b) => b.count - a.count);
  if (!main || (main.count === 1 && total > 1)) return '';
  if (main.count === total) return total === 1 ? main.words : `All ${main.words}`;
  return `${main.count * 2 > total ? 'Mostly' : 'Most often'} ${main.words}: ${formatInteger(main.count)}`;
}

/** `worst hour 13–14: 61` */
function describeWorstHour({ counts: { hours, total }, days }: Report, clock: Clock): string {
  const highest = Math.max(0, ...hours);
  if (highest === 0 || total === 1) return '';
  const at = startOfDay(days.first) + hours.indexOf(highest) * hourMs;
  const hour = join([days.count > 1 && clock.day(at), `${clock.hour(at)}–${clock.hour(at + hourMs)}`], ' ');
  return `worst hour ${hour}: ${formatInteger(highest)}`;
}

function describeDayBefore({ before, days }: Report, today: string): string {
  if (!before || days.count > 1) return '';
  const number = before.total > 0 || before.incomplete ? formatInteger(before.total) : 'none';
  const day = days.first === today ? 'yesterday' : 'day before';
  return `${day} ${before.incomplete ? 'at least ' : ''}${number}`;
}

function renderWarnings(report: Report): Maybe<string>[] {
  const { counts, before, incomplete, unread, skipped, repeated } = report;
  const fresh = [...counts.codes]
    .filter(([code]) => before && !before.codes.has(code))
    .map(([code, times]) => `${code === '' ? 'no code' : formatCode(code, 60)} (${formatInteger(times)})`);
  const odd = [
    skipped > 0 && `${pluralize(skipped, 'entry', 'entries')} could not be read`,
    repeated > 0 &&
      `${pluralize(repeated, 'entry', 'entries')} came twice and ${repeated === 1 ? 'is' : 'are'} counted once`,
  ];
  return [
    // Where there was nothing before, everything is new.
    fresh.length > 0 &&
      before &&
      before.total > 0 &&
      `:new: *New since ${before.day}*: ${truncateLines(fresh, 1000, ', ')}${before.incomplete ? ' (the CDN gave only a part of that day)' : ''}`,
    before === undefined &&
      counts.total > 0 &&
      ':grey_question: The day before could not be read, so what is new is not known.',
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

function renderDayMenu({ zone, days }: Report, { today, picture }: ReportView) {
  const yesterday = shiftDay(today, -1);
  const offered: [label: string, id: string, first: string, count: number][] = [
    ['Today', 'today', today, 1],
    ['Yesterday', 'yesterday', yesterday, 1],
    ['Last 3 days', 'three', shiftDay(today, -2), 3],
    ['Last 7 days', 'seven', shiftDay(today, -6), 7],
  ];
  const known = offered.find(([, , first, count]) => first === days.first && count === days.count);
  const chosen = known?.[0] ?? nameDays(days);
  if (!known) offered.push([chosen, 'same', days.first, days.count]);
  if (days.count === 1 && days.first < yesterday)
    offered.push(['The day before', 'before', shiftDay(days.first, -1), 1]);
  return selectOf(
    chosen,
    offered.map(([label, id, first, count]) =>
      button(label, `origin-errors:day:${id}`, encodeButton(zone, { first, count }, { show: picture })),
    ),
    { chosen, nth: 1 },
  );
}

function renderMore({ zone, days, counts: { total } }: Report, { picture }: ReportView): Maybe<Button>[] {
  const value = (more: Readonly<Record<string, string>>): string => encodeButton(zone, days, more);
  return [
    button('Refresh', 'origin-errors:day:refresh', value({ fresh: '1', show: picture })),
    total > 0 && button('All as CSV', 'origin-errors:file:csv', value({ as: 'csv' })),
    total > 0 && button('All as NDJSON', 'origin-errors:file:ndjson', value({ as: 'ndjson' })),
    total > 0 && shareFileButton(writeWords(zone, days, picture), 'csv'),
    showButton(zone.id, 'The zone'),
  ];
}

/** `12 Nov`, `20 Nov – 21 Nov` */
function nameDays({ first, count }: DayRange): string {
  const [from, to] = [first, shiftDay(first, count - 1)].map(formatShortDay);
  return count === 1 ? (from ?? '') : `${from} – ${to}`;
}

/** The words that show the same. */
function writeWords(zone: ZoneName, days: DayRange, picture: Picture): string {
  return `errors ${zone.id} ${writeDays(days)} show:${picture}`;
}

/** The days as they can be typed. */
export function writeDays({ first, count }: DayRange): string {
  return count === 1 ? first : `${first}..${shiftDay(first, count - 1)}`;
}

/** Encoded characters of a zone's name in a button: an entry of a menu holds 150 with everything else. */
const maxName = 45;

/** The value of a button that shows or sends these days of a zone. */
function encodeButton(
  { id, name }: ZoneName,
  { first, count }: DayRange,
  more: Readonly<Record<string, string>>,
): string {
  let short = name.slice(0, maxName).toWellFormed();
  while (encodeURIComponent(short).length > maxName) short = short.slice(0, -1).toWellFormed();
  return new URLSearchParams({ zone: id, name: short, first, days: String(count), ...more }).toString();
}
