import { hourMs } from '../../lib/time.ts';
import type { Attachment } from '../../views/blocks/message.ts';
import { formatCode, formatInteger, pluralize, truncate, truncateLines } from '../../views/blocks/text.ts';
import {
  describeChange,
  describeName,
  describeRate,
  formatNumber,
  inBrackets,
  isIncrease,
  listNames,
} from '../../views/digests/comparisons.ts';
import { attachChart, mostListed, renderDetail } from '../../views/digests/detail.ts';
import { formatRunTime } from '../../views/digests/schedule.ts';
import { hasMoved, noise } from '../figures/series.ts';
import { type DigestKind, type Finding } from './kind.ts';
import { collectErrors, type ErrorFigures } from './origin-errors/collect.ts';
import { type CodeBaseline, dropUnreportedCodes } from './origin-errors/new-codes.ts';

/** Origin errors since the previous run, of the chosen zones or of the busiest. */
export const originErrors: DigestKind<'errors', ErrorFigures, CodeBaseline> = {
  name: 'errors',
  label: 'Origin errors',
  words: /error/iu,
  target: 'zones',
  troubles: 'origin errors',

  collect: collectErrors,
  countTroubles: ({ total }) => total,
  listSince: ({ since }) => [since],
  keepUnreported: dropUnreportedCodes,
  shrink: (errors) => ({
    ...errors,
    fresh: errors.fresh.map(({ zones: { count, first }, ...one }) => ({
      ...one,
      zones: { count, first: first.slice(0, 3) },
    })),
  }),

  listFindings({ fresh, zones, perDay: total }) {
    return [
      ...fresh.map(
        ({ code, count, zones }): Finding => ({
          weight: 2,
          line: (most) =>
            `:new: ${formatCode(code, 60)} ${pluralize(count, 'time')} in ${listNames(zones, most)}`,
        }),
      ),
      ...zones.flatMap((zone): Finding[] => {
        const { perDay } = zone;
        if (!hasMoved(perDay, noise.errors)) return [];
        const text =
          perDay.now === 0
            ? `:white_check_mark: *${describeName(zone)}*: no errors any more`
            : `${isIncrease(perDay) ? ':boom:' : ':arrow_down:'} *${describeName(zone)}*: ${formatNumber(perDay.now)} errors a day, ${describeChange(perDay, formatNumber)}`;
        return [{ weight: 3, about: zone, isWholeTotal: perDay.now === total.now, line: () => text }];
      }),
      ...(hasMoved(total, noise.errors) ? [{ weight: 7 }] : []),
    ];
  },

  renderLine({ total, perDay, read, asked, of, zones, from, since }, timeZone) {
    const failing = zones.filter((zone) => zone.total > 0).length;
    const isPartial = total > 0 && (read < asked || zones.some(({ partial }) => partial));
    const when = since === undefined ? 'in 24 hours' : `since ${formatRunTime(new Date(from), timeZone)}`;
    return {
      number: [
        `*${isPartial ? 'At least ' : ''}${total === 0 ? 'No origin errors' : pluralize(total, 'origin error')}* ${when}`,
        total > 0 && of !== 1 ? `, in ${formatInteger(failing)} of ${pluralize(read, 'zone')}` : '',
        read < asked ? ` (${formatInteger(read)} of ${pluralize(asked, 'log')} read)` : '',
        asked < of ? ` (the busiest of ${formatInteger(of)})` : '',
      ].join(''),
      compared: describeRate(perDay, formatNumber, 'a day'),
    };
  },

  renderThread(errors, changed, timeZone) {
    const reported = new Set(changed.map(({ about }) => about));
    const failing = errors.zones.filter(({ total }) => total > 0);
    const more = failing.length - mostListed;
    const partial = errors.zones.filter((zone) => zone.partial);
    const busiest =
      errors.asked < errors.of
        ? `The logs of the ${formatInteger(errors.asked)} busiest of ${pluralize(errors.of, 'zone')}. `
        : '';
    return renderDetail({
      title: 'Origin errors',
      changed,
      parts: {
        'By zone': [
          ...failing.slice(0, mostListed).map((zone) => {
            const compared = reported.has(zone) ? '' : inBrackets(zone.perDay, formatNumber);
            return formatCount(zone.total, `${describeName(zone)}${compared}`);
          }),
          ...(more > 0 ? [`and ${pluralize(more, 'more zone')}`] : []),
        ],
        'By error': errors.codes.map(([code, times]) =>
          formatCount(times, code ? formatCode(code, 60) : 'no code'),
        ),
        'By address': errors.prefixes.map(([prefix, times]) => formatCount(times, formatCode(prefix, 60))),
        'The CDN holds more than it gave':
          partial.length > 0
            ? [
                truncateLines(
                  partial.map((zone) => describeName(zone)),
                  1000,
                  ', ',
                ),
              ]
            : [],
      },
      note: `${busiest}\`/cdn errors &lt;zone&gt;\` shows samples.`,
      charts: [renderChart(errors, timeZone)],
    });
  },
};

function formatCount(times: number, what: string): string {
  return `*${formatInteger(times)}* · ${what}`;
}

function renderChart({ hours, firstHour, total }: ErrorFigures, timeZone: string): Attachment | undefined {
  const highest = Math.max(0, ...hours);
  if (highest === 0) return undefined;
  const at = (hour: number): string => formatRunTime(new Date(firstHour + hour * hourMs), timeZone);
  const title = pluralize(total, 'origin error');
  const range = `${at(0)} to ${at(hours.length - 1)}`;
  return attachChart(
    'origin-errors.png',
    {
      title,
      subtitle: truncate(`${range}, ${timeZone}`, 50),
      labels: hours.map((_, hour) => at(hour).slice(-5)),
      panels: [{ kind: 'bars', name: 'Errors in each hour', series: [{ name: 'errors', values: hours }] }],
    },
    `Bar chart of ${title} by hour, ${range}: most at ${at(hours.indexOf(highest))} (${formatInteger(highest)}).`,
  );
}
