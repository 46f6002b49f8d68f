import { pullZoneModel } from './model.ts';
import type { Zone } from './zone.ts';

/**
 * A zone as the service writes it: its names, the specification's order, null where nothing was reported. Secrets are
 * not in it, since they never got into a `Zone`; ids are texts, so that no reader rounds them.
 */
export function zoneAsSent(zone: Zone): Record<string, unknown> {
  const { summary: _, ...members } = zone;
  const named = wireNames(members) as Record<string, unknown>;
  const names = Object.keys(pullZoneModel).filter((name) => !secrets.has(name));
  return Object.fromEntries(names.map((name) => [name, named[name] ?? null]));
}

const secrets = new Set(['ZoneSecurityKey', 'AWSSigningKey', 'AWSSigningSecret', 'LogForwardingToken']);

function wireNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      // The names in there are people's own.
      if (name === 'properties') return ['Properties', member];
      return [name.replace(/^(?:aws|euus|.)/u, (start) => start.toUpperCase()), wireNames(member)];
    }),
  );
}
