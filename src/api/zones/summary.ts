import { dayMs } from '../../lib/time.ts';
import { isObject } from '../http/errors.ts';
import { readNumber } from '../http/lenient.ts';
import { redactUrl } from '../http/paths.ts';

/** The members of a zone that lists show, filter and sum. Absent: not reported. */
export interface ZoneSummary {
  readonly id: string;
  readonly name: string;
  /** Without user, password and query values; absent also where the service gives a placeholder. */
  readonly originUrl?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly suspended?: boolean | undefined;
  readonly hostnames: readonly string[];
  /** Only the customer's own; the platform manages its own certificates. */
  readonly hostnamesWithoutCertificate: readonly string[];
  /** The hostnames are not reported, or the certificates of some. */
  readonly isCertificateUnreported?: true | undefined;
  readonly bandwidthUsed?: number | undefined;
  /** Bytes per month; absent also if there is no limit: then `isUnlimited`. */
  readonly bandwidthLimit?: number | undefined;
  readonly isUnlimited?: true | undefined;
  readonly charges?: number | undefined;
  readonly storageZoneId?: string | undefined;
  readonly edgeScriptId?: string | undefined;
  readonly middlewareScriptId?: string | undefined;
  readonly appId?: string | undefined;
  /** Settings to find zones by, if it has any. */
  readonly weaknesses?: readonly Weakness[] | undefined;
  readonly weaknessesUnreported?: readonly Weakness[] | undefined;
}

/** TLS 1.0 or 1.1 is on, or the TLS profile is Legacy; requests are not logged. */
export type Weakness = 'old-tls' | 'no-logging';

/** Summarizes one raw zone; undefined if it is not a zone. By hand: a schema takes as long as parsing 50,000 zones. */
export function summarize(raw: unknown): ZoneSummary | undefined {
  if (!isObject(raw)) return undefined;
  const id = readId(raw['Id']);
  if (id === undefined) return undefined;
  // A negative number is neither a usage nor “unlimited”.
  const [used = -1, limit = -1] = [raw['MonthlyBandwidthUsed'], raw['MonthlyBandwidthLimit']].map(readNumber);
  const url = readText(raw['OriginUrl']);
  const hostnames = listHostnames(raw);
  const own = hostnames.filter(({ isPlatforms }) => !isPlatforms);
  const without = own.filter(({ hasCertificate }) => hasCertificate === false);
  const isReported =
    Array.isArray(raw['Hostnames']) &&
    raw['Hostnames'].length === hostnames.length &&
    own.every((one) => one.hasCertificate !== undefined);
  return {
    id,
    name: readText(raw['Name']) ?? '',
    originUrl: url === undefined || hasPlaceholderOrigin(raw) ? undefined : redactUrl(url),
    enabled: readFlag(raw['Enabled']),
    suspended: readFlag(raw['Suspended']),
    hostnames: hostnames.map(({ name }) => name),
    hostnamesWithoutCertificate: without.map(({ name }) => name),
    isCertificateUnreported: isReported ? undefined : true,
    bandwidthUsed: used < 0 ? undefined : used,
    bandwidthLimit: limit > 0 ? limit : undefined,
    isUnlimited: limit === 0 ? true : undefined,
    charges: readNumber(raw['MonthlyCharges']),
    storageZoneId: readLink(raw['StorageZoneId']),
    edgeScriptId: readLink(raw['EdgeScriptId']),
    middlewareScriptId: readLink(raw['MiddlewareScriptId']),
    appId: readText(raw['MagicContainersAppId']),
    ...findWeaknesses(raw),
  };
}

const withOrigin: readonly unknown[] = [0, 1, '0', '1', 'OriginUrl', 'DnsAccelerate'];
const withoutOrigin = /^(?:[2-6]|StorageZone|LoadBalancer|EdgeScript|MagicContainers|PushZone)$/u;

/** Only two types have an origin of their own: of a script or an app it is an address of the platform that serves nothing. */
export function hasPlaceholderOrigin({
  OriginType: type,
  OriginUrl: url,
}: Readonly<Record<string, unknown>>): boolean {
  if (withOrigin.includes(type)) return false;
  const isPlatforms =
    typeof url === 'string' && /^https?:\/\/(?:www\.)?(?:bunnycdn\.com|bunny\.net)(?::\d*)?\/?$/iu.test(url);
  return isPlatforms || withoutOrigin.test(String(type));
}

export const legacyTls = 0;

function findWeaknesses(raw: Readonly<Record<string, unknown>>) {
  const old = [readFlag(raw['EnableTLS1']), readFlag(raw['EnableTLS1_1'])];
  const isOld = old.includes(true) || raw['TlsSecurityLevel'] === legacyTls;
  const logging = readFlag(raw['EnableLogging']);
  return {
    weaknesses: listWeaknesses(isOld, logging === false),
    weaknessesUnreported: listWeaknesses(!isOld && old.includes(undefined), logging === undefined),
  };
}

/** Undefined for none: there may be 50,000 zones. */
function listWeaknesses(isOldTls: boolean, isNoLogging: boolean): readonly Weakness[] | undefined {
  if (isOldTls) return isNoLogging ? ['old-tls', 'no-logging'] : ['old-tls'];
  return isNoLogging ? ['no-logging'] : undefined;
}

export function listHostnames(raw: unknown) {
  const all = isObject(raw) && Array.isArray(raw['Hostnames']) ? raw['Hostnames'] : [];
  return all.filter(isObject).flatMap((host) => {
    const name = readText(host['Value']);
    // The CDN manages the certificates for its hostnames.
    const isPlatforms = readFlag(host['IsSystemHostname']) || readFlag(host['IsManagedHostname']) || false;
    const hasCertificate = readFlag(host['HasCertificate']);
    return name === undefined ? [] : [{ name, isPlatforms, hasCertificate, host }];
  });
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A flag may come as a number, or as text. */
function readFlag(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const word = typeof value === 'string' ? value.toLowerCase() : value;
  if (word === 1 || word === '1' || word === 'true') return true;
  return word === 0 || word === '0' || word === 'false' ? false : undefined;
}

function readId(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  return typeof value === 'string' && /^-?\d{1,20}$/.test(value) ? value : undefined;
}

function readLink(value: unknown): string | undefined {
  if (typeof value === 'number' && value <= 0) return undefined;
  const id = readId(value);
  return id !== undefined && /^[1-9]/.test(id) ? id : undefined;
}

export type Attention = 'disabled' | 'suspended' | 'near-limit' | 'no-certificate';

/** Share of the bandwidth limit; the CDN disables a zone at its limit. */
const nearLimitShare = 0.8;

export function attentionReasons(zone: ZoneSummary): Attention[] {
  const { bandwidthUsed: used = 0, bandwidthLimit: limit = Number.POSITIVE_INFINITY } = zone;
  const found: Attention[] = [];
  if (zone.suspended === true) found.push('suspended');
  if (zone.enabled === false) found.push('disabled');
  if (used > limit * nearLimitShare) found.push('near-limit');
  if (zone.hostnamesWithoutCertificate.length > 0) found.push('no-certificate');
  return found;
}

export function isAtLimit({ bandwidthUsed: used = 0, bandwidthLimit: limit }: ZoneSummary): boolean {
  return limit !== undefined && used >= limit;
}

const ranks = { suspended: 5, disabled: 4, 'near-limit': 2, 'no-certificate': 1 };

/** By how urgently a zone needs attention: 0 if it does not. */
export function rankAttention(zone: ZoneSummary): number {
  const [first] = attentionReasons(zone);
  if (first === 'near-limit' && isAtLimit(zone)) return 3;
  return first === undefined ? 0 : ranks[first];
}

export type Totals = ReturnType<typeof sumTotals>;

/** `…Unreported`: zones that are missing in the sum. */
export function sumTotals(zones: readonly ZoneSummary[]) {
  const sum = (of: (zone: ZoneSummary) => number) => zones.reduce((all, zone) => all + of(zone), 0);
  const count = (is: (zone: ZoneSummary) => boolean) => sum((zone) => Number(is(zone)));
  return {
    zones: zones.length,
    used: sum(bandwidthOf),
    usedUnreported: count(({ bandwidthUsed }) => bandwidthUsed === undefined),
    charges: sum(({ charges }) => charges ?? 0),
    chargesUnreported: count(({ charges }) => charges === undefined),
    attention: count((zone) => rankAttention(zone) > 0),
    stateUnreported: count(({ enabled }) => enabled === undefined),
    limitUnreported: count((zone) => zone.bandwidthLimit === undefined && !zone.isUnlimited),
    certificateUnreported: count((zone) => zone.isCertificateUnreported === true),
  };
}

export function monthOf(at: Date): { readonly start: number; readonly end: number } {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

type Used = Pick<ZoneSummary, 'bandwidthUsed'>;

export function findBusiest<Zone extends Used>(zones: readonly Zone[], most: number): Zone[] {
  return zones.toSorted((a, b) => bandwidthOf(b) - bandwidthOf(a)).slice(0, most);
}

export function bandwidthOf(zone: Used | undefined): number {
  return zone?.bandwidthUsed ?? 0;
}

/** When a zone reaches its limit this month, on a straight line through what was used by now; not in the first three days. */
export function forecastLimit(used: number, limit: number, now: Date): Date | undefined {
  const { start, end } = monthOf(now);
  const elapsed = now.getTime() - start;
  if (elapsed < 3 * dayMs || used <= 0) return undefined;
  const at = start + elapsed * (limit / used);
  return at < end ? new Date(at) : undefined;
}

/** Whether a zone reached its limit or will this month, and then when; undefined for neither. */
export function findLimit(
  { bandwidthUsed: used, bandwidthLimit: limit }: ZoneSummary,
  now: Date,
): { readonly used: number; readonly limit: number; readonly reaches?: Date } | undefined {
  if (used === undefined || limit === undefined) return undefined;
  if (used >= limit) return { used, limit };
  const reaches = forecastLimit(used, limit, now);
  return reaches && { used, limit, reaches };
}
