import { ApiError } from '../../api/http/errors.ts';
import { findAffectedZones, type VariableShown, type VolumeShown } from '../../api/zones/summary.ts';
import { UserError } from '../../errors.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { With } from '../context.ts';
import { loadAllZones } from './load-zones.ts';

/**
 * What hangs on a volume, from the same API and read now: the zones that lead to its app, the size and cost of the
 * app's volumes.
 *
 * @throws UserError where the CDN does not know the app; ApiError where the zones cannot be read.
 */
export async function loadAffectedByVolume(appId: string, context: With<'zoneCache'>): Promise<VolumeShown> {
  const client = await context.cdn();
  context.zoneCache.of(context.person).renew();
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
  context.zoneCache.of(context.person).renew();
  const { zones } = await loadAllZones(context);
  return findAffectedZones(
    zones.filter(({ edgeScriptId, middlewareScriptId }) =>
      [edgeScriptId, middlewareScriptId].includes(scriptId),
    ),
  );
}
