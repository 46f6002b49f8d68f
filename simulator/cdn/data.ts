import { generateApiKeys } from './api-keys.ts';
import { generateApps } from './apps.ts';
import { generateEventLogSettings } from './event-logs.ts';
import type { CdnData } from './model.ts';
import { generateOriginErrors } from './origin-errors.ts';
import { generateShieldZones } from './upload-scanning.ts';
import { generateScripts } from './variables.ts';
import type { PullZone } from './zone-fields.ts';
import { generateZone } from './zones.ts';

const frozenAbove = 2000;

// A lean service's answer; about 1.1 kB a zone instead of 6.
const fewMembers = [
  'Id',
  'Name',
  'OriginUrl',
  'Enabled',
  'Suspended',
  'Hostnames',
  'StorageZoneId',
  'EdgeScriptId',
  'MiddlewareScriptId',
  'MagicContainersAppId',
  'MonthlyBandwidthLimit',
  'MonthlyBandwidthUsed',
  'MonthlyCharges',
  'Type',
  'ZoneSecurityKey',
  'EdgeRules',
] as const satisfies readonly (keyof PullZone)[];

function generateZones(count: number, members: 'all' | 'few'): PullZone[] {
  return Array.from({ length: count }, (_, index) => {
    const whole = generateZone(index);
    // A service that leaves members out is what `few` is for, so the type is knowingly too generous here.
    const zone =
      members === 'all'
        ? whole
        : (Object.fromEntries(fewMembers.map((name) => [name, whole[name]])) as PullZone);
    return count > frozenAbove ? frozen(zone) : zone;
  });
}

// Frozen, so that a test's change that would not reach the wire throws.
function frozen(zone: PullZone): PullZone {
  for (const part of [...(zone.Hostnames ?? []), ...(zone.EdgeRules ?? [])]) Object.freeze(part);
  Object.freeze(zone.Hostnames);
  Object.freeze(zone.EdgeRules);
  return Object.freeze(zone);
}

/** A generated world, with the given parts in place of its own. */
export function createData(options: {
  zones: number;
  zoneMembers: 'all' | 'few';
  key: string;
  restrictedKey: string;
  data: Partial<CdnData>;
}): CdnData {
  const { data, key, restrictedKey } = options;
  return {
    zones: data.zones ?? generateZones(options.zones, options.zoneMembers),
    accessKeys:
      data.accessKeys ??
      new Map([
        [key, 'full'],
        [restrictedKey, 'restricted'],
      ]),
    apiKeys: data.apiKeys ?? generateApiKeys(key, restrictedKey),
    scripts: data.scripts ?? generateScripts(),
    originErrors: data.originErrors ?? generateOriginErrors(),
    apps: data.apps ?? generateApps(),
    shieldZones: data.shieldZones ?? generateShieldZones(),
    uploadScanning: data.uploadScanning ?? { errorOnSuccess: 'null', refusalStatus: 200 },
    eventLogs: data.eventLogs ?? generateEventLogSettings(),
    unauthorized: data.unauthorized ?? { core: 'message', shield: 'problem' },
    volumeDeletions: data.volumeDeletions ?? [],
  };
}
