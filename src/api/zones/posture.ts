import type { Zone } from './zone.ts';

/** What is set otherwise than most zones have it, and makes a zone weaker. */
export type Weakness =
  | 'tls-1.0'
  | 'tls-1.1'
  | 'origin-certificate'
  | 'token-authentication'
  | 'logging'
  | 'origin-shield'
  | 'ddos-protection';

/** The weaknesses of a zone, the most serious first. What the CDN did not report is none. */
export function findWeaknesses(zone: Zone): Weakness[] {
  const all: readonly (readonly [Weakness, boolean])[] = [
    ['tls-1.0', zone.enableTLS1 === true],
    ['tls-1.1', zone.enableTLS1_1 === true],
    ['origin-certificate', zone.verifyOriginSSL === false],
    ['ddos-protection', zone.shieldDDosProtectionEnabled === false],
    ['token-authentication', zone.zoneSecurityEnabled === false],
    ['logging', zone.enableLogging === false],
    ['origin-shield', zone.enableOriginShield === false],
  ];
  return all.flatMap(([weakness, is]) => (is ? [weakness] : []));
}
