import type { Button } from '@slack/types';
import { renderAnswer } from '../blocks/answer.ts';
import type { Message } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { pluralize } from '../blocks/format.ts';
import { selectOf } from '../blocks/menu-of-buttons.ts';
import { capitalize, escapeMrkdwn, join, type Maybe } from '../blocks/text.ts';
import { shareFileButton } from '../share.ts';
import { showButton } from '../zones/rows.ts';
import { createClock } from './clock.ts';
import {
  describeLastHour,
  describeMainKind,
  describeTimeBefore,
  describeWorstHour,
  renderWarnings,
} from './facts.ts';
import { allZonesButton, renderPeriodMenu } from './menus.ts';
import { describePeriod } from './period.ts';
import { type Picture, pictureNames, pictures, renderPicture } from './pictures.ts';
import { describeFilters, encodeQuestion, isFiltered, writeQuestion } from './question.ts';
import type { Report } from './report.ts';

export interface ReportView {
  /** `2026-11-21`, in UTC. */
  readonly today: string;
  readonly picture: Picture;
  /** IANA name of the reader's; UTC if unknown. */
  readonly timeZone: string | undefined;
  /** The zone was not typed: it is that of the channel. */
  readonly isOfChannel?: boolean;
}

/** The origin errors of a zone in some time: how many, whether it still burns, what fails. */
export function renderOriginErrors(report: Report, view: ReportView): Message {
  const { counts, zone, period, filters, recent, takenAt } = report;
  const clock = createClock(view.timeZone);
  const name = escapeMrkdwn(zone.name, 80) || `zone ${escapeMrkdwn(zone.id, 20)}`;
  const when = describePeriod(period, view.today, clock);
  const least = report.incomplete.length > 0 || report.unread.length > 0 ? 'at least ' : '';
  const headline = capitalize(`${least}${pluralize(counts.total, 'origin error')} ${when} in ${name}`);
  const behind = describeFilters(filters, report.all) + describeLastHour(counts.total, recent);
  const facts = [describeWorstHour(report, clock), describeTimeBefore(report, view.today)];
  const title = capitalize(`${least}${pluralize(counts.total, 'error')} ${when}`);
  const picture = renderPicture(view.picture, report, {
    clock,
    // Slack's limit of a title.
    title:
      [title + describeLastHour(counts.total, recent), title].find(({ length }) => length <= 50) ?? title,
  });
  const main = describeMainKind(counts);
  const isChart = view.picture === 'hours' && picture.length > 0;
  // The title of a chart has the number.
  const lines = isChart
    ? [
        join(
          [
            `*Origin errors of ${name}*${describeFilters(filters, report.all)}`,
            main && main.charAt(0).toLowerCase() + main.slice(1),
          ],
          ', ',
        ),
        writeFacts(facts),
      ]
    : [`*${headline}*${behind}`, writeFacts([main, ...facts])];
  const hasAddresses = view.picture === 'addresses' || view.picture === 'samples';
  const show = { show: view.picture };
  return renderAnswer({
    text: join([headline + behind, writeFacts([main, ...facts])], '. '),
    lines,
    warnings: renderWarnings(report),
    picture,
    actions: [
      counts.total > 0 &&
        selectOf(
          pictures[view.picture],
          pictureNames.map((each) =>
            button(pictures[each], `origin-errors:day:${each}`, encodeQuestion(report, { show: each })),
          ),
          { chosen: pictures[view.picture] },
        ),
      renderPeriodMenu(report, view, show),
      isFiltered(filters)
        ? button('Without filters', 'origin-errors:day:all', encodeQuestion({ ...report, filters: {} }, show))
        : allZonesButton(report),
    ],
    share: writeQuestion(report, show),
    more: renderMore(report, view),
    notes: [
      view.isOfChannel && `${name} is the zone of this channel`,
      clock.zone === 'UTC'
        ? 'Times are UTC'
        : period.span
          ? `Times are ${clock.zone}`
          : `Days are UTC, hours ${clock.zone}`,
      hasAddresses && 'query values are left out',
      `as of ${clock.time(takenAt.getTime())}`,
    ],
  });
}

function writeFacts(facts: readonly Maybe<string>[]): string {
  return capitalize(join(facts, ' · '));
}

function renderMore(report: Report, { picture }: ReportView): Maybe<Button>[] {
  const hasErrors = report.counts.total > 0;
  return [
    button('Refresh', 'origin-errors:day:refresh', encodeQuestion(report, { fresh: '1', show: picture })),
    hasErrors && button('All as CSV', 'origin-errors:file:csv', encodeQuestion(report, { as: 'csv' })),
    hasErrors &&
      button('All as NDJSON', 'origin-errors:file:ndjson', encodeQuestion(report, { as: 'ndjson' })),
    hasErrors && shareFileButton(writeQuestion(report, { show: picture }), 'csv'),
    showButton(report.zone.id, 'The zone'),
  ];
}
