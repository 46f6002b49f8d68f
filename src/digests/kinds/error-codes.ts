import { findNamed, summarizeIds } from '../figures/compact-ids.ts';
import type { ErrorFigures, Named } from '../figures/figures.ts';
import { dayMs } from '../figures/series.ts';

/** The error codes that a digest has seen, by zone: each with the last day (UTC, counted from 1970) it was seen on. */
export type CodeBaseline = readonly ZoneCodes[];

interface ZoneCodes {
  readonly id: string;
  /** The last day that the zone's log was read. */
  readonly read: number;
  readonly codes: readonly (readonly [code: string, seen: number])[];
}

/** A code that was not seen for longer counts as new; a zone that was not read for as long is forgotten. */
const rememberedDays = 28;
/** Those read last, and seen last, are remembered. */
const mostZones = 100;
const mostCodes = 40;
const mostFresh = 10;

/** A zone whose log was read: its entries by code, `''` where none was reported. */
export interface ReadCodes {
  readonly zone: Named;
  readonly codes: ReadonlyMap<string, number>;
}

/** Codes that came in a zone and had not for 28 days. Of a zone that is read for the first time nobody knows. */
export function findNewCodes(
  read: readonly ReadCodes[],
  book: CodeBaseline | undefined,
  now: Date,
): ErrorFigures['fresh'] {
  const before = new Map(current(book, now).map((zone) => [zone.id, zone]));
  const fresh = new Map<string, { count: number; zones: Named[] }>();
  for (const { zone, codes } of read) {
    const known = before.get(zone.id);
    // Where there were more than are kept, what is new cannot be told.
    if (!known || known.codes.length >= mostCodes) continue;
    const seen = new Set(known.codes.map(([code]) => code));
    for (const [code, count] of codes) {
      const name = findNamed(code);
      if (name === '' || seen.has(name)) continue;
      const one = fresh.get(name) ?? { count: 0, zones: [] };
      fresh.set(name, { count: one.count + count, zones: [...one.zones, zone] });
    }
  }
  return [...fresh]
    .map(([code, { count, zones }]) => ({ code, count, zones: summarizeIds(zones) }))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, mostFresh);
}

/** What is remembered after these logs were read. */
export function updateCodeBaseline(
  read: readonly ReadCodes[],
  book: CodeBaseline | undefined,
  now: Date,
): CodeBaseline {
  const today = dayIn(now);
  const zones = new Map(current(book, now).map((zone) => [zone.id, zone]));
  for (const { zone, codes } of read) {
    const seen = new Map(zones.get(zone.id)?.codes);
    for (const code of codes.keys()) if (findNamed(code) !== '') seen.set(findNamed(code), today);
    zones.set(zone.id, { id: zone.id, read: today, codes: newest([...seen], ([, day]) => day, mostCodes) });
  }
  return newest([...zones.values()], ({ read: day }) => day, mostZones);
}

/** After a run that said nothing: what it saw was seen, but what was new to it is still to be told. */
export function updateCodeBaselineAfterSilence(before: CodeBaseline, found: CodeBaseline): CodeBaseline {
  const known = new Map(before.map((zone) => [zone.id, new Set(zone.codes.map(([code]) => code))]));
  return found.map((zone) => {
    const codes = known.get(zone.id);
    return codes ? { ...zone, codes: zone.codes.filter(([code]) => codes.has(code)) } : zone;
  });
}

/** What is not forgotten yet. */
function current(book: CodeBaseline = [], now: Date): ZoneCodes[] {
  const oldest = dayIn(now) - rememberedDays;
  return book
    .filter(({ read }) => read >= oldest)
    .map((zone) => ({ ...zone, codes: zone.codes.filter(([, seen]) => seen >= oldest) }));
}

function newest<T>(all: readonly T[], day: (one: T) => number, most: number): T[] {
  return all.length <= most ? [...all] : all.toSorted((a, b) => day(b) - day(a)).slice(0, most);
}

function dayIn(at: Date): number {
  return Math.floor(at.getTime() / dayMs);
}
