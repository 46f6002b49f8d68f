import { dayMs, hourMs, minuteMs } from '../../../../../lib/time.ts';
import { formatInteger } from '../../../../../views/blocks/format.ts';
import { measureBaseline } from '../../../schedules/baseline.ts';
import type { Condition, Evidence, Part } from '../condition.ts';
import { toNote } from '../zones/look.ts';
import {
  describeErrors,
  describeMostly,
  formatWindow,
  type ReadZone,
  readErrors,
  showErrors,
  withoutTarget,
} from './read.ts';

const initial = 300;
const initialWindow = 30;
const days = 7;
/** With fewer days nothing is usual. */
const leastDays = 3;
/** Errors in a window that count as usual at least, so that three in place of one are no incident. */
const floor = 10;

/** Many more errors of a zone than at this time of other days. */
export const risingErrors: Condition<'errors-rise'> = {
  name: 'errors-rise',
  label: 'More origin errors than usual',
  words: /\brises?\b|\busual\b|\bspikes?\b|baseline/iu,
  target: 'origins',
  withoutTarget,
  threshold: {
    label: 'At least',
    unit: '% of what is usual',
    initial,
    least: 150,
    most: 10_000,
    hint: 'Usual is the median of the last 7 days at the same time, and 10 errors at least. It learns for 3 days.',
  },
  window: { initial: initialWindow },
  damping: { open: [2, 3], close: 3 },
  describe: ({ threshold = initial, window = initialWindow }) =>
    `${formatInteger(threshold)} % of the usual origin errors in ${formatWindow(window)}`,
  async evaluate(input) {
    const { threshold = initial, window = initialWindow } = input.subject;
    const { read, unread, notes } = await readErrors(input);
    const judged = read
      .map((zone) => judge(zone, { now: input.now, window, threshold }))
      .toSorted((a, b) => b.share - a.share);
    const known = judged.filter(({ isLearning }) => !isLearning);
    return {
      parts: known.flatMap(({ part, evidence }) => (evidence.isWrong ? [part] : [])),
      value: known[0]?.share,
      unread: unread.map(({ id }) => id),
      evidence: [
        ...known.slice(0, 10).map(({ evidence }) => evidence),
        ...notes.slice(0, 5),
        ...judged.flatMap(({ isLearning, evidence }) => (isLearning ? [evidence] : [])),
        ...known.slice(10).map(({ evidence }) => evidence),
      ].slice(0, 30),
    };
  },
  formatValue: (share) => `${formatInteger(share)} % of usual`,
  unit: '% of usual',
  next: showErrors,
};

interface Judged {
  readonly part: Part;
  readonly evidence: Evidence;
  /** Per cent of what is usual. */
  readonly share: number;
  readonly isLearning: boolean;
}

function judge(
  { id, name, counts }: ReadZone,
  about: { readonly now: Date; readonly window: number; readonly threshold: number },
): Judged {
  const { now, window, threshold } = about;
  const { total, codes, partial } = counts.sum(now.getTime() - window * minuteMs);
  const errors = describeErrors(total, window, partial);
  const past = listUsual(counts, now, window);
  const { usual: middle, range } = measureBaseline(past, floor);
  const usual = Math.max(floor, middle);
  const share = Math.floor((total / usual) * 100);
  const part = {
    id,
    name,
    text: `${errors}${describeMostly(codes, total)}, usual: ${formatInteger(Math.round(middle))}`,
    value: total,
  };
  if (past.length < leastDays) {
    const evidence = toNote(name, `${errors}; learning: ${past.length} of ${leastDays} days`);
    return { part, evidence, share, isLearning: true };
  }
  // Where the days differ much from each other, so much is needed to differ from all of them.
  const byShare = Math.ceil((usual * threshold) / 100);
  const least = Math.max(byShare, Math.floor(middle + range) + 1);
  const why = `${formatInteger(threshold)} % of ${formatInteger(Math.round(usual))}`;
  const wrongIf = `${formatInteger(least)} or more: ${least === byShare ? why : 'earlier days differ much'}`;
  const evidence = { name, is: part.text, wrongIf, isWrong: total >= least };
  return { part, evidence, share, isLearning: false };
}

/** Errors in a window at the same time of earlier days, of those days that are known whole. */
function listUsual(counts: ReadZone['counts'], now: Date, window: number): number[] {
  return Array.from({ length: days }, (_, nth) => {
    const end = now.getTime() - (nth + 1) * dayMs;
    return countBetween(counts, end - window * minuteMs, end);
  }).filter((errors) => errors !== undefined);
}

/** Older counts are kept by the hour: of an hour that lies partly in it, that part. Undefined where not all is known. */
function countBetween({ sum }: ReadZone['counts'], from: number, to: number): number | undefined {
  let errors = 0;
  for (let hour = Math.floor(from / hourMs) * hourMs; hour < to; hour += hourMs) {
    const { total, partial } = sum(hour, hour + hourMs);
    if (partial) return undefined;
    errors += total * ((Math.min(to, hour + hourMs) - Math.max(from, hour)) / hourMs);
  }
  return errors;
}
