import { z } from 'zod';
import { redactUrl } from '../http/redact.ts';

/** The members of a zone that lists show, filter and sum. Absent: not reported. */
export interface ZoneSummary {
  readonly id: string;
  /** Empty if not reported. */
  readonly name: string;
  /** Without user, password and query values. */
  readonly originUrl?: string;
  readonly enabled?: boolean;
  readonly suspended?: boolean;
  readonly hostnames: readonly string[];
  /** Only the customer's own; the platform manages its own certificates. */
  readonly hostnamesWithoutCertificate: readonly string[];
  /** Bytes this month. */
  readonly bandwidthUsed?: number;
  /** Bytes per month; absent also if there is no limit. */
  readonly bandwidthLimit?: number;
  /** Of this month so far. */
  readonly charges?: number;
  readonly storageZoneId?: string;
  readonly edgeScriptId?: string;
  readonly middlewareScriptId?: string;
  readonly appId?: string;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Summarizes one raw zone; undefined if it is none. A member of the wrong type counts as not reported. Checked by hand:
 * for 50 000 zones a schema takes as long as parsing them.
 */
export function summarize(raw: unknown): ZoneSummary | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  const zone = raw as Readonly<Record<string, unknown>>;
  const id = readId(zone['Id']);
  if (id === undefined) return undefined;

  const summary: Writable<ZoneSummary> = {
    id,
    name: '',
    hostnames: noHostnames,
    hostnamesWithoutCertificate: noHostnames,
  };
  const name = zone['Name'];
  if (typeof name === 'string') summary.name = name;
  const originUrl = zone['OriginUrl'];
  if (typeof originUrl === 'string') summary.originUrl = redactUrl(originUrl);
  const enabled = zone['Enabled'];
  if (typeof enabled === 'boolean') summary.enabled = enabled;
  const suspended = zone['Suspended'];
  if (typeof suspended === 'boolean') summary.suspended = suspended;
  const used = zone['MonthlyBandwidthUsed'];
  if (typeof used === 'number') summary.bandwidthUsed = used;
  const limit = zone['MonthlyBandwidthLimit'];
  // 0 means unlimited.
  if (typeof limit === 'number' && limit > 0) summary.bandwidthLimit = limit;
  const charges = zone['MonthlyCharges'];
  if (typeof charges === 'number') summary.charges = charges;
  const storageZoneId = readLink(zone['StorageZoneId']);
  if (storageZoneId) summary.storageZoneId = storageZoneId;
  const edgeScriptId = readLink(zone['EdgeScriptId']);
  if (edgeScriptId) summary.edgeScriptId = edgeScriptId;
  const middlewareScriptId = readLink(zone['MiddlewareScriptId']);
  if (middlewareScriptId) summary.middlewareScriptId = middlewareScriptId;
  const appId = zone['MagicContainersAppId'];
  if (typeof appId === 'string' && appId !== '') summary.appId = appId;
  readHostnames(zone['Hostnames'], summary);
  return summary;
}

// One empty list for all zones: most have no hostname without a certificate.
const noHostnames: readonly string[] = [];

function readHostnames(raw: unknown, summary: Writable<ZoneSummary>): void {
  if (!Array.isArray(raw) || raw.length === 0) return;
  const values: string[] = [];
  let without: string[] | undefined;
  for (const one of raw as readonly unknown[]) {
    if (typeof one !== 'object' || one === null) continue;
    const hostname = one as Readonly<Record<string, unknown>>;
    const value = hostname['Value'];
    if (typeof value !== 'string' || value === '') continue;
    values.push(value);
    const isPlatforms = hostname['IsSystemHostname'] === true || hostname['IsManagedHostname'] === true;
    if (hostname['HasCertificate'] === false && !isPlatforms) (without ??= []).push(value);
  }
  // A copy: a list that was pushed to reserves room for 17 elements, in each of 50,000 zones.
  summary.hostnames = values.slice();
  if (without) summary.hostnamesWithoutCertificate = without;
}

function readId(value: unknown): string | undefined {
  // Larger ids are parsed as text (http/bodies.ts).
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? value : undefined;
}

/** Null, 0 and -1 mean that nothing is linked. */
function readLink(value: unknown): string | undefined {
  const id = readId(value);
  return id !== undefined && /^[1-9]/.test(id) ? id : undefined;
}

/** Reasons for which a zone needs attention. */
export type Attention = 'disabled' | 'suspended' | 'near-limit' | 'no-certificate';

/** Share of the bandwidth limit; the CDN disables a zone at its limit. */
const nearLimitShare = 0.8;

/** Every reason, the most urgent first. Members that are not reported count as fine. */
export function attentionReasons(zone: ZoneSummary): Attention[] {
  const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
  const found: Attention[] = [];
  if (zone.suspended === true) found.push('suspended');
  if (zone.enabled === false) found.push('disabled');
  if (used !== undefined && limit !== undefined && limit > 0 && used > limit * nearLimitShare)
    found.push('near-limit');
  if (zone.hostnamesWithoutCertificate.length > 0) found.push('no-certificate');
  return found;
}

export interface Totals {
  readonly zones: number;
  readonly used: number;
  /** Zones with a limit: their usage and their limits, in bytes. */
  readonly limited: { readonly zones: number; readonly used: number; readonly limit: number };
  readonly charges: number;
  readonly attention: number;
}

export function sumTotals(zones: readonly ZoneSummary[]): Totals {
  const limited = { zones: 0, used: 0, limit: 0 };
  const totals = { zones: zones.length, used: 0, limited, charges: 0, attention: 0 };
  for (const zone of zones) {
    totals.used += zone.bandwidthUsed ?? 0;
    totals.charges += zone.charges ?? 0;
    if (attentionReasons(zone).length > 0) totals.attention += 1;
    if (zone.bandwidthLimit === undefined) continue;
    limited.zones += 1;
    limited.used += zone.bandwidthUsed ?? 0;
    limited.limit += zone.bandwidthLimit;
  }
  return totals;
}

const variableShownSchema = z.object({
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
export type AffectedZones = z.output<typeof variableShownSchema>;

/** Shown before a variable is changed: the zones that run the script. */
export type VariableShown = AffectedZones;

const volumeShownSchema = variableShownSchema.extend({
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
