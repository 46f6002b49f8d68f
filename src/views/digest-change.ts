import type { Compared, Named, Some } from '../reports/digest-figures.ts';
import { mostNamed } from '../reports/digest-roster.ts';
import { count, foreign, grouped } from './text.ts';

/** `+37 % on the same weekday, +3 % on the previous run, unusual: mostly 38 GB`; empty in a first run. */
export function comparison(
  { now, before, weekBefore, usual }: Compared,
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
export function inBrackets(
  of: Compared | undefined,
  shown: (value: number) => string,
  previous?: string,
): string {
  const words = of ? comparison(of, shown, previous) : '';
  return words ? ` (${words})` : '';
}

/** `+37 % on`, `5 × as much as`, `the same as`, `up from nothing in`. */
function change(now: number, before: number): string {
  if (now === before) return 'the same as';
  if (before <= 0) return 'up from nothing in';
  const ratio = now / before;
  if (ratio >= 2.95) return `${grouped(Number(ratio.toPrecision(2)))} × as much as`;
  const by = Math.round((ratio - 1) * 100);
  if (by === 0) return 'about the same as';
  return `${by > 0 ? '+' : '−'}${grouped(Math.abs(by))} % on`;
}

/** ` (+$0.41)`: what was added since; nothing where that is nothing, or not known. */
export function added(now: number, before: number | undefined, shown: (value: number) => string): string {
  if (before === undefined) return '';
  const by = now - before;
  const words = shown(Math.abs(by));
  return words === shown(0) ? '' : ` (${by > 0 ? '+' : '−'}${words})`;
}

/** There is nothing, and was nothing. */
export function isNothing({ now, before = 0, weekBefore = 0 }: Compared): boolean {
  return now === 0 && before === 0 && weekBefore === 0;
}

/** `longest`: in a list in the channel, three names are to fit on a phone. */
export function nameOf({ id, name }: Named, longest = 60): string {
  return foreign(name, longest) || `zone ${foreign(id, 20)}`;
}

/** As much of each name as a line of several has room for. */
const longestListed = 24;

/** `shop, media and 12 more`; the number where no name is kept. In the channel, where few are listed, each is short. */
export function names({ count: all, first }: Some, most: number): string {
  if (first.length === 0) return count(all, 'zone');
  const listed = first.slice(0, most);
  const longest = most < mostNamed && listed.length > 1 ? longestListed : 60;
  const shown = listed.map((one) => nameOf(one, longest));
  const more = all - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${grouped(more)} more` : shown.join(', ');
}

/** A number that has no unit, as it came. */
export function exact(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 2 });
}
