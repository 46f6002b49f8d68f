import { type Answer, type Call, jsonAnswer, shapeA } from './answer.ts';
import { createRandom, hashSeed } from './dice.ts';
import type { App, CdnData } from './model.ts';

/** Ids of the generated applications (about 15 letters and digits, as the platform makes them). */
export const appIds = { api: 'app0api00000001', worker: 'app0worker00002', idle: 'app0idle0000003' } as const;

/** Three applications: one with a detached and an attached volume, one with two detached instances, one bare. */
export function generateApps(): App[] {
  return [
    {
      id: appIds.api,
      averageLatency: 41.7,
      currentLatency: 38.2,
      totalVolumeSizeInGb: 30,
      monthlyCost: 3.57,
      status: 'active',
      volumes: {
        'my-data-volume': [
          { id: 'vi-1', detached: true },
          { id: 'vi-2', detached: true },
        ],
        'live-volume': [
          { id: 'vi-3', detached: false },
          { id: 'vi-4', detached: true },
        ],
      },
    },
    {
      id: appIds.worker,
      averageLatency: 112.03,
      currentLatency: 240.9,
      totalVolumeSizeInGb: 100,
      monthlyCost: 18.4,
      status: 'progressing',
      volumes: { 'old-cache': [{ id: 'vi-5', detached: true }] },
    },
    {
      id: appIds.idle,
      averageLatency: 0,
      currentLatency: 0,
      totalVolumeSizeInGb: 0,
      monthlyCost: 0,
      latencyChart: {},
      volumes: {},
    },
  ];
}

const DAY = 86_400_000;

function generateChart(app: App, now: number): Record<string, number> {
  const dice = createRandom(hashSeed(app.id));
  const today = Math.floor(now / DAY) * DAY;
  return Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [
      `${new Date(today - (29 - index) * DAY).toISOString().slice(0, 19)}Z`,
      Math.round(app.averageLatency * (0.8 + dice.next() * 0.4) * 10) / 10,
    ]),
  );
}

/** Get Application Usage Summary. An unknown application is a 404 of shape A. */
export function applicationSummary(call: Call, data: CdnData): Answer {
  const [id = ''] = call.params;
  const app = data.apps.find((app) => app.id === id);
  if (!app) return shapeA(404, 'Not Found', 'Application is not found.', { id });
  return jsonAnswer({
    averageLatency: app.averageLatency,
    currentLatency: app.currentLatency,
    totalVolumeSizeInGb: app.totalVolumeSizeInGb,
    monthlyCost: app.monthlyCost,
    latencyChart: app.latencyChart ?? generateChart(app, call.now),
    ...(app.status === undefined ? {} : { status: app.status }),
  });
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
  return record(jsonAnswer({ ids }), ids);
}
