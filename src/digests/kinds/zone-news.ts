import { setImmediate as breathe } from 'node:timers/promises';
import type { Attention } from '../../api/zones/attention.ts';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { maxNamedIds, nameIds } from '../figures/compact-ids.ts';
import type { Named, Some, ZoneNews } from '../figures/figures.ts';
import { hasFlag, type ZoneBaselineReader } from './zone-baseline.ts';

const all: readonly Attention[] = ['suspended', 'disabled', 'near-limit', 'no-certificate'];

/** The zones that something is wrong with, by what it is: `marks` belong to `zones`. */
export function readStates(zones: readonly ZoneSummary[], marks: Uint8Array): Record<Attention, Some> {
  const found = each(() => new Group());
  for (const [index, zone] of zones.entries()) {
    const bits = marks[index] ?? 0;
    if (bits === 0) continue;
    for (const state of all) if (hasFlag(bits, state)) found[state].add(zone, state);
  }
  return each((state) => found[state].told());
}

const piece = 10_000;

/** What is different from what the digest last told of. */
export async function findZoneNews(
  zones: readonly ZoneSummary[],
  marks: Uint8Array,
  before: ZoneBaselineReader,
): Promise<ZoneNews> {
  const [joined, left] = [new Group(), new Group()];
  const became = each(() => new Group());
  const recovered = each(() => new Group());
  const isHere = new Uint8Array(before.count);
  for (const [index, zone] of zones.entries()) {
    if (index % piece === piece - 1) await breathe();
    const place = before.placeOf(zone.id);
    const were = place === undefined ? 0 : before.marksAt(place);
    const are = marks[index] ?? 0;
    if (place === undefined) joined.add(zone);
    else isHere[place] = 1;
    if (were === are) continue;
    for (const state of all) {
      const [was, is] = [hasFlag(were, state), hasFlag(are, state)];
      // What is said of its limit says more.
      const isSaid = state === 'near-limit' && hasLimit(are);
      if (is && !was && !isSaid) became[state].add(zone, state);
      if (was && !is) recovered[state].add(zone);
    }
  }
  // One that left did not recover.
  for (const [place, here] of isHere.entries()) if (here === 0) left.add(before.at(place));
  return {
    joined: joined.told(),
    left: left.told(),
    became: each((state) => became[state].told()),
    recovered: each((state) => recovered[state].told()),
  };
}

function hasLimit(marks: number): boolean {
  return hasFlag(marks, 'limit-reached') || hasFlag(marks, 'limit-foretold');
}

/** Counts zones and keeps the names of the first. */
class Group {
  #count = 0;
  readonly #first: Named[] = [];

  add(zone: Named | ZoneSummary, state?: Attention): void {
    this.#count += 1;
    if (this.#first.length >= maxNamedIds) return;
    const name = state && 'hostnamesWithoutCertificate' in zone ? nameIn(zone, state) : zone.name;
    this.#first.push(nameIds({ id: zone.id, name }));
  }

  told(): Some {
    return { count: this.#count, first: this.#first };
  }
}

/** For a certificate the hostname is what somebody has to look for. */
function nameIn({ name, hostnamesWithoutCertificate: without }: ZoneSummary, state: Attention): string {
  if (state !== 'no-certificate' || without.length === 0) return name;
  return `${name} (${without[0]}${without.length > 1 ? ` and ${without.length - 1} more` : ''})`;
}

function each<T>(make: (state: Attention) => T): Record<Attention, T> {
  return Object.fromEntries(all.map((state) => [state, make(state)])) as Record<Attention, T>;
}
