import type { Zone } from '../../api/zones/zone.ts';
import { describeEnum, humanize, joinList, renderFields } from '../blocks/fields.ts';
import { formatMoney } from '../blocks/numbers.ts';
import { escapeMrkdwn, formatCode } from '../blocks/text.ts';
import { describeState, renderUsage } from './list.ts';

/** Where it comes from, what it is linked to, what it cost. */
export function renderOverview(zone: Zone): string[] {
  const { summary } = zone;
  return renderFields([
    ['State', describeState(summary)],
    ['This month', renderUsage(summary)],
    ['Charges so far', summary.charges === undefined ? undefined : formatMoney(summary.charges)],
    ['Tier', describeEnum('PullZoneType', zone.type)],
    ['Origin', originOf(zone)],
    ['Storage zone', humanize(summary.storageZoneId)],
    ['Edge script', scriptOf(zone)],
    ['Middleware script', humanize(summary.middlewareScriptId)],
    ['App', humanize(summary.appId)],
    ['Delivers from', regions(zone)],
    ['Addresses', describeEnum('IpFamilyPolicy', zone.ipFamilyPolicy)],
  ]);
}

function originOf(zone: Zone): string | undefined {
  const kind = describeEnum('PullZoneOriginType', zone.originType);
  const url = zone.summary.originUrl ? formatCode(zone.summary.originUrl, 150) : undefined;
  return url && kind && kind !== 'OriginUrl' ? `${url} (${kind})` : (url ?? kind);
}

function scriptOf(zone: Zone): string | undefined {
  const { edgeScriptId } = zone.summary;
  if (edgeScriptId === undefined) return undefined;
  const phase = describeEnum('ExecutionPhase', zone.edgeScriptExecutionPhase);
  return phase ? `${escapeMrkdwn(edgeScriptId)} (${phase})` : escapeMrkdwn(edgeScriptId);
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
  return joinList(all.flatMap(([name, on]) => (on === true ? [name] : [])));
}
