import type { Zone } from '../api/zone.ts';
import { enumeration, factLines, listed, onOff, whole, words } from './facts.ts';
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
    ['Origin host header', words(zone.originHostHeader)],
    ['Storage zone', words(summary.storageZoneId)],
    ['Edge script', scriptOf(zone)],
    ['Middleware script', words(summary.middlewareScriptId)],
    ['App', words(summary.appId)],
    ['Delivers from', regions(zone)],
    ['Addresses', enumeration('IpFamilyPolicy', zone.ipFamilyPolicy)],
    ['Origin retries', retries(zone)],
    ['Origin timeouts', timeouts(zone)],
    ['WebSockets', webSockets(zone)],
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

function retries(zone: Zone): string | undefined {
  if (zone.originRetries === undefined) return undefined;
  return zone.originRetryDelay
    ? `${zone.originRetries}, ${zone.originRetryDelay} s apart`
    : `${zone.originRetries}`;
}

function timeouts(zone: Zone): string | undefined {
  const both = factLines([
    ['connect', whole(zone.originConnectTimeout, ' s')],
    ['response', whole(zone.originResponseTimeout, ' s')],
  ]);
  return both.length > 0 ? both.join(', ') : undefined;
}

function webSockets(zone: Zone): string | undefined {
  const state = onOff(zone.enableWebSockets);
  return zone.enableWebSockets && zone.maxWebSocketConnections
    ? `${state}, at most ${whole(zone.maxWebSocketConnections)}`
    : state;
}
