import { z } from 'zod';
import { attentionReasons, sumTotals, type ZoneSummary } from '../../api/zones/summary.ts';
import { formatCount, pluralize } from '../../views/blocks/format.ts';
import { renderNoZones, renderZoneList } from '../../views/zones/list.ts';
import { listEverything, listParts } from '../../views/zones/parts.ts';
import { type ZoneQuery, zoneFilters, zoneSorts } from '../../views/zones/query.ts';
import { renderZone } from '../../views/zones/zone.ts';
import type { Context } from '../define.ts';
import { loadZoneById } from '../zones/details.ts';
import { loadAllZones } from '../zones/lookup.ts';
import { selectZones } from '../zones/query.ts';
import { findZone, toOriginErrors, toZones, zoneArgument } from './find-zone.ts';
import { defineTool } from './tool.ts';

const text = z.string().nullable();
const number = z.number().nullable();

const zoneData = z.object({
  id: z.string(),
  name: z.string(),
  enabled: z.boolean().nullable(),
  suspended: z.boolean().nullable(),
  needs_attention: z.array(z.string()).describe('Why; empty if it does not'),
  bandwidth_bytes: number.describe('This month'),
  bandwidth_limit_bytes: number.describe('A month; null where there is none or it was not reported'),
  unlimited: z.boolean(),
  charges: number.describe('This month so far, in the currency of the account'),
  hostnames: z.array(z.string()),
  hostnames_total: z.number().int(),
  hostnames_without_certificate: z.number().int(),
  origin: text,
  script: text.describe('Id of the edge script'),
  middleware_script: text,
  app: text.describe('Id of the app'),
  storage_zone: text,
});

/** Zones of a script in one answer, at the edge and as middleware. */
const mostZones = 25;
/** Hostnames of a zone in a list. */
const mostHostnames = 5;

function toData(zone: ZoneSummary): z.input<typeof zoneData> {
  return {
    id: zone.id,
    name: zone.name,
    enabled: zone.enabled ?? null,
    suspended: zone.suspended ?? null,
    needs_attention: attentionReasons(zone),
    bandwidth_bytes: zone.bandwidthUsed ?? null,
    bandwidth_limit_bytes: zone.bandwidthLimit ?? null,
    unlimited: zone.isUnlimited ?? false,
    charges: zone.charges ?? null,
    hostnames: zone.hostnames.slice(0, mostHostnames),
    hostnames_total: zone.hostnames.length,
    hostnames_without_certificate: zone.hostnamesWithoutCertificate.length,
    origin: zone.originUrl ?? null,
    script: zone.edgeScriptId ?? null,
    middleware_script: zone.middlewareScriptId ?? null,
    app: zone.appId ?? null,
    storage_zone: zone.storageZoneId ?? null,
  };
}

const listZones = defineTool({
  name: 'list_zones',
  command: 'zones',
  title: 'List pull zones',
  description:
    'The pull zones that the person’s key sees, with state, bandwidth, charges and what needs attention. Those that need ' +
    'attention come first.',
  needs: 'read',
  input: z.object({
    search: z.string().trim().max(100).optional().describe('A part of a name, hostname or origin'),
    origin: z.string().trim().max(100).optional().describe('A part of the origin’s address'),
    only: z.enum(zoneFilters).optional().describe('Only zones in this state'),
    sort: z.enum(zoneSorts).optional().describe('attention if left out'),
    limit: z.number().int().min(1).max(50).optional().describe('How many to list; 20 if left out'),
  }),
  data: z.object({ zones: z.array(zoneData) }),
  async run({ search = '', origin, only, sort = 'attention', limit = 20 }, context: Context) {
    context.zoneCache.forPerson(context.person).expire();
    const { zones: all, skipped, takenAt } = await loadAllZones(context);
    const query: ZoneQuery = { search, only, sort, carried: origin ? { origin } : {} };
    const zones = selectZones(all, query);
    const [account, totals, { panel }] = [all.length, sumTotals(zones), context];
    const message =
      zones.length === 0
        ? renderNoZones(query, account, [])
        : renderZoneList({ zones, query, totals, account, skipped, takenAt, offer: undefined, panel });
    const shown = zones.slice(0, limit);
    return {
      asOf: takenAt,
      warnings: [
        skipped > 0 &&
          `${formatCount(skipped, 'zone could not be read and is', 'zones could not be read and are')} left out.`,
      ],
      shown: shown.length,
      total: zones.length,
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
    'One pull zone: its state, bandwidth, charges and every setting that is no secret. Keys and tokens are never told.',
  needs: 'read',
  input: z.object({ zone: zoneArgument() }),
  data: z.object({
    zone: zoneData,
    settings: z.array(z.object({ setting: z.string(), value: z.string() })),
  }),
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
    'The pull zones that run an edge script, at the edge or as middleware. Values of variables are never told.',
  needs: 'read',
  input: z.object({ script: z.string().trim().min(1).max(100).describe('Its ID, or its name here') }),
  data: z.object({ script: z.string(), runs_on: z.array(zoneData), middleware_of: z.array(zoneData) }),
  async run({ script: typed }, context: Context) {
    const id = await context.names.resolve(context.person, 'script', typed);
    const { zones, takenAt } = await loadAllZones(context);
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
      shown: runs_on.length + middleware_of.length,
      total,
      data: { script: id, runs_on, middleware_of },
      next: toZones([...runsOn, ...middlewareOf]),
    };
  },
});

export const zoneTools = { listZones, getZone, getScript };
