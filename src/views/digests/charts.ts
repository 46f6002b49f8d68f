import type { Chart } from '../../charts/chart.ts';
import type { AppFigures, ErrorFigures, Point, ScanFigures } from '../../digests/figures/figures.ts';
import { formatShortDay } from '../blocks/date-labels.ts';
import type { Attachment } from '../blocks/message.ts';
import { formatBytes } from '../blocks/numbers.ts';
import { formatInteger, pluralize, truncate } from '../blocks/text.ts';
import { exact } from './change.ts';
import { runWords } from './schedule.ts';

/** Fewer say nothing that words do not. */
const fewest = 3;
const gigabyte = 1e9;

/** Bandwidth a day, run by run. */
export function bandwidthChart(trend: readonly Point[], timeZone: string): Attachment | undefined {
  if (trend.length < fewest) return undefined;
  const when = range(trend, timeZone);
  const values = trend.map(([, value]) => Math.round((value / gigabyte) * 100) / 100);
  return picture(
    'bandwidth.png',
    {
      title: 'Bandwidth a day',
      subtitle: when,
      labels: trend.map(([at]) => day(at, timeZone)),
      panels: [{ kind: 'line', name: 'GB a day', series: [{ name: 'Bandwidth', values }] }],
    },
    `Line chart of bandwidth a day, ${when}: ${ends(trend, formatBytes)}.`,
  );
}

/** Errors hour by hour. */
export function errorChart(errors: ErrorFigures, timeZone: string): Attachment | undefined {
  const { hours, firstHour, total } = errors;
  const highest = Math.max(0, ...hours);
  if (highest === 0) return undefined;
  const at = (hour: number): string => runWords(new Date(firstHour + hour * 3_600_000), timeZone);
  const title = pluralize(total, 'origin error');
  return picture(
    'origin-errors.png',
    {
      title,
      subtitle: truncate(`${at(0)} to ${at(hours.length - 1)}, ${timeZone}`, 50),
      labels: hours.map((_, hour) => at(hour).slice(-5)),
      panels: [{ kind: 'bars', name: 'Errors in each hour', series: [{ name: 'errors', values: hours }] }],
    },
    `Bar chart of ${title} by hour, ${at(0)} to ${at(hours.length - 1)}: most at ${at(hours.indexOf(highest))} (${formatInteger(highest)}).`,
  );
}

/** What was scanned and blocked, day by day. */
export function scanChart({ id, trend }: ScanFigures): Attachment | undefined {
  const [first, last] = [trend.at(0), trend.at(-1)];
  const blocked = trend.map(([, , value]) => value);
  if (!first || !last || trend.length < fewest || !blocked.some((value) => (value ?? 0) > 0))
    return undefined;
  const when = `${formatShortDay(first[0])} to ${formatShortDay(last[0])}`;
  const most = trend.reduce((best, one) => ((one[2] ?? 0) > (best[2] ?? 0) ? one : best), first);
  return picture(
    `upload-scanning-${id.replaceAll(/\D/gu, '').slice(0, 20)}.png`,
    {
      title: `Blocked uploads, shield zone ${truncate(id, 20)}`,
      subtitle: when,
      labels: trend.map(([label]) => formatShortDay(label)),
      panels: [
        { kind: 'bars', name: 'Blocked', series: [{ name: 'Blocked', values: blocked }] },
        {
          kind: 'bars',
          name: 'Files scanned',
          series: [{ name: 'Files scanned', values: trend.map(([, scanned]) => scanned) }],
        },
      ],
    },
    `Bar charts of blocked uploads and files scanned by day, ${when}: most blocked on ${formatShortDay(most[0])} (${formatInteger(most[2] ?? 0)}).`,
  );
}

/** Average latency, run by run. */
export function latencyChart({ id, trend }: AppFigures, timeZone: string): Attachment | undefined {
  if (trend.length < fewest) return undefined;
  const when = range(trend, timeZone);
  return picture(
    `latency-${id.replaceAll(/[^\w-]/gu, '').slice(0, 60) || 'app'}.png`,
    {
      title: `Latency of ${truncate(id, 30)}`,
      subtitle: when,
      labels: trend.map(([at]) => day(at, timeZone)),
      panels: [
        {
          kind: 'line',
          name: 'Average, no unit given',
          series: [{ name: 'Latency', values: trend.map(([, value]) => value) }],
        },
      ],
    },
    `Line chart of the average latency of ${truncate(id, 60)}, ${when}: ${ends(trend, exact)}.`,
  );
}

function picture(name: string, chart: Chart, altText: string): Attachment {
  return {
    name,
    title: chart.title,
    altText: truncate(altText, 1000),
    mimetype: 'image/png',
    content: { chart },
  };
}

function range(trend: readonly Point[], timeZone: string): string {
  return `${day(trend[0]?.[0] ?? 0, timeZone)} to ${day(trend.at(-1)?.[0] ?? 0, timeZone)}`;
}

/** `lowest 12 GB, highest 61 GB, last 52 GB`. */
function ends(trend: readonly Point[], shown: (value: number) => string): string {
  const values = trend.map(([, value]) => value);
  return `lowest ${shown(Math.min(...values))}, highest ${shown(Math.max(...values))}, last ${shown(values.at(-1) ?? 0)}`;
}

/** `20 Nov`, in the digest's time zone. */
function day(at: number, timeZone: string): string {
  return runWords(new Date(at), timeZone).slice(4, -6);
}
