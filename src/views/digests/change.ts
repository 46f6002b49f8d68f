import { maxNamedIds } from '../../digests/figures/compact-ids.ts';
import type { Comparison, Named, Some } from '../../digests/figures/figures.ts';
import { escapeMrkdwn, formatInteger, pluralize } from '../blocks/text.ts';

/** `+37 % on the same weekday, +3 % on the previous run, unusual: mostly 38 GB`; empty in a first run. */
export function describeChange(
  { now, before, weekBefore, usual }: Comparison,
  shown: (value: number) => string,
  previous = 'the previous run',
): string {
  const [onWeekday, onBefore] = [weekBefore, before].map((other) =>
    other === undefined ? '' : change(now, other),
  );
  const both = onWeekday && onWeekday === onBefore ? `${onWeekday} the same weekday and ${previous}` : '';
  return [
    ...(both
      ? [both]
      : [onWeekday && `${onWeekday} the same weekday`, onBefore && `${onBefore} ${previous}`]),
    usual === undefined ? '' : `*unusual:* mostly ${shown(usual)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** ` (+37 % on the same weekday)`, or nothing. */
export function bracket(
  of: Comparison | undefined,
  shown: (value: number) => string,
  previous?: string,
): string {
  const words = of ? describeChange(of, shown, previous) : '';
  return words ? ` (${words})` : '';
}

/** `+37 % on`, `5 × as much as`, `the same as`, `up from nothing in`. */
function change(now: number, before: number): string {
  if (now === before) return 'the same as';
  if (before <= 0) return 'up from nothing in';
  const ratio = now / before;
  if (ratio >= 2.95) return `${formatInteger(Number(ratio.toPrecision(2)))} × as much as`;
  const by = Math.round((ratio - 1) * 100);
  if (by === 0) return 'about the same as';
  return `${by > 0 ? '+' : '−'}${formatInteger(Math.abs(by))} % on`;
}

/** ` (+$0.41)`: what was added since; nothing where that is nothing, or not known. */
export function formatDifference(
  now: number,
  before: number | undefined,
  shown: (value: number) => string,
): string {
  if (before === undefined) return '';
  const by = now - before;
  const words = shown(Math.abs(by));
  return words === shown(0) ? '' : ` (${by > 0 ? '+' : '−'}${words})`;
}

/** There is nothing, and was nothing. */
export function isNothing({ now, before = 0, weekBefore = 0 }: Comparison): boolean {
  return now === 0 && before === 0 && weekBefore === 0;
}

/** `longest`: in a list in the channel, three names are to fit on a phone. */
export function describeName({ id, name }: Named, longest = 60): string {
  return escapeMrkdwn(name, longest) || `zone ${escapeMrkdwn(id, 20)}`;
}

/** As much of each name as a line of several has room for. */
const longestListed = 24;

/** `shop, media and 12 more`; the number where no name is kept. In the channel, where few are listed, each is short. */
export function names({ count: all, first }: Some, most: number): string {
  if (first.length === 0) return pluralize(all, 'zone');
  const listed = first.slice(0, most);
  const longest = most < maxNamedIds && listed.length > 1 ? longestListed : 60;
  const shown = listed.map((one) => describeName(one, longest));
  const more = all - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${formatInteger(more)} more` : shown.join(', ');
}

/** A number that has no unit, as it came. */
export function exact(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}
