import { dayMs } from '../../../../../lib/time.ts';
import { flattenName, groupNames, type Named, type NamedGroup } from '../../names.ts';

/** A code that a zone did not have for 28 days, as far as this digest has read its log. */
export interface NewCode {
  readonly code: string;
  readonly count: number;
  readonly zones: NamedGroup;
}

/** The error codes that a digest has seen, by zone: each with the last day (UTC, counted from 1970) it was seen on. */
export type CodeBaseline = readonly {
  readonly id: string;
  /** The last day that the zone's log was read. */
  readonly read: number;
  readonly codes: readonly (readonly [code: string, seen: number])[];
}[];

/** A code that was not seen for longer counts as new; a zone that was not read for longer is dropped. */
const rememberedDays = 28;
/** Bounds of the baseline: the zones read last, and their codes seen last. */
const mostZones = 100;
const mostCodes = 40;
const mostNewCodes = 10;

/** A zone whose log was read: its entries by code, `''` where none was reported. */
type ReadCodes = { readonly zone: Named; readonly codes: ReadonlyMap<string, number> };

/**
 * Codes that a zone did not have for 28 days, and the baseline after these logs were read. A zone that is read for the
 * first time has no new codes.
 */
export function findNewCodes(
  read: readonly ReadCodes[],
  before: CodeBaseline = [],
  now: Date,
): { readonly fresh: NewCode[]; readonly baseline: CodeBaseline } {
  const today = Math.floor(now.getTime() / dayMs);
  const oldest = today - rememberedDays;
  const zones = new Map<string, CodeBaseline[number]>();
  for (const { codes, ...zone } of before.filter((zone) => zone.read >= oldest))
    zones.set(zone.id, { ...zone, codes: codes.filter(([, seen]) => seen >= oldest) });
  const fresh = new Map<string, { count: number; zones: Named[] }>();
  for (const { zone, codes } of read) {
    const known = new Map(zones.get(zone.id)?.codes);
    const seen = new Map(known);
    // Beyond the bound some known codes were dropped: a new one cannot be told from them.
    const isComparable = zones.has(zone.id) && known.size < mostCodes;
    for (const [code, count] of codes) {
      const name = flattenName(code);
      if (name === '') continue;
      if (isComparable && !known.has(name)) {
        const one = fresh.get(name) ?? { count: 0, zones: [] };
        fresh.set(name, { count: one.count + count, zones: [...one.zones, zone] });
      }
      seen.set(name, today);
    }
    zones.set(zone.id, { id: zone.id, read: today, codes: newest([...seen], ([, day]) => day, mostCodes) });
  }
  return {
    fresh: [...fresh]
      .map(([code, { count, zones }]) => ({ code, count, zones: groupNames(zones) }))
      .toSorted((a, b) => b.count - a.count)
      .slice(0, mostNewCodes),
    baseline: newest([...zones.values()], (zone) => zone.read, mostZones),
  };
}

/** After a silent run: codes that are new to it are still to be reported. */
export function dropUnreportedCodes(before: CodeBaseline, found: CodeBaseline): CodeBaseline {
  const known = new Map(before.map((zone) => [zone.id, new Set(zone.codes.map(([code]) => code))]));
  return found.map((zone) => {
    const codes = known.get(zone.id);
    return codes ? { ...zone, codes: zone.codes.filter(([code]) => codes.has(code)) } : zone;
  });
}

function newest<T>(all: readonly T[], day: (one: T) => number, most: number): readonly T[] {
  return all.length <= most ? all : all.toSorted((a, b) => day(b) - day(a)).slice(0, most);
}
