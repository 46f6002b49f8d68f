import type { Zone } from '../api/zone.ts';
import { enumeration, factLines, listed, words } from './facts.ts';
import { money } from './numbers.ts';
import { code, foreign } from './text.ts';
import { stateOf, usage } from './zones.ts';

/** Where it comes from, what it is linked to, what it cost. */
export function overview(zone: Zone): string[] {
  const { summary } = zone;
  return factLines([
    ['State', stateOf(summary)],
    ['This month', usage(summary)],
    ['Charges so far', summary.charges === undefined ? undefined : money(summary.charges)],
    ['Tier', enumeration('PullZoneType', zone.type)],
    ['Origin', originOf(zone)],
    ['Storage zone', words(summary.storageZoneId)],
    ['Edge script', scriptOf(zone)],
    ['Middleware script', words(summary.middlewareScriptId)],
    ['App', words(summary.appId)],
    ['Delivers from', regions(zone)],
    ['Addresses', enumeration('IpFamilyPolicy', zone.ipFamilyPolicy)],
  ]);
}

function originOf(zone: Zone): string | undefined {
  const kind = enumeration('PullZoneOriginType', zone.originType);
  const url = zone.summary.originUrl ? code(zone.summary.originUrl, 150) : undefined;
  return url && kind && kind !== 'OriginUrl' ? `${url} (${kind})` : (url ?? kind);
}

function scriptOf(zone: Zone): string | undefined {
  const { edgeScriptId } = zone.summary;
  if (edgeScriptId === undefined) return undefined;
  const phase = enumeration('ExecutionPhase', zone.edgeScriptExecutionPhase);
  return phase ? `${foreign(edgeScriptId)} (${phase})` : foreign(edgeScriptId);
}

function regions(zone: Zone): string | undefined {
  const all = [
    ['North America', zone.enableGeoZoneUS],
    ['Europe', zone.enableGeoZoneEU],
    ['Asia and Oceania', zone.enableGeoZoneASIA],
    ['South America', zone.enableGeoZoneSA],
    ['Africa', zone.enableGeoZoneAF],
  ] as const;
  if (all.every(([, on]) => on === undefined)) return undefined;
  return listed(all.flatMap(([name, on]) => (on === true ? [name] : [])));
}
