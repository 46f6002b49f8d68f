import { bandwidthOf, rankAttention, type ZoneSummary } from '../../api/zones/summary.ts';
import type { NotedZone } from '../zones/zone-cache.ts';

/** Zones whose logs are read at once: the log of a day is up to hundreds of megabytes. */
export const mostLogs = 25;
/** Of those, zones that need attention: an account may have hundreds without a certificate. */
const mostAttention = 8;

export interface KnownOfZones {
  readonly channels?: ReadonlySet<string>;
  readonly failing?: ReadonlySet<string>;
  readonly asked?: ReadonlySet<string>;
}

export function listNoted(noted: ReadonlyMap<string, NotedZone> = new Map()) {
  const failing = [...noted].flatMap(([id, { hasErrors }]) => (hasErrors ? [id] : []));
  return { failing: new Set(failing), asked: new Set(noted.keys()) } satisfies KnownOfZones;
}

type Listed = Pick<ZoneSummary, 'id' | 'bandwidthUsed'> & Partial<ZoneSummary>;

/** The zones whose logs are worth reading where there are too many: in need of attention, known to matter, then the busiest. */
export function chooseZones<Zone extends Listed>(
  zones: readonly Zone[],
  { channels, failing, asked }: KnownOfZones = {},
): Zone[] {
  if (zones.length <= mostLogs) return [...zones];
  const busiest = zones.toSorted((a, b) => bandwidthOf(b) - bandwidthOf(a));
  const urgent = busiest.filter((zone) => rankUrgency(zone) > 0);
  const ranked = urgent.toSorted((a, b) => rankUrgency(b) - rankUrgency(a)).slice(0, mostAttention);
  const ids = [asked, failing, channels, new Set(ranked.map(({ id }) => id))];
  const rank = (zone: Zone): number => ids.findLastIndex((some) => some?.has(zone.id));
  return busiest.toSorted((a, b) => rank(b) - rank(a)).slice(0, mostLogs);
}

function rankUrgency(zone: Listed): number {
  return zone.hostnamesWithoutCertificate === undefined ? 0 : rankAttention(zone as ZoneSummary);
}

/** The host of a zone's origin in lower case, typed with or without a scheme; undefined where it has none. */
export function readOriginHost({ originUrl = '' }: Pick<ZoneSummary, 'originUrl'>): string | undefined {
  const url = originUrl.includes('://') ? originUrl : `https://${originUrl}`;
  // A URL takes no zone of an IPv6 address.
  return URL.parse(url.replace(/%[^\]/%]*(?=\])/u, ''))?.hostname.replace(/\.$/u, '') || undefined;
}
