import { type Answer, type Call, json, shapeA } from './answer.ts';
import type { CdnData } from './data.ts';
import { createDice, seedOf } from './dice.ts';

/** Ids of the generated applications (about 15 letters and digits, as the platform makes them). */
export const appIds = { api: 'app0api00000001', worker: 'app0worker00002', idle: 'app0idle0000003' } as const;

interface VolumeInstance {
  id: string;
  /** Deleting a volume needs every instance to be detached. */
  detached: boolean;
}

export interface App {
  id: string;
  averageLatency: number;
  currentLatency: number;
  totalVolumeSizeInGb: number;
  /** USD a month. */
  monthlyCost: number;
  /** Not in the specification's table, only in its prose: sent where it is set. */
  status?: string;
  /** Unset: thirty UTC days up to today are generated. */
  latencyChart?: Record<string, number>;
  /** Volume templates by id, each with its instances. A volume without instances is gone. */
  volumes: Record<string, VolumeInstance[]>;
}

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
  const dice = createDice(seedOf(app.id));
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
  return json({
    averageLatency: app.averageLatency,
    currentLatency: app.currentLatency,
    totalVolumeSizeInGb: app.totalVolumeSizeInGb,
    monthlyCost: app.monthlyCost,
    latencyChart: app.latencyChart ?? generateChart(app, call.now),
    ...(app.status === undefined ? {} : { status: app.status }),
  });
}
