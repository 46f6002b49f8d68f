import type { ZoneSummary } from './summary.ts';

/** Why a zone needs somebody to look at it. */
export type Attention = 'disabled' | 'suspended' | 'near-limit' | 'no-certificate';

/** Above this share of its bandwidth limit a zone is about to be switched off: at the limit the CDN disables it. */
const nearLimit = 0.8;

/** Everything that is wrong with a zone, most urgent first. What the CDN did not report is not wrong. */
export function attentionReasons(zone: ZoneSummary): Attention[] {
  const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
  const found: Attention[] = [];
  if (zone.suspended === true) found.push('suspended');
  if (zone.enabled === false) found.push('disabled');
  if (used !== undefined && limit !== undefined && limit > 0 && used > limit * nearLimit)
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
