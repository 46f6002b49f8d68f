import type { With } from '../define.ts';
import { loadAllZones } from '../zones/lookup.ts';

interface Targets {
  readonly zones?: readonly string[];
  readonly apps?: readonly string[];
  readonly shieldZones?: readonly string[];
}

/** The names of chosen zones, apps and shield zones by id. What cannot be read now is called by its id. */
export async function findNames(
  { zones = [], apps = [], shieldZones = [] }: Targets,
  context: With<'names' | 'zoneCache'>,
): Promise<Readonly<Record<string, string>>> {
  const { names, person } = context;
  const [all, knownApps, knownShields] = await Promise.all([
    zones.length === 0
      ? []
      : loadAllZones(context).then(
          (list) => list.zones,
          () => [],
        ),
    apps.length === 0 ? [] : names.known(person, 'app'),
    shieldZones.length === 0 ? [] : names.known(person, 'shield'),
  ]);
  const chosen = new Set([...zones, ...apps, ...shieldZones]);
  const named = [...all, ...knownApps, ...knownShields].flatMap(({ id, name }) =>
    name !== undefined && chosen.has(id) ? [[id, name] as const] : [],
  );
  return Object.fromEntries(named);
}
