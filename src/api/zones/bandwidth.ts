import { dayMs } from '../../lib/time.ts';
import type { ZoneSummary } from './summary.ts';

/** The UTC month that a moment lies in, by which the CDN counts bandwidth. */
export function monthOf(at: Date): { readonly start: number; readonly end: number } {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

type Used = Pick<ZoneSummary, 'bandwidthUsed'>;

/** Those with the most bandwidth, the most first. One pass: sorting 50,000 zones holds up the event loop. */
export function findBusiest<Zone extends Used>(zones: readonly Zone[], most: number): Zone[] {
  const found: Zone[] = [];
  for (const zone of zones) {
    if (found.length >= most && bandwidthOf(zone) <= bandwidthOf(found.at(-1))) continue;
    const at = found.findIndex((other) => bandwidthOf(other) < bandwidthOf(zone));
    found.splice(at === -1 ? found.length : at, 0, zone);
    if (found.length > most) found.pop();
  }
  return found;
}

/** Bytes this month; 0 where they are not reported. */
export function bandwidthOf(zone: Used | undefined): number {
  return zone?.bandwidthUsed ?? 0;
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
