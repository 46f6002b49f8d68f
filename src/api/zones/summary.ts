import { safeUrl } from '../http/redact.ts';

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
  const id = idIn(zone['Id']);
  if (id === undefined) return undefined;

  const summary: Writable<ZoneSummary> = { id, name: '', hostnames: none, hostnamesWithoutCertificate: none };
  const name = zone['Name'];
  if (typeof name === 'string') summary.name = name;
  const originUrl = zone['OriginUrl'];
  if (typeof originUrl === 'string') summary.originUrl = safeUrl(originUrl);
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
  const storageZoneId = linkIn(zone['StorageZoneId']);
  if (storageZoneId) summary.storageZoneId = storageZoneId;
  const edgeScriptId = linkIn(zone['EdgeScriptId']);
  if (edgeScriptId) summary.edgeScriptId = edgeScriptId;
  const middlewareScriptId = linkIn(zone['MiddlewareScriptId']);
  if (middlewareScriptId) summary.middlewareScriptId = middlewareScriptId;
  const appId = zone['MagicContainersAppId'];
  if (typeof appId === 'string' && appId !== '') summary.appId = appId;
  readHostnames(zone['Hostnames'], summary);
  return summary;
}

// Most zones have no hostname without a certificate: one list for all of them.
const none: readonly string[] = [];

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

function idIn(value: unknown): string | undefined {
  // Larger ones come as text: exact-ids.ts.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? value : undefined;
}

/** Null, 0 and -1 all mean that nothing is linked: cdn-api.md §2.1. */
function linkIn(value: unknown): string | undefined {
  const id = idIn(value);
  return id !== undefined && /^[1-9]/.test(id) ? id : undefined;
}
