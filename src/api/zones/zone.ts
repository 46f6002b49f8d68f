import { isObject } from '../http/errors.ts';
import { compareNames, omitMissing, readLeniently } from '../http/lenient.ts';
import { type Members, renameMembers, zoneMembers, zoneSchema } from './members.ts';
import { hasPlaceholderOrigin, summarize, type ZoneSummary } from './summary.ts';

/**
 * One zone with every member that is not secret, by the service's names. Absent members were not reported, or link to
 * nothing. Units are those of the specification: bytes, and seconds unless its table says otherwise.
 */
export interface Zone {
  readonly summary: ZoneSummary;
  readonly members: Members;
}

/**
 * Parses one whole zone; undefined if it is none. `wrong`: members of the wrong type; `missing`: of the specification;
 * `unknown`: members that are not published.
 */
export function readZone(raw: unknown) {
  const summary = summarize(raw);
  if (!summary || !isObject(raw)) return undefined;
  const renamed = renameMembers(raw);
  const read = readLeniently(zoneSchema, renamed);
  if (!read) return undefined;
  const members = omitMissing(read.value);
  if (hasPlaceholderOrigin(raw)) delete members['OriginUrl'];
  const zone: Zone = { summary, members };
  return { zone, wrong: read.wrong, ...compareNames(renamed, zoneSchema.shape, publishedLater) };
}

/** In no specification yet: many a service does not have them. */
const publishedLater = ['TlsSecurityLevel', 'LoadBalancerId'];

/**
 * Every member that is not secret, in the order of the table, with null for those that were not reported or link to
 * nothing. Ids are strings, so that no reader rounds them.
 */
export function toWireZone({ members }: Zone): Record<string, unknown> {
  const names = zoneMembers.flatMap(([name, , , format]) => (format === 'secret' ? [] : [name]));
  return Object.fromEntries(names.map((name) => [name, members[name] ?? null]));
}
