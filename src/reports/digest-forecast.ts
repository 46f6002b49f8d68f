import type { ZoneSummary } from '../api/zone-summary.ts';
import type { LimitFigures } from './digest-figures.ts';
import { named } from './digest-roster.ts';
import { dayMs } from './digest-series.ts';

/** Less of a month says nothing about the rest of it. */
const leastMs = 3 * dayMs;
const mostTold = 10;

/** The UTC month that a moment lies in, by which the CDN counts bandwidth. */
export function monthOf(at: Date): { readonly start: number; readonly end: number } {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

/**
 * When a zone reaches its limit, if the rest of the month goes like the month so far: a straight line from its first
 * midnight (UTC) through what was used by now. Undefined where that is after the month, and in its first three days.
 */
export function reachesLimit(used: number, limit: number, now: Date): Date | undefined {
  const { start, end } = monthOf(now);
  const elapsed = now.getTime() - start;
  if (elapsed < leastMs || used <= 0) return undefined;
  const at = start + elapsed * (limit / used);
  return at < end ? new Date(at) : undefined;
}

/** Zones that reached their limit or will this month, the soonest first. */
export function limitsOf(
  zones: readonly ZoneSummary[],
  now: Date,
  previous: { readonly limits: readonly LimitFigures[]; readonly moreLimits: number } | undefined,
): { readonly limits: LimitFigures[]; readonly more: number } {
  const said = new Map(previous?.limits.map(({ id, reaches }) => [id, reaches === undefined]));
  const found = zones.flatMap((zone): LimitFigures[] => {
    const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
    if (used === undefined || limit === undefined) return [];
    const isReached = used >= limit;
    const at = isReached ? undefined : reachesLimit(used, limit, now);
    if (!isReached && !at) return [];
    // Of those that were too many to keep nobody knows.
    const isNew = said.has(zone.id) ? isReached && !said.get(zone.id) : (previous?.moreLimits ?? 0) === 0;
    return [{ ...named(zone), used, limit, ...(at ? { reaches: at.toISOString() } : {}), isNew }];
  });
  const soonest = found.toSorted((a, b) => ((a.reaches ?? '') < (b.reaches ?? '') ? -1 : 1));
  // What is new is told first, should there be too many.
  const limits = [...soonest.filter(({ isNew }) => isNew), ...soonest.filter(({ isNew }) => !isNew)];
  return { limits: limits.slice(0, mostTold), more: Math.max(0, limits.length - mostTold) };
}
