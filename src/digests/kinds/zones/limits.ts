import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { dayMs } from '../../../lib/time.ts';
import { toNamed } from '../../figures/compact-ids.ts';
import type { LimitFigures } from './figures.ts';

/** A shorter part of the month does not predict the rest. */
const leastMs = 3 * dayMs;
const mostListed = 10;

/** The UTC month that a moment lies in, by which the CDN counts bandwidth. */
export function monthOf(at: Date): { readonly start: number; readonly end: number } {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

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

/** What the digest reported of a zone's limit before. */
export type LimitBaseline = 'nothing' | 'foretold' | 'reached';

/** Zones that reached their limit or will this month, the soonest first. Each is new twice: foretold, and reached. */
export function findLimits(
  zones: readonly ZoneSummary[],
  now: Date,
  reportedOf: (id: string) => LimitBaseline,
): { readonly limits: LimitFigures[]; readonly more: number } {
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
  const limits = [...soonest.filter(({ isNew }) => isNew), ...soonest.filter(({ isNew }) => !isNew)];
  return { limits: limits.slice(0, mostListed), more: Math.max(0, limits.length - mostListed) };
}
