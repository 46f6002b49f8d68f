import type { Chart } from '../../charts/charts.ts';
import type { Point } from '../../digests/figures/series.ts';
import type { Finding } from '../../digests/kinds/kind.ts';
import { context, message, section } from '../blocks/blocks.ts';
import type { Attachment, Message } from '../blocks/message.ts';
import { truncate, truncateLines } from '../blocks/text.ts';
import { formatRunTime } from './schedule.ts';

/** Names in one line of a thread, and lines of one part. */
export const mostListed = 10;

interface Detail {
  readonly title: string;
  readonly changed: readonly Finding[];
  /** Lines under their titles; a part without lines is left out. */
  readonly parts: Readonly<Record<string, readonly string[]>>;
  readonly note: string;
  readonly charts: readonly (Attachment | undefined)[];
}

/** A message of a digest's thread: what changed in full, then what there is. */
export function renderDetail({ title, changed, parts, note, charts }: Detail): Message {
  const lines = changed.flatMap(({ line }) => line?.(mostListed) ?? []);
  const blocks = Object.entries({ Changed: lines, ...parts })
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => section(`*${title}*\n${truncateLines(lines, 2700)}`));
  const files = charts.filter((chart) => chart !== undefined);
  return {
    ...message(title, [section(`*${title}*`), ...blocks, context(note)]),
    ...(files.length > 0 ? { files } : {}),
  };
}

/** Fewer points show nothing that words do not. */
export const fewestPoints = 3;

/** A line chart of one number, run by run; undefined where there are too few runs. */
export function trendChart(
  trend: readonly Point[],
  timeZone: string,
  about: {
    readonly name: string;
    readonly title: string;
    readonly axis: string;
    readonly series: string;
    readonly altText: string;
    readonly format: (value: number) => string;
    /** What a value is divided by to be drawn, in its unit of the axis. */
    readonly unit?: number;
  },
): Attachment | undefined {
  if (trend.length < fewestPoints) return undefined;
  const { name, title, axis, series, altText, format, unit } = about;
  const values = trend.map(([, value]) => value);
  const drawn = unit === undefined ? values : values.map((value) => Math.round((value / unit) * 100) / 100);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)].map(format);
  const chart: Chart = {
    title,
    subtitle: dateRange(trend, timeZone),
    labels: trend.map(([at]) => formatDay(at, timeZone)),
    panels: [{ kind: 'line', name: axis, series: [{ name: series, values: drawn }] }],
  };
  return attachChart(
    name,
    chart,
    `${altText}: lowest ${lowest}, highest ${highest}, last ${format(values.at(-1) ?? 0)}.`,
  );
}

export function attachChart(name: string, chart: Chart, altText: string): Attachment {
  const content = { chart };
  return { name, title: chart.title, altText: truncate(altText, 1000), mimetype: 'image/png', content };
}

/** `3 Nov to 10 Nov`, in the digest's time zone. */
export function dateRange(trend: readonly Point[], timeZone: string): string {
  return `${formatDay(trend[0]?.[0] ?? 0, timeZone)} to ${formatDay(trend.at(-1)?.[0] ?? 0, timeZone)}`;
}

function formatDay(at: number, timeZone: string): string {
  return formatRunTime(new Date(at), timeZone).slice(4, -6);
}
