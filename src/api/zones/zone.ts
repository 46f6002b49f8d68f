import { z } from 'zod';
import { zoneSecretFields } from '../../secrets/fields.ts';
import { type CamelCased, readLeniently, toCamelCase } from '../http/lenient.ts';
import type { EdgeRule, Hostname } from './fields.ts';
import { pullZoneModel } from './model.ts';
import { registerZoneSecrets } from './secrets.ts';
import { summarize, type ZoneSummary } from './summary.ts';

const schema = z.object(pullZoneModel);
type Reported = Omit<CamelCased<z.output<typeof schema>>, 'id' | 'name' | 'hostnames' | 'edgeRules'>;

/**
 * One zone with every member of the specification that is not secret, in camelCase. Absent members were not reported.
 * Units are those of the specification: bytes, and seconds unless its table says otherwise.
 */
export interface Zone extends Reported {
  readonly id: string;
  readonly name: string;
  readonly hostnames: readonly Hostname[];
  readonly edgeRules: readonly EdgeRule[];
  readonly summary: ZoneSummary;
}

export interface ReadZone {
  readonly zone: Zone;
  /** Members of the wrong type, and members that the specification does not have. */
  readonly wrong: readonly string[];
  readonly unknown: readonly string[];
}

/** Parses one whole zone; undefined if it is none. */
export function readZone(raw: unknown): ReadZone | undefined {
  registerZoneSecrets(raw);
  const read = readLeniently(schema, raw);
  const summary = summarize(raw);
  if (!read || !summary) return undefined;
  const fields = toCamelCase(read.value);
  const zone: Zone = {
    ...fields,
    id: summary.id,
    name: summary.name,
    hostnames: fields.hostnames ?? [],
    edgeRules: fields.edgeRules ?? [],
    summary,
  };
  return { zone, wrong: read.wrong, unknown: unknownMembers(raw) };
}

function unknownMembers(raw: unknown): string[] {
  const names = typeof raw === 'object' && raw !== null ? Object.keys(raw) : [];
  // Only names, and bounded: they are logged.
  return names
    .filter((name) => !Object.hasOwn(pullZoneModel, name))
    .slice(0, 50)
    .map((name) => name.slice(0, 80));
}

/**
 * A zone in the service's own names and the specification's order, with null for members that were not reported. A `Zone`
 * has no secrets, so this has none either. Ids are strings, so that no reader rounds them.
 */
export function toWireZone(zone: Zone): Record<string, unknown> {
  const { summary: _, ...members } = zone;
  const named = toWireNames(members) as Record<string, unknown>;
  const names = Object.keys(pullZoneModel).filter((name) => !secretMembers.has(name));
  return Object.fromEntries(names.map((name) => [name, named[name] ?? null]));
}

const secretMembers = new Set<string>(zoneSecretFields);

function toWireNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWireNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      // Its member names are chosen by people.
      if (name === 'properties') return ['Properties', member];
      return [name.replace(/^(?:aws|euus|.)/u, (start) => start.toUpperCase()), toWireNames(member)];
    }),
  );
}

/** An unusual setting that makes a zone less secure. */
export type Weakness =
  | 'tls-1.0'
  | 'tls-1.1'
  | 'origin-certificate'
  | 'token-authentication'
  | 'logging'
  | 'origin-shield'
  | 'ddos-protection';

/** The weaknesses of a zone, the most serious first. Members that are not reported count as fine. */
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
