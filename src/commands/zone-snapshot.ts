import { ApiError } from '../api/errors.ts';
import type { Context } from './define.ts';
import type { Snapshot, Warm } from './snapshots.ts';

/**
 * Every zone of the person, from memory or from the CDN. Several commands may wait for one reading; where that
 * ends because whoever began it was given up, the others begin again.
 */
export async function allZones(context: Context): Promise<Snapshot> {
  const known = knownZones(context);
  if (known) return known;
  const mine = context.snapshots.of(context.person);
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
export function knownZones(context: Context): Snapshot | undefined {
  return context.snapshots.of(context.person).peek() && zonesSoFar(context).known;
}

/** What is in memory of them and what is being read in the background, for those who cannot wait for the CDN. */
export function zonesSoFar(context: Context): Warm {
  return context.snapshots
    .of(context.person)
    .warm(async (until) => (await context.cdn(until)).pullZones.all(), context.explain);
}
