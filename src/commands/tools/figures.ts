import { z } from 'zod';
import { renderApp } from '../../views/apps.ts';
import { renderScanning } from '../../views/upload-scanning.ts';
import type { Context } from '../define.ts';
import { rememberUse } from '../names.ts';
import { findKnownZones } from '../zones/lookup.ts';
import { allZones, toZones } from './find-zone.ts';
import { defineTool, toIso } from './tool.ts';

const text = z.string().nullable();
const number = z.number().nullable();

export const getApp = defineTool({
  name: 'get_app',
  command: 'app',
  title: 'Show an app',
  description:
    'Usage of an app: latency now and on average, cost of the month, size of its volumes, its state.',
  needs: 'read',
  input: z.object({ app: z.string().trim().min(1).max(100).describe('Its ID, or its name here') }),
  data: z.object({
    app: z.string(),
    name: text.describe('The name that people here gave it'),
    status: text,
    latency_now: number.describe('In the unit of the service, which it does not name'),
    latency_average: number,
    volumes_gb: number,
    cost_this_month: number.describe('In the currency of the account'),
    latency: z.array(z.object({ at: text, label: z.string(), latency: z.number() })),
  }),
  async run({ app: typed }, context: Context) {
    const { person, names } = context;
    const id = await names.resolve(person, 'app', typed);
    const client = await context.cdn();
    const [app, named] = await Promise.all([client.apps.summary(id), names.find(person, 'app', id)]);
    await rememberUse('app', id, context);
    const asOf = context.now();
    const zones = (findKnownZones(context)?.zones ?? []).filter(({ appId }) => appId === id);
    const message = renderApp({ id, name: named?.name, app, zones, panel: context.panel, asOf });
    const points = app.latencyChart.slice(-mostPoints);
    return {
      asOf,
      shown: points.length,
      total: app.latencyChart.length,
      data: {
        app: id,
        name: named?.name ?? null,
        status: app.status ?? null,
        latency_now: app.currentLatency ?? null,
        latency_average: app.averageLatency ?? null,
        volumes_gb: app.totalVolumeSizeInGb ?? null,
        cost_this_month: app.monthlyCost ?? null,
        latency: points.map(({ at, label, latency }) => ({ at: toIso(at), label, latency })),
      },
      next: toZones(zones),
      message,
    };
  },
});

/** Points of a chart. */
const mostPoints = 48;

export const getUploadScanning = defineTool({
  name: 'get_upload_scanning',
  command: 'scanning',
  title: 'Show upload scanning',
  description:
    'Upload scanning of a shield zone in 28 days: files scanned, requests blocked and logged, a day each.',
  needs: 'read',
  input: z.object({
    shield_zone: z
      .string()
      .regex(/^\d{1,10}$/u)
      .describe('Its ID: a number, which is not the pull zone’s'),
  }),
  data: z.object({
    shield_zone: z.string(),
    files_scanned: number,
    requests_blocked: number,
    requests_logged: number,
    days: z.array(
      z.object({
        day: text,
        label: z.string(),
        files_scanned: number,
        requests_blocked: number,
        requests_logged: number,
      }),
    ),
  }),
  async run({ shield_zone: id }, context: Context) {
    const { uploadScanning } = await context.cdn();
    const [metrics, named] = await Promise.all([
      uploadScanning.metrics(id),
      context.names.find(context.person, 'shield', id),
    ]);
    await rememberUse('shield', id, context);
    const asOf = context.now();
    const message = renderScanning({ id, name: named?.name, metrics, asOf });
    return {
      asOf,
      shown: metrics.days.length,
      total: metrics.days.length,
      data: {
        shield_zone: id,
        files_scanned: metrics.totalFilesScanned ?? null,
        requests_blocked: metrics.totalBlockedRequests ?? null,
        requests_logged: metrics.totalLoggedRequests ?? null,
        days: metrics.days.map((day) => ({
          day: day.day ?? null,
          label: day.label,
          files_scanned: day.filesScanned ?? null,
          requests_blocked: day.blockedRequests ?? null,
          requests_logged: day.loggedRequests ?? null,
        })),
      },
      next: [allZones],
      message,
    };
  },
});
