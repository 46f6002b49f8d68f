import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { dayMs } from '../../../lib/time.ts';
import { apartMs, type Comparison, compareWithPast, type Earlier, noise } from '../../figures.ts';
import { type Named, toNamed } from '../../names.ts';

/** The UTC month that a moment lies in, by which the CDN counts bandwidth. */
export function monthOf(at: Date): { readonly start: number; readonly end: number } {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

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

/** Those with the most bandwidth, the most first. One pass: sorting 50,000 zones holds up the event loop. */
export function findBusiest(zones: readonly ZoneSummary[], most: number): ZoneSummary[] {
  const found: ZoneSummary[] = [];
  for (const zone of zones) {
    if (found.length >= most && bandwidthOf(zone) <= bandwidthOf(found.at(-1))) continue;
    const at = found.findIndex((other) => bandwidthOf(other) < bandwidthOf(zone));
    found.splice(at === -1 ? found.length : at, 0, zone);
    if (found.length > most) found.pop();
  }
  return found;
}

function bandwidthOf(zone: ZoneSummary | undefined): number {
  return zone?.bandwidthUsed ?? 0;
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

/** A shorter part of the month does not predict the rest. */
const leastMs = 3 * dayMs;

/**
 * When a zone reaches its limit, if the rest of the month goes like the month so far: a straight line from its first
 * midnight (UTC) through what was used by now. Undefined where that is after the month, and in its first three days.
 */
export function forecastLimit(used: number, limit: number, now: Date): Date | undefined {
  const { start, end } = monthOf(now);
  const elapsed = now.getTime() - start;
  if (elapsed < leastMs || used <= 0) return undefined;
  const at = start + elapsed * (limit / used);
  return at < end ? new Date(at) : undefined;
}

/** Whether a zone reached its limit or will this month, and then when; undefined for neither. */
export function findLimit(
  { bandwidthUsed: used, bandwidthLimit: limit }: ZoneSummary,
  now: Date,
): { readonly used: number; readonly limit: number; readonly reaches?: Date } | undefined {
  if (used === undefined || limit === undefined) return undefined;
  if (used >= limit) return { used, limit };
  const reaches = forecastLimit(used, limit, now);
  return reaches && { used, limit, reaches };
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
