import { minuteMs } from '../../../../../lib/time.ts';
import { formatInteger, pluralize } from '../../../../../views/blocks/format.ts';
import type { Condition } from '../condition.ts';
import {
  describeErrors,
  describeMostly,
  formatWindow,
  readErrors,
  showErrors,
  withoutTarget,
} from './read.ts';
import { addUp, type RunMemory } from './run.ts';

const initial = 50;
const initialWindow = 10;
const close = 3;
/** A zone with less than this share of all errors, and no more than the threshold, is not named. */
const leastShare = 0.1;

/** Errors of the origins of zones, of all looked at together. */
export const originErrors: Condition<'errors', RunMemory> = {
  name: 'errors',
  label: 'Origin errors',
  words: /^(?!.*(?:host|code|rise|usual)).*\berrors?\b/iu,
  target: 'zones',
  withoutTarget,
  threshold: {
    label: 'More than',
    unit: 'errors',
    initial,
    least: 0,
    most: 1_000_000,
    hint: 'Of all chosen zones together. Without a zone: of the 25 with most traffic.',
  },
  window: { initial: initialWindow },
  // The window alone damps: an error counts in it for several looks.
  damping: { open: [1, 1], close },
  describe: ({ threshold = initial, window = initialWindow }) =>
    `more than ${pluralize(threshold, 'origin error')} in ${formatWindow(window)}`,
  async evaluate(input) {
    const { subject, now, memory } = input;
    const { threshold = initial, window = initialWindow } = subject;
    const from = now.getTime() - window * minuteMs;
    const { read, unread, notes } = await readErrors(input);
    const zones = read
      .map((zone) => ({ ...zone, sum: zone.counts.sum(from) }))
      .toSorted((a, b) => b.sum.total - a.sum.total);
    const total = zones.reduce((sum, zone) => sum + zone.sum.total, 0);
    const isWrong = total > threshold;
    const isPartial = unread.length > 0 || zones.some(({ sum }) => sum.partial);
    const wrongIf = `more than ${formatInteger(threshold)}${zones.length > 1 ? ' together' : ''}`;
    const isNamed = (errors: number): boolean =>
      isWrong && errors > 0 && (errors > threshold || errors >= total * leastShare);
    const rows = zones.map(({ id, name, sum: { total, codes, partial } }) => {
      const text = `${describeErrors(total, window, partial)}${describeMostly(codes, total)}`;
      return { part: { id, name, text, value: total }, isWrong: isNamed(total) };
    });
    const all = { name: `${pluralize(zones.length, 'zone')} together`, wrongIf, isWrong };
    return {
      parts: rows.flatMap(({ part, isWrong }) => (isWrong ? [part] : [])),
      value: total,
      ...addUp(read, { isWrong, from, now, close, memory }),
      unread: unread.map(({ id }) => id),
      evidence: [
        ...(zones.length > 1 ? [{ ...all, is: describeErrors(total, window, isPartial) }] : []),
        ...notes.slice(0, 10),
        ...rows.map(({ part: { name, text: is }, isWrong }) => ({ name, is, wrongIf, isWrong })),
      ].slice(0, 30),
    };
  },
  formatValue: (errors) => pluralize(errors, 'error'),
  unit: 'Errors',
  next: showErrors,
};
