import { ApiError } from '../../api/http/errors.ts';
import { findAffectedZones, type VariableShown, type VolumeShown } from '../../api/zones/summary.ts';
import { UserError } from '../../errors.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { With } from '../context.ts';
import type { CachedZones, PrefetchedZones } from './zone-cache.ts';

/**
 * Every zone of the person, from the cache or the CDN. Several commands may share one load; if the command that started
 * it is cancelled, the others load again.
 */
export async function loadAllZones(context: With<'zoneCache'>): Promise<CachedZones> {
  const known = findKnownZones(context);
  if (known) return known;
  const mine = context.zoneCache.forPerson(context.person);
  const read = async () => (await context.cdn()).pullZones.all();
  try {
    return await mine.load(read);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'cancelled' && !context.signal.aborted)
      return mine.load(read);
    throw error;
  }
}

/** The cached list, if any. One that grows old is read again in the background. */
export function findKnownZones(context: With<'zoneCache'>): CachedZones | undefined {
  return context.zoneCache.forPerson(context.person).get() && prefetchZones(context).known;
}

/** The cached list and the load in the background, for callers that cannot wait for the CDN. */
export function prefetchZones(context: With<'zoneCache'>): PrefetchedZones {
  return context.zoneCache
    .forPerson(context.person)
    .prefetch(async (until) => (await context.cdn(until)).pullZones.all(), context.explain);
}

/**
 * What a deletion affects, read now: the zones that lead to the volume's app, the size and cost of the app's volumes.
 *
 * @throws UserError where the CDN does not know the app; ApiError where the zones cannot be read.
 */
export async function loadAffectedByVolume(appId: string, context: With<'zoneCache'>): Promise<VolumeShown> {
  const client = await context.cdn();
  context.zoneCache.forPerson(context.person).expire();
  const [zones, app] = await Promise.all([
    loadAllZones(context),
    client.apps.summary(appId).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'not_found')
        throw new UserError(
          `The CDN does not know the app ${formatCode(appId, 60)}.`,
          'Check its id for slips; `/cdn app` has a menu of the apps your zones lead to.',
        );
      if (error.code === 'key_refused' || error.code === 'cancelled') throw error;
      return undefined;
    }),
  ]);
  return {
    ...findAffectedZones(zones.zones.filter((zone) => zone.appId === appId)),
    volumeSizeInGb: app?.totalVolumeSizeInGb,
    monthlyCost: app?.monthlyCost,
    summary: app === undefined ? 'unreadable' : 'read',
  };
}

/** The zones that run a script, at their edge or as middleware. Read now. @throws ApiError */
export async function loadAffectedByScript(
  scriptId: string,
  context: With<'zoneCache'>,
): Promise<VariableShown> {
  context.zoneCache.forPerson(context.person).expire();
  const { zones } = await loadAllZones(context);
  return findAffectedZones(
    zones.filter(({ edgeScriptId, middlewareScriptId }) =>
      [edgeScriptId, middlewareScriptId].includes(scriptId),
    ),
  );
}
