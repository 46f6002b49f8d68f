import { type Answer, type Call, json, shapeA } from './answer.ts';
import type { CdnData } from './data.ts';

/** One DELETE that reached the service, whether or not its answer arrived. */
export interface VolumeDeletion {
  appId: string;
  volumeId: string;
  status: number;
  /** Instances that were deleted. */
  ids: string[];
}

/**
 * Delete All Volume Instances. 200 with the ids; 400 of shape A while an instance is attached; 404 of shape A for an
 * unknown application or volume, and for one that is already gone.
 */
export function deleteVolumeInstances(call: Call, data: CdnData): Answer {
  const [appId = '', volumeId = ''] = call.params;
  const volumes = data.apps.find((app) => app.id === appId)?.volumes ?? {};
  const instances = Object.hasOwn(volumes, volumeId) ? volumes[volumeId] : undefined;
  const record = (answer: Answer, ids: string[] = []): Answer => {
    data.volumeDeletions.push({ appId, volumeId, status: answer.status, ids });
    return answer;
  };
  if (!instances || instances.length === 0) {
    return record(shapeA(404, 'Not Found', 'Volume template or instances not found.', { id: appId }));
  }
  const attached = instances.filter((instance) => !instance.detached);
  if (attached.length > 0) {
    const errors = attached.map(({ id }) => ({
      field: 'volumeId',
      message: `Instance ${id} is not detached.`,
    }));
    return record(
      shapeA(400, 'Bad Request', 'Some volume instances are not detached.', { id: appId, errors }),
    );
  }
  const ids = instances.map((instance) => instance.id);
  delete volumes[volumeId];
  return record(json({ ids }), ids);
}
