import { z } from 'zod';
import { zoneSecretFields } from '../../secrets/fields.ts';
import { type CamelCased, findUnknown, readLeniently, toCamelCase } from '../http/lenient.ts';
import { type EdgeRule, type Hostname, registerZoneSecrets } from './fields.ts';
import { pullZoneModel } from './model.ts';
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

/**
 * Parses one whole zone; undefined if it is none. `wrong`: members of the wrong type; `unknown`: members that the
 * specification does not have.
 */
export function readZone(raw: unknown) {
  registerZoneSecrets(raw);
  const read = readLeniently(schema, raw);
  const summary = summarize(raw);
  if (!read || !summary) return undefined;
  const { hostnames = [], edgeRules = [], ...fields } = toCamelCase(read.value);
  const { id, name } = summary;
  const zone: Zone = { ...fields, id, name, hostnames, edgeRules, summary };
  return { zone, wrong: read.wrong, unknown: findUnknown(raw, pullZoneModel) };
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

/** Unusual settings that make a zone less secure, the most serious first. */
const weaknesses = {
  'tls-1.0': ({ enableTLS1 }) => enableTLS1 === true,
  'tls-1.1': ({ enableTLS1_1 }) => enableTLS1_1 === true,
  'origin-certificate': ({ verifyOriginSSL }) => verifyOriginSSL === false,
  'ddos-protection': ({ shieldDDosProtectionEnabled }) => shieldDDosProtectionEnabled === false,
  'token-authentication': ({ zoneSecurityEnabled }) => zoneSecurityEnabled === false,
  logging: ({ enableLogging }) => enableLogging === false,
  'origin-shield': ({ enableOriginShield }) => enableOriginShield === false,
} satisfies Record<string, (zone: Zone) => boolean>;
export type Weakness = keyof typeof weaknesses;

/** The weaknesses of a zone, the most serious first. Members that are not reported count as fine. */
export function findWeaknesses(zone: Zone): Weakness[] {
  return (Object.keys(weaknesses) as Weakness[]).filter((weakness) => weaknesses[weakness](zone));
}
