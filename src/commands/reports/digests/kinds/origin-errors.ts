import { hourMs } from '../../../../lib/time.ts';
import type { MessageBlock } from '../../../../views/blocks/blocks.ts';
import { renderChart, sumBuckets } from '../../../../views/blocks/chart.ts';
import { formatInteger, formatNumber, pluralize } from '../../../../views/blocks/format.ts';
import { renderTable } from '../../../../views/blocks/table.ts';
import { formatCode, truncateLines } from '../../../../views/blocks/text.ts';
import {
  describeComparison,
  describeRate,
  isIncrease,
} from '../../../../views/reports/digests/comparisons.ts';
import { describeName, listNames } from '../../../../views/reports/digests/names.ts';
import { formatRunTime } from '../../../../views/reports/digests/schedule.ts';
import { hasMoved, noise } from '../figures.ts';
import type { DigestKind, Finding } from './kind.ts';
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
    const newCodes = fresh.map(({ code, count, zones }): Finding => {
      const what = `:new: ${formatCode(code, 60)} ${pluralize(count, 'time')} in`;
      return { weight: 2, line: (most) => `${what} ${listNames(zones, most)}` };
    });
    const moved = zones.flatMap((zone): Finding[] => {
      const { perDay } = zone;
      if (!hasMoved(perDay, noise.errors)) return [];
      const name = `*${describeName(zone)}*`;
      const text =
        perDay.now === 0
          ? `:white_check_mark: ${name}: no errors any more`
          : `${isIncrease(perDay) ? ':boom:' : ':arrow_down:'} ${name}: ${describeComparison(perDay, formatNumber, ' errors a day')}`;
      return [{ weight: 3, about: zone, isWholeTotal: perDay.now === total.now, line: () => text }];
    });
    return [...newCodes, ...moved, ...(hasMoved(total, noise.errors) ? [{ weight: 7 }] : [])];
  },

  renderLine({ total, perDay, read, asked, of, zones, from, since }, timeZone) {
    const failing = zones.filter((zone) => zone.total > 0).length;
    const isPartial = total > 0 && (read < asked || zones.some(({ partial }) => partial));
    const what = total === 0 ? 'No origin errors' : pluralize(total, 'origin error');
    const when = since === undefined ? 'in 24 hours' : `since ${formatRunTime(new Date(from), timeZone)}`;
    return {
      number: [
        `*${isPartial ? 'At least ' : ''}${what}* ${when}`,
        total > 0 && of !== 1 ? `, in ${formatInteger(failing)} of ${pluralize(read, 'zone')}` : '',
        read < asked ? ` (${formatInteger(read)} of ${pluralize(asked, 'log')} read)` : '',
        asked < of ? ` (the busiest of ${formatInteger(of)})` : '',
      ].join(''),
      compared: describeRate(perDay, formatNumber, 'a day'),
    };
  },

  renderDetail(errors, _, timeZone) {
    const { zones, asked, of, codes, prefixes } = errors;
    const failing = zones.filter(({ total }) => total > 0);
    const partial = zones.filter((zone) => zone.partial).map((zone) => describeName(zone));
    const logs = `The logs of the ${formatInteger(asked)} busiest of ${pluralize(of, 'zone')}. `;
    return {
      lines: [
        codes.length > 0 && `By error: ${listCounts(codes, 'no code')}`,
        prefixes.length > 0 && `By address: ${listCounts(prefixes, 'none')}`,
        partial.length > 0 && `The CDN holds more than it gave: ${truncateLines(partial, 1000, ', ')}`,
      ],
      table: renderTable({
        caption: 'Zones with most errors',
        columns: ['Zone', 'Errors', 'Mostly'],
        rows: failing.map(({ id, name, total, mostly }) => [
          name || `zone ${id}`,
          { number: total, text: formatInteger(total) },
          mostly || 'no code',
        ]),
      }),
      note: `${asked < of ? logs : ''}\`/cdn errors &lt;zone&gt;\` shows samples.`,
      chart: renderHourChart(errors, timeZone),
    };
  },
};

/** `dns_lookup 61, http_timeout 20` */
function listCounts(counts: readonly (readonly [name: string, count: number])[], unnamed: string): string {
  const words = counts.map(
    ([name, count]) => `${name ? formatCode(name, 60) : unnamed} ${formatInteger(count)}`,
  );
  return truncateLines(words, 1000, ', ');
}

/** Hours of a bar, so that about twelve stand beside each other: a run reports at most seven days. */
const bucketHours = [1, 2, 6, 12] as const;
const mostBars = 13;

function renderHourChart({ hours, firstHour, total }: ErrorFigures, timeZone: string): MessageBlock[] {
  if (hours.every((count) => count === 0)) return [];
  const size = bucketHours.find((size) => hours.length / size <= mostBars) ?? 12;
  const sums = sumBuckets(hours, size);
  const starts = sums.map((_, nth) =>
    formatRunTime(new Date(firstHour + nth * size * hourMs), timeZone).split(' '),
  );
  const labels = starts.map(([weekday, , , time], nth) => {
    // The day where it begins.
    const day = weekday === starts[nth - 1]?.[0] ? '' : `${weekday} `;
    return `${day}${time}${nth === sums.length - 1 ? '–now' : ''}`;
  });
  return renderChart({
    kind: 'bar',
    title: pluralize(total, 'origin error'),
    unit: `Errors ${size === 1 ? 'an hour' : `each ${size} hours`}, ${timeZone}`,
    labels,
    series: [{ name: 'Errors', values: sums }],
  });
}
