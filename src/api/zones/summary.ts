import { z } from 'zod';
import { redactUrl } from '../http/redact.ts';

/** What lists of zones show, filter and sum. Without what the service did not report. */
export interface ZoneSummary {
  readonly id: string;
  /** Empty where the service reports none. */
  readonly name: string;
  /** Without user, password and query values. */
  readonly originUrl?: string;
  readonly enabled?: boolean;
  readonly suspended?: boolean;
  readonly hostnames: readonly string[];
  /** Only the customer's own: the platform looks after those of the platform. */
  readonly hostnamesWithoutCertificate: readonly string[];
  /** Bytes this month. */
  readonly bandwidthUsed?: number;
  /** Bytes a month; absent also where there is no limit. */
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
 * The summary of one zone as it came; undefined where it is no zone. A member of the wrong type reads as not
 * reported. Checked by hand: over 50 000 zones a schema takes as long as parsing them did.
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
  // 0 means unlimited: cdn-api.md §2.1.
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

// Most zones have no hostname without a certificate: one list for all of them.
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
  // A copy: a list that was pushed to has room for 17, in each of 50,000 zones.
  summary.hostnames = values.slice();
  if (without) summary.hostnamesWithoutCertificate = without;
}

function readId(value: unknown): string | undefined {
  // Larger ones come as text: exact-ids.ts.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? value : undefined;
}

/** Null, 0 and -1 all mean that nothing is linked: cdn-api.md §2.1. */
function readLink(value: unknown): string | undefined {
  const id = readId(value);
  return id !== undefined && /^[1-9]/.test(id) ? id : undefined;
}

/** Why a zone needs somebody to look at it. */
export type Attention = 'disabled' | 'suspended' | 'near-limit' | 'no-certificate';

/** Above this share of its bandwidth limit a zone is about to be switched off: at the limit the CDN disables it. */
const nearLimitShare = 0.8;

/** Everything that is wrong with a zone, most urgent first. What the CDN did not report is not wrong. */
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
  /** Of the zones that have a limit: how much they used, and what they may use. */
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
/** The zones that something would touch: the first of them, and how many there are. */
export type AffectedZones = z.output<typeof variableShownSchema>;

/** What is shown before a variable is changed: the zones that run the script. */
export type VariableShown = AffectedZones;

const volumeShownSchema = variableShownSchema.extend({
  volumeSizeInGb: z.number().optional(),
  monthlyCost: z.number().optional(),
  summary: z.enum(['read', 'unreadable']),
});
/** What is shown before a volume is deleted: the zones its app serves, and what its volumes hold and cost. */
export type VolumeShown = z.output<typeof volumeShownSchema>;

/** What was shown, as it comes back from where it was kept; undefined where that is something else. */
export function readVolumeShown(kept: unknown): VolumeShown | undefined {
  return volumeShownSchema.safeParse(kept).data;
}

export function readVariableShown(kept: unknown): VariableShown | undefined {
  return variableShownSchema.safeParse(kept).data;
}

// What is shown is sealed and kept: enough to recognise what hangs on it, and the rest as a number.
const maxZones = 12;
const maxHostnames = 4;
const maxNameLength = 80;

/** Those zones as they are shown, sealed and kept. */
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
