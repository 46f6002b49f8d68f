import { bandwidthOf, findBusiest, findLimit, monthOf } from '../../../../../api/zones/bandwidth.ts';
import type { ZoneSummary } from '../../../../../api/zones/summary.ts';
import { dayMs } from '../../../../../lib/time.ts';
import { apartMs, type Comparison, compareWithPast, type Earlier, noise } from '../../figures.ts';
import { type Named, toNamed } from '../../names.ts';

export interface ZoneUse extends Named {
  readonly used: number;
  readonly limit?: number | undefined;
  readonly perDay?: Comparison | undefined;
}

const mostBusiest = 30;

export function compareBusiest(
  zones: readonly ZoneSummary[],
  past: Earlier<{ readonly busiest: readonly ZoneUse[] }>,
  now: Date,
): ZoneUse[] {
  const used = zones.filter(({ bandwidthUsed }) => (bandwidthUsed ?? 0) > 0);
  return findBusiest(used, mostBusiest).map((zone) => ({
    ...toNamed(zone),
    used: bandwidthOf(zone),
    limit: zone.bandwidthLimit,
    perDay: compareRate(zone.bandwidthUsed, {
      past,
      now,
      find: ({ busiest }) => busiest.find(({ id }) => id === zone.id),
      floor: noise.bytes,
    }),
  }));
}

/**
 * How fast a monthly counter grows a day, compared with earlier runs: since the last one; after the start of a new month, in
 * this month, from six hours on. Undefined where it cannot be known: the counter fell within a month, or did not fall with
 * a new one, since it may have grown past its earlier value or not have started again yet.
 */
export function compareRate<Figures>(
  used: number | undefined,
  about: {
    readonly past: Earlier<Figures>;
    readonly now: Date;
    readonly find: (
      found: Figures,
    ) => { readonly used?: number | undefined; readonly perDay?: Comparison | undefined } | undefined;
    readonly floor: number;
  },
): Comparison | undefined {
  const { past, now, find, floor } = about;
  const { base } = past;
  const before = base && find(base.figures)?.used;
  if (used === undefined || base === undefined || before === undefined) return undefined;
  const { start } = monthOf(now);
  const isNewMonth = base.at < start;
  if (isNewMonth !== used < before) return undefined;
  const elapsed = now.getTime() - (isNewMonth ? start : base.at);
  if (elapsed < apartMs) return undefined;
  const rate = roundToCents(((isNewMonth ? used : used - before) / elapsed) * dayMs);
  return compareWithPast(rate, past, (found) => find(found)?.perDay, floor);
}

/** Two decimals: floating-point noise behind them would differ from run to run. */
export function roundToCents(number: number): number {
  return Math.round(number * 100) / 100;
}

export interface LimitFigures extends Named {
  readonly used: number;
  readonly limit: number;
  /** ISO text; absent: it has reached it. */
  readonly reaches?: string | undefined;
  /** The digest has not reported it yet. */
  readonly isNew: boolean;
}

/** The last reported state of a zone's limit. */
export type LimitBaseline = 'nothing' | 'foretold' | 'reached';

const mostListed = 10;

/** Zones that reached their limit or will this month, the soonest first. Each is new twice: foretold, and reached. */
export function findLimits(
  zones: readonly ZoneSummary[],
  now: Date,
  reportedOf: (id: string) => LimitBaseline,
): LimitFigures[] {
  const found = zones.flatMap((zone): LimitFigures[] => {
    const about = findLimit(zone, now);
    if (!about) return [];
    const { used, limit, reaches } = about;
    const before = reportedOf(zone.id);
    const isNew = before === 'nothing' || (before === 'foretold' && !reaches);
    return [{ ...toNamed(zone), used, limit, reaches: reaches?.toISOString(), isNew }];
  });
  const soonest = found.toSorted((a, b) => ((a.reaches ?? '') < (b.reaches ?? '') ? -1 : 1));
  // New ones first, should there be too many.
  const limits = soonest.toSorted((a, b) => Number(b.isNew) - Number(a.isNew));
  return limits.slice(0, mostListed);
}
