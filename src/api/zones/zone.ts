import { z } from 'zod';
import { zoneSecretFields } from '../../secrets/fields.ts';
import { type CamelCased, findUnknown, readLeniently, toCamelCase } from '../http/lenient.ts';
import type { EdgeRule, Hostname } from './fields.ts';
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
  const read = readLeniently(schema, raw);
  const summary = summarize(raw);
  if (!read || !summary) return undefined;
  const { hostnames = [], edgeRules = [], ...fields } = toCamelCase(read.value);
  const { id, name } = summary;
  const zone: Zone = { ...fields, id, name, hostnames, edgeRules, summary };
  return { zone, wrong: read.wrong, unknown: findUnknown(raw, pullZoneModel) };
}

/**
 * A zone in the service's own names and the specification's order, with null for members that were not reported or link
 * to nothing. A `Zone` has no secrets and no members that the specification does not name, so this has none either. Ids are
 * strings, so that no reader rounds them.
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
