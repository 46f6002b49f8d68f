import { z } from 'zod';
import { dayMs } from '../../lib/time.ts';
import { renderChanges } from '../../views/zones/changes.ts';
import { compareZones as compareRows, renderComparison } from '../../views/zones/compare.ts';
import { describeChange, nameChange } from '../../views/zones/setting-changes.ts';
import type { Context } from '../define.ts';
import { readTwoZones } from '../zones/compare.ts';
import { findZone, toOriginErrors, toZones, zoneArgument } from './find-zone.ts';
import { defineTool, toIso } from './tool.ts';

/** Changes in one answer. */
const mostChanges = 50;

export const listZoneChanges = defineTool({
  name: 'list_zone_changes',
  command: 'changes',
  title: 'List changed settings',
  description:
    'What changed in the settings of one pull zone or of all, before and after. Settings are compared now and at earlier looks.',
  needs: 'read',
  input: z.object({
    zone: zoneArgument().optional(),
    days: z.number().int().min(1).max(30).optional().describe('How far back; 7 if left out'),
  }),
  data: z.object({
    recorded_since: z.string().nullable().describe('Earlier changes are not known'),
    zones_compared: z.number().int(),
    zones_without_earlier_look: z.number().int(),
    changes: z.array(
      z.object({
        zone: z.string(),
        zone_name: z.string(),
        setting: z.string(),
        change: z.string(),
        found_at: z.string().nullable(),
      }),
    ),
  }),
  async run({ zone: typed, days = 7 }, context: Context) {
    const { person, settingsHistory } = context;
    const zone = typed === undefined ? undefined : await findZone(typed, context);
    const look = await settingsHistory.look(person, await context.cdn(), zone && [zone]);
    const asOf = context.now();
    const from = new Date(asOf.getTime() - days * dayMs);
    const found = await settingsHistory.list(person, { from, zones: zone && [zone.id], most: mostChanges });
    const message = renderChanges({
      ...found,
      look,
      zone,
      period: `${days}d`,
      from,
      until: undefined,
      asOf,
      panel: context.panel,
    });
    return {
      asOf,
      shown: found.changes.length,
      total: found.total,
      data: {
        recorded_since: toIso(look.since),
        zones_compared: look.zones,
        zones_without_earlier_look: look.first,
        changes: found.changes.map((change) => ({
          zone: change.zoneId,
          zone_name: change.zoneName,
          setting: nameChange(change),
          change: describeChange(change),
          found_at: toIso(change.at),
        })),
      },
      next: zone
        ? [toOriginErrors(zone)]
        : toZones(found.changes.map(({ zoneId: id, zoneName: name }) => ({ id, name }))),
      message,
    };
  },
});

export const compareZones = defineTool({
  name: 'compare_zones',
  command: 'compare',
  title: 'Compare two pull zones',
  description:
    'The settings in which two pull zones differ. Of keys and tokens only whether they are the same.',
  needs: 'read',
  input: z.object({ one: zoneArgument(), other: zoneArgument() }),
  data: z.object({
    one: z.string(),
    other: z.string(),
    same: z.number().int().describe('Settings that are the same'),
    differing: z.array(z.object({ setting: z.string(), one: z.string(), other: z.string() })),
  }),
  async run({ one, other }, context: Context) {
    const zones = await readTwoZones(
      [await findZone(one, context, 'one'), await findZone(other, context, 'other')],
      context,
    );
    const asOf = context.now();
    const rows = compareRows(zones);
    const differing = rows.filter(({ isSame }) => !isSame);
    const message = renderComparison({ zones, all: false, asOf });
    return {
      asOf,
      shown: differing.length,
      total: differing.length,
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
