import { hourMs } from '../../lib/time.ts';
import type { MessageBlock } from '../../views/blocks/blocks.ts';
import { renderChart, sumBuckets } from '../../views/blocks/chart.ts';
import { formatInteger, formatNumber, pluralize } from '../../views/blocks/format.ts';
import { formatCode, truncateLines } from '../../views/blocks/text.ts';
import { describeComparison, describeRate, inBrackets, isIncrease } from '../../views/digests/comparisons.ts';
import { describeName, listNames, mostListed, withMore } from '../../views/digests/names.ts';
import { formatRunTime } from '../../views/digests/schedule.ts';
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

  renderDetail(errors, reported, timeZone) {
    const { zones, asked, of, codes, prefixes } = errors;
    const failing = zones.filter(({ total }) => total > 0);
    const byZone = failing.slice(0, mostListed).map((zone) => {
      const compared = reported.has(zone) ? '' : inBrackets(zone.perDay, formatNumber);
      return formatCount(zone.total, `${describeName(zone)}${compared}`);
    });
    const partial = zones.filter((zone) => zone.partial).map((zone) => describeName(zone));
    const logs = `The logs of the ${formatInteger(asked)} busiest of ${pluralize(of, 'zone')}. `;
    return {
      parts: {
        'By zone': withMore(byZone, failing.length - mostListed, 'zone'),
        'By error': codes.map(([code, times]) => formatCount(times, code ? formatCode(code, 60) : 'no code')),
        'By address': prefixes.map(([prefix, times]) => formatCount(times, formatCode(prefix, 60))),
        'The CDN holds more than it gave': partial.length > 0 ? [truncateLines(partial, 1000, ', ')] : [],
      },
      note: `${asked < of ? logs : ''}\`/cdn errors &lt;zone&gt;\` shows samples.`,
      chart: renderHourChart(errors, timeZone),
    };
  },
};

function formatCount(times: number, what: string): string {
  return `*${formatInteger(times)}* · ${what}`;
}

/** Hours of a bar, so that at most twenty stand beside each other: a run reports at most seven days. */
const bucketHours = [1, 2, 6, 12] as const;

function renderHourChart({ hours, firstHour, total }: ErrorFigures, timeZone: string): MessageBlock[] {
  if (hours.every((count) => count === 0)) return [];
  const size = bucketHours.find((size) => hours.length / size <= 20) ?? 12;
  const sums = sumBuckets(hours, size);
  const labels = sums.map((_, nth) => {
    const [weekday, , , time] = formatRunTime(new Date(firstHour + nth * size * hourMs), timeZone).split(' ');
    return `${weekday} ${time}${nth === sums.length - 1 ? '–now' : ''}`;
  });
  return renderChart({
    kind: 'bar',
    title: pluralize(total, 'origin error'),
    unit: `Errors ${size === 1 ? 'an hour' : `each ${size} hours`}, ${timeZone}`,
    labels,
    series: [{ name: 'Errors', values: sums }],
  });
}
