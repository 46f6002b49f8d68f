import type { Comparison } from '../../../commands/reports/digests/figures.ts';
import { hasMoved, noise } from '../../../commands/reports/digests/figures.ts';
import type { Detail, Finding, NumberLine } from '../../../commands/reports/digests/kinds/kind.ts';
import { hourMs } from '../../../lib/time.ts';
import type { MessageBlock } from '../../blocks/blocks.ts';
import { renderChart, sumBuckets } from '../../blocks/chart.ts';
import { formatInteger, formatNumber, pluralize } from '../../blocks/format.ts';
import { renderTable } from '../../blocks/table.ts';
import { formatCode, truncateLines } from '../../blocks/text.ts';
import { describeComparison, describeRate, isIncrease } from './comparisons.ts';
import { describeName, listNames } from './names.ts';
import { formatRunTime } from './schedule.ts';

type Named = { readonly id: string; readonly name: string };

/** What a run found in the logs of some zones: plain data, stored. */
export interface ErrorFigures {
  /** The chosen zones; empty for all. Figures of another scope are not compared with. */
  readonly scope: string;
  readonly since?: string | undefined;
  /** Counting starts here, as ISO text: the previous run, at most seven days ago; a day in the first run. */
  readonly from: string;
  readonly total: number;
  readonly perDay: Comparison;
  /** Zones whose logs were read, zones whose logs were to be read, and zones there are. */
  readonly read: number;
  readonly asked: number;
  readonly of: number;
  /** Every zone whose log was read, the most errors first. */
  readonly zones: readonly ZoneErrors[];
  readonly codes: readonly (readonly [code: string, count: number])[];
  /** Codes that a zone did not have for 28 days. */
  readonly fresh: readonly NewCode[];
  readonly prefixes: readonly (readonly [prefix: string, count: number])[];
  /** By hour, the last one the current hour. */
  readonly hours: readonly number[];
  /** When the first hour began, in epoch ms. */
  readonly firstHour: number;
  /** Entries without a time that can be read, which are in no hour. */
  readonly undated?: number | undefined;
}

interface ZoneErrors extends Named {
  readonly total: number;
  readonly perDay: Comparison;
  /** Its most frequent code. */
  readonly mostly?: string | undefined;
  /** The CDN holds more than it gave. */
  readonly partial?: boolean;
}

interface NewCode {
  readonly code: string;
  readonly count: number;
  readonly zones: { readonly count: number; readonly first: readonly Named[] };
}

export function listErrorFindings({ fresh, zones, perDay: total }: ErrorFigures): Finding[] {
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
}

export function renderErrorLine(figures: ErrorFigures, timeZone: string): NumberLine {
  const { total, perDay, read, asked, of, zones, from, since, undated = 0 } = figures;
  const failing = zones.filter((zone) => zone.total > 0).length;
  const isPartial = total > 0 && (read < asked || zones.some(({ partial }) => partial));
  const counted = total === 0 ? 'No origin errors' : pluralize(total, 'origin error');
  // Without a time they may be of these days or not: never "none".
  const what =
    total === 0 && undated > 0 ? `${pluralize(undated, 'origin error')} at an unknown time` : counted;
  const when = since === undefined ? 'in 24 hours' : `since ${formatRunTime(new Date(from), timeZone)}`;
  return {
    number: [
      `*${isPartial ? 'At least ' : ''}${what}* ${when}`,
      total > 0 && of !== 1 ? `, in ${formatInteger(failing)} of ${pluralize(read, 'zone')}` : '',
      total > 0 && undated > 0 ? ` (and ${formatInteger(undated)} at an unknown time)` : '',
      read < asked ? ` (${formatInteger(read)} of ${pluralize(asked, 'log')} read)` : '',
      asked < of ? ` · ${formatInteger(of - asked)} of ${pluralize(of, 'zone')} not checked` : '',
    ].join(''),
    compared: describeRate(perDay, formatNumber, 'a day'),
  };
}

export function renderErrorDetail(errors: ErrorFigures, timeZone: string): Detail {
  const { zones, asked, of, codes, prefixes, undated = 0 } = errors;
  const failing = zones.filter(({ total }) => total > 0);
  const partial = zones.filter((zone) => zone.partial).map((zone) => describeName(zone));
  const logs = `Checked: ${formatInteger(asked)} of ${pluralize(of, 'zone')}, those with errors lately first. `;
  return {
    lines: [
      codes.length > 0 && `By error: ${listCounts(codes, 'no code')}`,
      prefixes.length > 0 && `By path: ${listCounts(prefixes, 'none')}`,
      undated > 0 && `${pluralize(undated, 'error')} without a time that can be read`,
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
}

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
