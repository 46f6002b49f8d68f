import { fitSlope } from './numbers.ts';
import { formatMegabytes } from './report.ts';

export interface Point {
  readonly x: number;
  /** Bytes. */
  readonly y: number;
}

export interface Trend {
  /** Bytes over the whole way, by the fitted line. */
  readonly grown: number;
  /** Less than noise: a collection more or less makes it. */
  readonly isFlat: boolean;
  readonly words: string;
}

const noise = 0.02;

/** Says what the line fitted to bytes says, as growth for `per` of x, called `unit`. @throws Error for fewer than two points. */
export function findTrend(points: readonly Point[], per: number, unit: string): Trend {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || first === last) throw new Error('too few samples of memory: let it run for longer');
  const slope = fitSlope(points);
  const grown = slope * (last.x - first.x);
  const rate = `${((slope * per) / 1e6).toFixed(1)} MB ${unit}`;
  const isFlat = Math.abs(grown) <= noise * first.y;
  const words = isFlat ? `flat (${rate})` : `${grown > 0 ? 'grows by' : 'changes by'} ${rate}`;
  return { grown, isFlat, words: `${formatMegabytes(first.y)} → ${formatMegabytes(last.y)}, ${words}` };
}
