import { median } from '../../lib/median.ts';

const threshold = 3.5;
/** Scales MAD to the standard deviation of a normal distribution. */
const consistency = 0.6745;
const smallestSpread = 0.05;

/** What is usual of a number, as digests and alerts compare it. */
export interface Baseline {
  /** The median of earlier values. */
  readonly usual: number;
  /** A value that is further from it is unusual. */
  readonly range: number;
}

/**
 * The baseline of earlier values. Far is a modified z-score, 0.6745 × |value − median| ÷ MAD, above 3.5 (Iglewicz and
 * Hoaglin, 1993). MAD is the median distance from the median and counts as 5 % of the median where it is smaller, so that in
 * a flat series (MAD 0) nothing below 26 % is called unusual. A difference up to `floor` never is.
 */
export function measureBaseline(series: readonly number[], floor: number): Baseline {
  const usual = median(series);
  const mad = median(series.map((one) => Math.abs(one - usual)));
  const spread = Math.max(mad, Math.abs(usual) * smallestSpread);
  return { usual, range: Math.max(floor, (threshold * spread) / consistency) };
}
