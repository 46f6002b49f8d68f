import { z } from 'zod';
import { isObject } from '../http/errors.ts';
import { redactUrl } from '../http/paths.ts';

/** The members of a zone that lists show, filter and sum. Absent: not reported. */
export interface ZoneSummary {
  readonly id: string;
  /** Empty if not reported. */
  readonly name: string;
  /** Without user, password and query values; absent also where the service gives a placeholder. */
  readonly originUrl?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly suspended?: boolean | undefined;
  readonly hostnames: readonly string[];
  /** Only the customer's own; the platform manages its own certificates. */
  readonly hostnamesWithoutCertificate: readonly string[];
  /** Bytes this month. */
  readonly bandwidthUsed?: number | undefined;
  /** Bytes per month; absent also if there is no limit: then `isUnlimited`. */
  readonly bandwidthLimit?: number | undefined;
  /** The service says that there is no limit. */
  readonly isUnlimited?: true | undefined;
  /** Of this month so far. */
  readonly charges?: number | undefined;
  readonly storageZoneId?: string | undefined;
  readonly edgeScriptId?: string | undefined;
  readonly middlewareScriptId?: string | undefined;
  readonly appId?: string | undefined;
  /** Settings to find zones by, if it has any; members that are not reported count as fine. */
  readonly weaknesses?: readonly Weakness[] | undefined;
}

/** TLS 1.0 or 1.1 is on, or the TLS profile is Legacy; requests are not logged. */
export type Weakness = 'old-tls' | 'no-logging';

/**
 * Summarizes one raw zone; undefined if it is none. A member of the wrong type counts as not reported. Checked by hand:
 * for 50 000 zones a schema takes as long as parsing them.
 */
export function summarize(raw: unknown): ZoneSummary | undefined {
  if (!isObject(raw)) return undefined;
  const id = readId(raw['Id']);
  if (id === undefined) return undefined;
  const limit = readNumber(raw['MonthlyBandwidthLimit']);
  const hostnames = readHostnames(raw['Hostnames']);
  return {
    id,
    name: readText(raw['Name']) ?? '',
    originUrl: readOrigin(raw),
    enabled: readFlag(raw['Enabled']),
    suspended: readFlag(raw['Suspended']),
    hostnames: listValues(hostnames),
    hostnamesWithoutCertificate: listValues(hostnames.filter(lacksCertificate)),
    bandwidthUsed: readNumber(raw['MonthlyBandwidthUsed']),
    // 0 means unlimited.
    bandwidthLimit: limit !== undefined && limit > 0 ? limit : undefined,
    isUnlimited: limit !== undefined && limit <= 0 ? true : undefined,
    charges: readNumber(raw['MonthlyCharges']),
    storageZoneId: readLink(raw['StorageZoneId']),
    edgeScriptId: readLink(raw['EdgeScriptId']),
    middlewareScriptId: readLink(raw['MiddlewareScriptId']),
    appId: readText(raw['MagicContainersAppId']),
    weaknesses: readWeaknesses(raw),
  };
}

function readOrigin(raw: Readonly<Record<string, unknown>>): string | undefined {
  const url = readText(raw['OriginUrl']);
  return url === undefined || hasPlaceholderOrigin(raw) ? undefined : redactUrl(url);
}

/** Zones of a script (type 4) or an app (5) have an address of the platform as their origin, which serves nothing. */
export function hasPlaceholderOrigin(raw: Readonly<Record<string, unknown>>): boolean {
  return raw['OriginType'] === 4 || raw['OriginType'] === 5;
}

/** TlsSecurityLevelType. */
export const legacyTls = 0;

// One list for each combination: a new one for each zone would cost a megabyte at 50,000.
const weaknesses = [undefined, ['old-tls'], ['no-logging'], ['old-tls', 'no-logging']] as const;

function readWeaknesses(raw: Readonly<Record<string, unknown>>): readonly Weakness[] | undefined {
  const oldTls =
    raw['EnableTLS1'] === true || raw['EnableTLS1_1'] === true || raw['TlsSecurityLevel'] === legacyTls;
  return weaknesses[Number(oldTls) + 2 * Number(raw['EnableLogging'] === false)];
}

type RawHostname = Readonly<Record<string, unknown>> & { readonly Value: string };

function readHostnames(raw: unknown): readonly RawHostname[] {
  return Array.isArray(raw) ? raw.filter(isHostname) : [];
}

function isHostname(raw: unknown): raw is RawHostname {
  return isObject(raw) && readText(raw['Value']) !== undefined;
}

/** The platform manages the certificates of its own hostnames. */
function lacksCertificate(hostname: RawHostname): boolean {
  const isPlatforms = hostname['IsSystemHostname'] === true || hostname['IsManagedHostname'] === true;
  return hostname['HasCertificate'] === false && !isPlatforms;
}

function listValues(hostnames: readonly RawHostname[]): readonly string[] {
  return hostnames.map(({ Value }) => Value);
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function readFlag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function readId(value: unknown): string | undefined {
  // Larger ids are parsed as text (json/lists.ts).
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? value : undefined;
}

/** Null, 0 and -1 mean that nothing is linked. */
function readLink(value: unknown): string | undefined {
  if (typeof value === 'number' && value <= 0) return undefined;
  const id = readId(value);
  return id !== undefined && /^[1-9]/.test(id) ? id : undefined;
}

/** Reasons for which a zone needs attention. */
export type Attention = 'disabled' | 'suspended' | 'near-limit' | 'no-certificate';

/** Share of the bandwidth limit; the CDN disables a zone at its limit. */
const nearLimitShare = 0.8;

/** Every reason, the most urgent first. Members that are not reported count as fine. */
export function attentionReasons(zone: ZoneSummary): Attention[] {
  const { bandwidthUsed: used = 0, bandwidthLimit: limit = Number.POSITIVE_INFINITY } = zone;
  const found: Attention[] = [];
  if (zone.suspended === true) found.push('suspended');
  if (zone.enabled === false) found.push('disabled');
  if (limit > 0 && used > limit * nearLimitShare) found.push('near-limit');
  if (zone.hostnamesWithoutCertificate.length > 0) found.push('no-certificate');
  return found;
}

/** By how urgently a zone needs attention: 0 if it does not. */
export function rankAttention(zone: ZoneSummary): number {
  const { bandwidthUsed: used = 0, bandwidthLimit: limit = Number.POSITIVE_INFINITY } = zone;
  if (zone.suspended === true) return 5;
  if (zone.enabled === false) return 4;
  if (limit > 0 && used >= limit) return 3;
  if (limit > 0 && used > limit * nearLimitShare) return 2;
  return zone.hostnamesWithoutCertificate.length > 0 ? 1 : 0;
}

export type Totals = ReturnType<typeof sumTotals>;

export function sumTotals(zones: readonly ZoneSummary[]) {
  // `…Unreported`: zones that are missing in the sum.
  const totals = {
    zones: zones.length,
    used: 0,
    usedUnreported: 0,
    charges: 0,
    chargesUnreported: 0,
    attention: 0,
    stateUnreported: 0,
  };
  for (const zone of zones) {
    totals.used += zone.bandwidthUsed ?? 0;
    totals.charges += zone.charges ?? 0;
    if (zone.bandwidthUsed === undefined) totals.usedUnreported += 1;
    if (zone.charges === undefined) totals.chargesUnreported += 1;
    if (zone.enabled === undefined) totals.stateUnreported += 1;
    if (rankAttention(zone) > 0) totals.attention += 1;
  }
  return totals;
}

const affectedZonesSchema = z.object({
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
/** The zones that an operation affects: the first of them, and their number. */
export type AffectedZones = z.output<typeof affectedZonesSchema>;

/** Shown before a variable is changed: the zones that run the script, the variable's name if the CDN has told it. */
const variableShownSchema = affectedZonesSchema.extend({ name: z.string().optional() });
export type VariableShown = z.output<typeof variableShownSchema>;

const volumeShownSchema = affectedZonesSchema.extend({
  volumeSizeInGb: z.number().optional(),
  monthlyCost: z.number().optional(),
  summary: z.enum(['read', 'unreadable']),
});
/** Shown before a volume is deleted: the zones that its app serves, the size and cost of its volumes. */
export type VolumeShown = z.output<typeof volumeShownSchema>;

/** Parses stored facts; undefined if they are something else. */
export function readVolumeShown(kept: unknown): VolumeShown | undefined {
  return volumeShownSchema.safeParse(kept).data;
}

export function readVariableShown(kept: unknown): VariableShown | undefined {
  return variableShownSchema.safeParse(kept).data;
}

// The facts are sealed and stored: enough to recognise the zones, and the rest as a number.
const maxZones = 12;
const maxHostnames = 4;
const maxNameLength = 80;

/** The zones as they are shown, sealed and stored. */
export function findAffectedZones(zones: readonly ZoneSummary[]): AffectedZones {
  return {
    zonesTotal: zones.length,
    zones: zones.slice(0, maxZones).map(({ id, name, hostnames }) => ({
      id,
      name: name.slice(0, maxNameLength),
      hostnames: hostnames.slice(0, maxHostnames).map((hostname) => hostname.slice(0, maxNameLength)),
      hostnamesTotal: hostnames.length,
    })),
  };
}
