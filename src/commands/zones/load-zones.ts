import { ApiError } from '../../api/http/errors.ts';
import type { CachedZones, PrefetchedIndex } from '../cache/zone-cache.ts';
import type { With } from '../context.ts';

/**
 * Every zone of the person, from memory or from the CDN. Several commands may wait for one reading; where that
 * ends because whoever began it was given up, the others begin again.
 */
export async function loadAllZones(context: With<'zoneCache'>): Promise<CachedZones> {
  const known = findKnownZones(context);
  if (known) return known;
  const mine = context.zoneCache.of(context.person);
  const read = async () => (await context.cdn()).pullZones.all();
  try {
    return await mine.get(read);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'cancelled' && !context.signal.aborted)
      return mine.get(read);
    throw error;
  }
}

/** What is in memory of them. Where that grows old it is read again in the background. */
export function findKnownZones(context: With<'zoneCache'>): CachedZones | undefined {
  return context.zoneCache.of(context.person).peek() && findZonesSoFar(context).known;
}

/** What is in memory of them and what is being read in the background, for those who cannot wait for the CDN. */
export function findZonesSoFar(context: With<'zoneCache'>): PrefetchedIndex {
  return context.zoneCache
    .of(context.person)
    .warm(async (until) => (await context.cdn(until)).pullZones.all(), context.explain);
}
