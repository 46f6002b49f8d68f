import type { MessageBlock } from '../../blocks/blocks.ts';
import { type Chart, renderChart } from '../../blocks/chart.ts';
import { andMore, formatInteger, pluralize } from '../../blocks/format.ts';
import { escapeMrkdwn, join } from '../../blocks/text.ts';
import { formatRunTime } from '../words.ts';

/** A number, and what it is compared with: each is absent where it is not known. */
export interface Comparison {
  readonly now: number;
  readonly before?: number | undefined;
  /** That of the same weekday, a week before. */
  readonly weekBefore?: number | undefined;
  /** The median of earlier runs, where `now` is far from it. */
  readonly usual?: number | undefined;
}

export type Point = readonly [at: number, value: number];

/** An id with its name (flattened, bounded; may be empty). */
export type Named = { readonly id: string; readonly name: string };

/** How many there are, and the first ten of them. */
export type NamedGroup = { readonly count: number; readonly first: readonly Named[] };

type Format = (value: number) => string;

/** `+37 % on the same weekday, +3 % on the previous run, unusual: mostly 38 GB`; empty in a first run. */
export function describeChange(
  { now, before, weekBefore, usual }: Comparison,
  format: Format,
  previous = 'the previous run',
): string {
  const onWeekday = weekBefore === undefined ? '' : relate(now, weekBefore);
  const onBefore = before === undefined ? '' : relate(now, before);
  const isSame = onWeekday === onBefore;
  const words = [
    onWeekday && `${onWeekday} the same weekday${isSame ? ` and ${previous}` : ''}`,
    isSame ? '' : onBefore && `${onBefore} ${previous}`,
    usual !== undefined && `*unusual:* mostly ${format(usual)}`,
  ];
  return join(words, ', ');
}

/** `52 GB a day, +37 % on the same weekday`. */
export function describeComparison(compared: Comparison, format: Format, unit = '', past?: string): string {
  return `${format(compared.now)}${unit}, ${describeChange(compared, format, past)}`;
}

/** ` (+37 % on the same weekday)`, or nothing. */
export function inBrackets(compared: Comparison | undefined, format: Format, previous?: string): string {
  const words = compared ? describeChange(compared, format, previous) : '';
  return words && ` (${words})`;
}

/** `52.1 GB a day: +37 % on the same weekday`; empty in a first run, and where it always was zero. */
export function describeRate(
  compared: Comparison | undefined,
  format: Format,
  unit: string,
  previous?: string,
): string {
  const words = compared && !isAllZero(compared) ? describeChange(compared, format, previous) : '';
  return compared && words ? `${format(compared.now)} ${unit}: ${words}` : '';
}

/** `+37 % on`, `5 × as much as`, `the same as`, `up from nothing in`. */
function relate(now: number, before: number): string {
  if (now === before) return 'the same as';
  if (before <= 0) return 'up from nothing in';
  const ratio = now / before;
  if (ratio >= 2.95) return `${formatInteger(Number(ratio.toPrecision(2)))} × as much as`;
  const by = Math.round((ratio - 1) * 100);
  if (by === 0) return 'about the same as';
  return `${by > 0 ? '+' : '−'}${formatInteger(Math.abs(by))} % on`;
}

/** ` (+$0.41)`: the increase since then; empty if nothing was added, or it is unknown. */
export function formatDifference(now: number, before: number | undefined, format: Format): string {
  const by = now - (before ?? now);
  const words = format(Math.abs(by));
  return words === format(0) ? '' : ` (${by > 0 ? '+' : '−'}${words})`;
}

function isAllZero({ now, before = 0, weekBefore = 0 }: Comparison): boolean {
  return now === 0 && before === 0 && weekBefore === 0;
}

export function isIncrease({ now, before = 0, weekBefore = before }: Comparison): boolean {
  return now >= weekBefore;
}

/** Fewer runs show nothing that words do not. */
const fewestPoints = 3;

/** A line for each series, run by run; those that lack a run of the longest are left out. */
export function renderTrend(
  about: Pick<Chart, 'title' | 'unit'>,
  trends: readonly { readonly name: string; readonly points: readonly Point[] }[],
  timeZone: string,
): MessageBlock[] {
  const [longest] = trends.toSorted((a, b) => b.points.length - a.points.length);
  if (!longest || longest.points.length < fewestPoints) return [];
  const series = trends
    .filter(({ points }) => longest.points.every(([at]) => points.some((one) => one[0] === at)))
    .map(({ name, points }) => ({ name, values: points.map(([, value]) => value) }));
  const labels = longest.points.map(([at]) => formatRunTime(new Date(at), timeZone).slice(4, -6));
  return renderChart({ kind: 'line', ...about, labels, series });
}

export const mostListed = 10;

export function describeName({ id, name }: Named, longest = 60): string {
  return escapeMrkdwn(name, longest) || `zone ${escapeMrkdwn(id, 20)}`;
}

/** Three names of this length fit on a phone. */
const longestListed = 24;

/** `shop, media and 12 more`; the number if no name is known. If only a few are listed, each is short. */
export function listNames({ count, first }: NamedGroup, most: number): string {
  if (first.length === 0) return pluralize(count, 'zone');
  const listed = first.slice(0, most);
  const longest = most < mostListed && listed.length > 1 ? longestListed : 60;
  const names = listed.map((one) => describeName(one, longest)).join(', ');
  return join([names, andMore(count - listed.length)], ' ');
}
