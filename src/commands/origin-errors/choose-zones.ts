import { bandwidthOf } from '../../api/zones/bandwidth.ts';
import { rankAttention, type ZoneSummary } from '../../api/zones/summary.ts';

/** Zones whose logs are read at once: the log of a day is up to hundreds of megabytes. */
export const mostLogs = 25;
/** Of those, zones that need attention: an account may have hundreds without a certificate. */
const mostAttention = 8;

export interface KnownOfZones {
  /** Zones that had errors when they were read last. */
  readonly failing?: ReadonlySet<string>;
  /** Zones that somebody asked about lately, and that of the channel. */
  readonly asked?: ReadonlySet<string>;
}

type Listed = Pick<ZoneSummary, 'id' | 'bandwidthUsed'> & Partial<ZoneSummary>;

/**
 * The zones whose logs are worth reading where there are too many: those with errors at the last reading, those asked about,
 * those that need attention, then the busiest. One pass: sorting 50,000 zones holds up the event loop.
 */
export function chooseZones<Zone extends Listed>(
  zones: readonly Zone[],
  { failing, asked }: KnownOfZones = {},
): Zone[] {
  if (zones.length <= mostLogs) return [...zones];
  const rank = (zone: Zone): number =>
    failing?.has(zone.id) ? 3 : asked?.has(zone.id) ? 2 : needsAttention(zone) ? 1 : 0;
  const groups: Zone[][] = [[], [], [], []];
  for (const zone of zones) {
    const group = groups[rank(zone)] as Zone[];
    insertByBandwidth(group, zone);
  }
  const [busiest = [], attention = [], opened = [], errors = []] = groups;
  const first = [...errors, ...opened, ...attention.slice(0, mostAttention)].slice(0, mostLogs);
  const rest = [...busiest, ...attention.slice(mostAttention)].toSorted(
    (a, b) => bandwidthOf(b) - bandwidthOf(a),
  );
  return [...first, ...rest].slice(0, mostLogs);
}

function needsAttention(zone: Listed): boolean {
  return zone.hostnamesWithoutCertificate !== undefined && rankAttention(zone as ZoneSummary) > 0;
}

/** Keeps the busiest, the most bandwidth first. */
function insertByBandwidth<Zone extends Listed>(group: Zone[], zone: Zone): void {
  if (group.length >= mostLogs && bandwidthOf(zone) <= bandwidthOf(group.at(-1))) return;
  const at = group.findIndex((other) => bandwidthOf(other) < bandwidthOf(zone));
  group.splice(at === -1 ? group.length : at, 0, zone);
  if (group.length > mostLogs) group.pop();
}
