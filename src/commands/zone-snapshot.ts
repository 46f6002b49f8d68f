import { ApiError } from '../api/errors.ts';
import type { Context } from './define.ts';
import type { Snapshot } from './snapshots.ts';

/**
 * Every zone of the person, from memory or from the CDN. Several commands may wait for one reading; where that
 * ends because the command that began it was given up, the others begin again.
 */
export async function allZones(context: Context): Promise<Snapshot> {
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
