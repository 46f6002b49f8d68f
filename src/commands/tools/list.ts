import { z } from 'zod';
import { attentionReasons, sumTotals, type ZoneSummary } from '../../api/zones/summary.ts';
import { renderApp } from '../../views/apps.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { rollBack } from '../../views/blocks/period.ts';
import { capitalize } from '../../views/blocks/text.ts';
import { renderScanning } from '../../views/upload-scanning.ts';
import { compareZones as compareRows, renderChanges, renderComparison } from '../../views/zones/changes.ts';
import {
  describeSkipped,
  describeUnknown,
  describeUnreported,
  renderNoZones,
  renderZoneList,
  type ZoneQuery,
  zoneFilters,
  zoneSorts,
} from '../../views/zones/list.ts';
import { describeChange, nameChange } from '../../views/zones/settings.ts';
import { listEverything, listParts, renderZone } from '../../views/zones/zone.ts';
import { readApp } from '../apps.ts';
import type { Context } from '../define.ts';
import { readScanning } from '../upload-scanning.ts';
import { readChanges, readTwoZones } from '../zones/changes.ts';
import { loadAllZones } from '../zones/lookup.ts';
import { selectZones } from '../zones/query.ts';
import { loadZoneById } from '../zones/zones.ts';
import { listOriginErrors } from './origin-errors.ts';
import { getRequest, listMyRequests, proposeVariableChange, proposeVolumeDeletion } from './requests.ts';
import type { Tool, ToolCall, ToolRefusal } from './tool.ts';
import { allZones, defineTool, findZone, toDate, toOriginErrors, toZones, zoneArgument } from './tool.ts';

const warnOfSkipped = (zones: number) => zones > 0 && capitalize(`${describeSkipped(zones)}.`);

/** Zones of a script in one answer, at the edge and as middleware. */
const mostZones = 25;
const mostHostnames = 5;

function toData(zone: ZoneSummary) {
  return {
    id: zone.id,
    name: zone.name,
    enabled: zone.enabled,
    suspended: zone.suspended,
    needs_attention: attentionReasons(zone),
    bandwidth_bytes: zone.bandwidthUsed,
    bandwidth_limit_bytes: zone.bandwidthLimit,
    unlimited: zone.isUnlimited ?? (zone.bandwidthLimit === undefined ? undefined : false),
    charges: zone.charges,
    hostnames: zone.hostnames.slice(0, mostHostnames),
    hostnames_total: zone.hostnames.length,
    hostnames_without_certificate:
      zone.hostnamesWithoutCertificate.length || (zone.isCertificateUnreported ? undefined : 0),
    origin: zone.originUrl,
    script: zone.edgeScriptId,
    middleware_script: zone.middlewareScriptId,
    app: zone.appId,
    storage_zone: zone.storageZoneId,
  };
}

const listZones = defineTool({
  name: 'list_zones',
  command: 'zones',
  title: 'List pull zones',
  description:
    'The pull zones that the person’s key sees, with state, bandwidth, charges and what needs attention. Those that need ' +
    'attention come first.',
  input: z.object({
    search: z.string().trim().max(100).optional().describe('A part of a name, hostname or origin'),
    origin: z.string().trim().max(100).optional().describe('A part of the origin’s address'),
    only: z.enum(zoneFilters).optional().describe('Only zones in this state'),
    sort: z.enum(zoneSorts).optional().describe('attention if left out'),
    limit: z.number().int().min(1).max(50).optional().describe('How many to list; 20 if left out'),
  }),
  async run({ search = '', origin, only, sort = 'attention', limit = 20 }, context: Context) {
    context.zoneCache.forPerson(context.person).expire();
    const { zones: all, skipped, takenAt } = await loadAllZones(context);
    const query: ZoneQuery = { search, only, sort, carried: origin ? { origin } : {} };
    const { zones, unknown } = selectZones(all, query);
    const totals = sumTotals(zones);
    const about = { account: all.length, skipped, unknown };
    const message =
      zones.length === 0
        ? renderNoZones(query, about)
        : renderZoneList({ ...about, zones, query, totals, takenAt, panel: context.panel });
    const shown = zones.slice(0, limit);
    return {
      asOf: takenAt,
      warnings: [
        warnOfSkipped(skipped),
        unknown > 0 && capitalize(`${describeUnknown(unknown)}.`),
        capitalize(describeUnreported(totals)) || false,
      ],
      counts: [shown.length, zones.length],
      data: { zones: shown.map(toData) },
      next: toZones(shown),
      message,
    };
  },
});

const getZone = defineTool({
  name: 'get_zone',
  command: 'zone',
  title: 'Show a pull zone',
  description:
    'One pull zone: its state, bandwidth, charges and every setting that is not a secret. Keys and tokens are never included.',
  input: z.object({ zone: zoneArgument() }),
  async run({ zone: typed }, context: Context) {
    const found = await findZone(typed, context);
    const zone = await loadZoneById(found.id, context);
    const asOf = context.now();
    const settings = listEverything(listParts(zone)).rows.map(([setting = '', ...rest]) => ({
      setting,
      value: rest.join(' · '),
    }));
    const message = renderZone({ zone, asOf, panel: context.panel });
    const { id } = zone.summary;
    return {
      asOf,
      data: { zone: toData(zone.summary), settings },
      next: [
        toOriginErrors(zone.summary),
        { label: 'Changed settings', tool: 'list_zone_changes', arguments: { zone: id } },
      ],
      message,
    };
  },
});

const getScript = defineTool({
  name: 'get_script',
  command: 'script',
  title: 'Show the zones of an edge script',
  description:
    'The pull zones that run an edge script, at the edge or as middleware. Values of variables are never included.',
  input: z.object({ script: z.string().trim().min(1).max(100).describe('Its ID, or its name here') }),
  async run({ script: typed }, context: Context) {
    const id = await context.names.resolve(context.person, 'script', typed);
    const { zones, skipped, takenAt } = await loadAllZones(context);
    const runsOn = zones.filter(({ edgeScriptId }) => edgeScriptId === id);
    const middlewareOf = zones.filter(({ middlewareScriptId }) => middlewareScriptId === id);
    const total = runsOn.length + middlewareOf.length;
    const runs_on = runsOn.slice(0, mostZones).map(toData);
    const middleware_of = middlewareOf.slice(0, mostZones).map(toData);
    return {
      summary:
        total === 0
          ? `No zone that this key sees runs script ${id}.`
          : `${pluralize(runsOn.length, 'zone runs', 'zones run')} the script ${id}, ${pluralize(middlewareOf.length, 'zone uses', 'zones use')} it as middleware.`,
      asOf: takenAt,
      warnings: [warnOfSkipped(skipped)],
      counts: [runs_on.length + middleware_of.length, total],
      data: { script: id, runs_on, middleware_of },
      next: toZones([...runsOn, ...middlewareOf]),
    };
  },
});

const mostChanges = 50;

const listZoneChanges = defineTool({
  name: 'list_zone_changes',
  command: 'changes',
  title: 'List changed settings',
  description:
    'What changed in the settings of one pull zone or of all, before and after. Settings are compared with those of earlier checks.',
  input: z.object({
    zone: zoneArgument().optional(),
    days: z.number().int().min(1).max(30).optional().describe('How far back; 7 if left out'),
  }),
  async run({ zone: typed, days = 7 }, context: Context) {
    const zone = typed === undefined ? undefined : await findZone(typed, context);
    const shown = await readChanges(rollBack(days * 24 * 60, context.now()), zone, context);
    const { look, total, asOf } = shown;
    const changes = shown.changes.slice(0, mostChanges);
    return {
      asOf,
      warnings: [warnOfSkipped(look.skipped)],
      counts: [changes.length, total],
      data: {
        recorded_since: look.since,
        zones_compared: look.zones,
        zones_without_earlier_look: look.first,
        changes: changes.map((change) => ({
          zone: change.zoneId,
          zone_name: change.zoneName,
          setting: nameChange(change),
          change: describeChange(change),
          found_at: change.at,
        })),
      },
      next: zone
        ? [toOriginErrors(zone)]
        : toZones(changes.map(({ zoneId: id, zoneName: name }) => ({ id, name }))),
      message: renderChanges(shown),
    };
  },
});

const compareZones = defineTool({
  name: 'compare_zones',
  command: 'compare',
  title: 'Compare two pull zones',
  description:
    'The settings in which two pull zones differ. For keys and tokens, only whether they are the same.',
  input: z.object({ one: zoneArgument(), other: zoneArgument() }),
  async run({ one, other }, context: Context) {
    const zones = await readTwoZones(
      [await findZone(one, context, 'one'), await findZone(other, context, 'other')],
      context,
    );
    const asOf = context.now();
    const rows = compareRows(zones);
    const differing = rows.filter(({ isSame }) => !isSame);
    const message = renderComparison(zones, false, asOf);
    return {
      asOf,
      counts: [differing.length, differing.length],
      data: {
        one: zones[0].name || zones[0].id,
        other: zones[1].name || zones[1].id,
        same: rows.length - differing.length,
        differing: differing.map(({ name, values }) => ({ setting: name, one: values[0], other: values[1] })),
      },
      next: toZones(zones),
      message,
    };
  },
});

const getApp = defineTool({
  name: 'get_app',
  command: 'app',
  title: 'Show an app',
  description:
    'Usage of an app: latency now and on average (the service names no unit), cost of the month in the currency of the ' +
    'account, size of its volumes, its state.',
  input: z.object({ app: z.string().trim().min(1).max(100).describe('Its ID, or its name here') }),
  async run({ app: typed }, context: Context) {
    const id = await context.names.resolve(context.person, 'app', typed);
    const found = await readApp(id, context);
    const { app, name, zones = [], asOf } = found;
    const points = app.latencyChart.slice(-mostPoints);
    return {
      asOf,
      counts: [points.length, app.latencyChart.length],
      data: {
        app: id,
        name,
        status: app.status,
        latency_now: app.currentLatency,
        latency_average: app.averageLatency,
        volumes_gb: app.totalVolumeSizeInGb,
        cost_this_month: app.monthlyCost,
        latency: points.map(({ at, label, latency }) => ({ at: toDate(at), label, latency })),
      },
      next: toZones(zones),
      message: renderApp(found),
    };
  },
});

const mostPoints = 48;

const getUploadScanning = defineTool({
  name: 'get_upload_scanning',
  command: 'scanning',
  title: 'Show upload scanning',
  description:
    'Upload scanning of a shield zone in 28 days: files scanned, requests blocked and logged, day by day.',
  input: z.object({
    shield_zone: z
      .string()
      .regex(/^\d{1,10}$/u)
      .describe('Its ID: a number, which is not the pull zone’s'),
  }),
  async run({ shield_zone: id }, context: Context) {
    const found = await readScanning(id, context);
    const { metrics, asOf } = found;
    return {
      asOf,
      counts: [metrics.days.length, metrics.days.length],
      data: {
        shield_zone: id,
        files_scanned: metrics.totalFilesScanned,
        requests_blocked: metrics.totalBlockedRequests,
        requests_logged: metrics.totalLoggedRequests,
        days: metrics.days.map((day) => ({
          day: day.day,
          label: day.label,
          files_scanned: day.filesScanned,
          requests_blocked: day.blockedRequests,
          requests_logged: day.loggedRequests,
        })),
      },
      next: [allZones],
      message: renderScanning(found),
    };
  },
});

/** In the order in which assistants see them, the same for every person. */
export const tools: readonly Tool[] = [
  listZones,
  getZone,
  listOriginErrors,
  getApp,
  getScript,
  getUploadScanning,
  listZoneChanges,
  compareZones,
  listMyRequests,
  getRequest,
  proposeVolumeDeletion,
  proposeVariableChange,
];

const typedCommand = /\/cdn ([a-z]+(?: [^\s`.,;:]+)*)/gu;
const mostNext = 3;

/**
 * For a model: typed commands of the hint become tools, with calls that help. None where only a person can do
 * something.
 */
export function adviseModel(
  { hint = '', offer, isTransient }: Pick<Failure, 'hint' | 'offer' | 'isTransient'>,
  failed: {
    readonly tool: Tool;
    readonly given: ToolCall['arguments'];
    readonly instead: ToolRefusal['instead'];
  },
): { readonly hint: string; readonly next: readonly ToolCall[] } {
  const { tool, given, instead } = failed;
  const others = isTransient && instead.length === 0 ? [{}] : instead;
  if (others.length > 0)
    return { hint, next: others.map((other) => ({ tool: tool.name, arguments: { ...given, ...other } })) };
  if (typeof offer === 'string') return { hint, next: [] };
  const named = [...hint.matchAll(typedCommand)].map(([, words = '']) => words);
  const typed = [...(offer ?? []).map(({ types }) => types), ...named];
  const calls = typed.flatMap((words) => toToolCall(words) ?? []);
  const source = { tool: tool.source ?? 'list_zones', arguments: {} };
  const next = new Map((calls.length > 0 ? calls : [source]).map((call) => [JSON.stringify(call), call]));
  return {
    hint: hint.replaceAll(typedCommand, (whole, words: string) => toToolCall(words)?.tool ?? whole),
    next: [...next.values()].slice(0, mostNext),
  };
}

/** Undefined where no tool can. */
function toToolCall(typed: string): ToolCall | undefined {
  const [command, ...words] = typed.split(' ');
  for (const { name: tool, command: own, input } of tools) {
    const [first] = Object.keys(input.shape);
    const given = first !== undefined && words.length > 0 ? { [first]: words.join(' ') } : {};
    if (own === command && input.safeParse(given).success) return { tool, arguments: given };
  }
  return undefined;
}
