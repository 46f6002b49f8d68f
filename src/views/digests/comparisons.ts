import { maxNamedIds, type Named, type NamedGroup } from '../../digests/figures/compact-ids.ts';
import type { Comparison } from '../../digests/figures/series.ts';
import { escapeMrkdwn, formatInteger, pluralize } from '../blocks/text.ts';

/** `+37 % on the same weekday, +3 % on the previous run, unusual: mostly 38 GB`; empty in a first run. */
export function describeChange(
  { now, before, weekBefore, usual }: Comparison,
  format: (value: number) => string,
  previous = 'the previous run',
): string {
  const [onWeekday, onBefore] = [weekBefore, before].map((other) =>
    other === undefined ? '' : relate(now, other),
  );
  const both = onWeekday && onWeekday === onBefore ? `${onWeekday} the same weekday and ${previous}` : '';
  return [
    ...(both
      ? [both]
      : [onWeekday && `${onWeekday} the same weekday`, onBefore && `${onBefore} ${previous}`]),
    usual === undefined ? '' : `*unusual:* mostly ${format(usual)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** `52 GB, +37 % on the same weekday`. */
export function describeComparison(
  compared: Comparison,
  format: (value: number) => string,
  previous?: string,
): string {
  return `${format(compared.now)}, ${describeChange(compared, format, previous)}`;
}

/** ` (+37 % on the same weekday)`, or nothing. */
export function inBrackets(
  compared: Comparison | undefined,
  format: (value: number) => string,
  previous?: string,
): string {
  const words = compared ? describeChange(compared, format, previous) : '';
  return words ? ` (${words})` : '';
}

/** `52.1 GB a day: +37 % on the same weekday`; empty in a first run, and where it always was zero. */
export function describeRate(
  compared: Comparison | undefined,
  format: (value: number) => string,
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

/** ` (+$0.41)`: what was added since; empty where that is nothing, or not known. */
export function formatDifference(
  now: number,
  before: number | undefined,
  format: (value: number) => string,
): string {
  if (before === undefined) return '';
  const by = now - before;
  const words = format(Math.abs(by));
  return words === format(0) ? '' : ` (${by > 0 ? '+' : '−'}${words})`;
}

export function isAllZero({ now, before = 0, weekBefore = 0 }: Comparison): boolean {
  return now === 0 && before === 0 && weekBefore === 0;
}

/** A zone's name, else its id. */
export function describeName({ id, name }: Named, longest = 60): string {
  return escapeMrkdwn(name, longest) || `zone ${escapeMrkdwn(id, 20)}`;
}

/** Three names of this length fit on a phone. */
const longestListed = 24;

/** `shop, media and 12 more`; the number where no name is known. Where only a few are listed, each is short. */
export function listNames({ count, first }: NamedGroup, most: number): string {
  if (first.length === 0) return pluralize(count, 'zone');
  const listed = first.slice(0, most);
  const longest = most < maxNamedIds && listed.length > 1 ? longestListed : 60;
  const shown = listed.map((one) => describeName(one, longest));
  const more = count - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${formatInteger(more)} more` : shown.join(', ');
}

/** A number without a unit, to two decimals. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}

/** Undefined where none is reported: that is no zero. The sum of no parts is. */
export function sumReported(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((one) => one !== undefined);
  return known.length === 0 && numbers.length > 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
}

export function isIncrease({ now, before = 0, weekBefore = before }: Comparison): boolean {
  return now >= weekBefore;
}
