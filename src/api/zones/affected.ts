import { z } from 'zod';
import type { ZoneSummary } from './summary.ts';

const variableShown = z.object({
  zonesTotal: z.number(),
  zones: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      hostnames: z.array(z.string()),
      hostnamesTotal: z.number(),
    }),
  ),
});
/** The zones that something would touch: the first of them, and how many there are. */
export type AffectedZones = z.output<typeof variableShown>;

/** What is shown before a variable is changed: the zones that run the script. */
export type VariableShown = AffectedZones;

const volumeShown = variableShown.extend({
  volumeSizeInGb: z.number().optional(),
  monthlyCost: z.number().optional(),
  summary: z.enum(['read', 'unreadable']),
});
/** What is shown before a volume is deleted: the zones its app serves, and what its volumes hold and cost. */
export type VolumeShown = z.output<typeof volumeShown>;

/** What was shown, as it comes back from where it was kept; undefined where that is something else. */
export function readVolumeShown(kept: unknown): VolumeShown | undefined {
  return volumeShown.safeParse(kept).data;
}

export function readVariableShown(kept: unknown): VariableShown | undefined {
  return variableShown.safeParse(kept).data;
}

// What is shown is sealed and kept: enough to recognise what hangs on it, and the rest as a number.
const mostZones = 12;
const mostHostnames = 4;
const longestName = 80;

/** Those zones as they are shown, sealed and kept. */
export function findAffectedZones(zones: readonly ZoneSummary[]): AffectedZones {
  return {
    zonesTotal: zones.length,
    zones: zones.slice(0, mostZones).map(({ id, name, hostnames }) => ({
      id,
      name: name.slice(0, longestName),
      hostnames: hostnames.slice(0, mostHostnames).map((hostname) => hostname.slice(0, longestName)),
      hostnamesTotal: hostnames.length,
    })),
  };
}
