import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Attention, ZoneSummary } from '../../../api/zones/summary.ts';
import { maxNamedIds, type Named, type NamedGroup, toNamed } from '../../figures/compact-ids.ts';
import { chunk, hasFlag, type ZoneBaselineReader } from './baseline.ts';
import type { ByAttention, ZoneNews } from './figures.ts';

const states: readonly Attention[] = ['suspended', 'disabled', 'near-limit', 'no-certificate'];

/** The zones that need attention, by reason. `flags` are those of `zones`, in the same order. */
export function groupByState(zones: readonly ZoneSummary[], flags: Uint8Array): ByAttention {
  const found = each(() => new Group());
  for (const [index, zone] of zones.entries()) {
    const bits = flags[index] ?? 0;
    if (bits === 0) continue;
    for (const state of states) if (hasFlag(bits, state)) found[state].add(zone, state);
  }
  return each((state) => found[state].result());
}

/** What differs from what the digest last reported. */
export async function findZoneNews(
  zones: readonly ZoneSummary[],
  flags: Uint8Array,
  before: ZoneBaselineReader,
): Promise<ZoneNews> {
  const [joined, left] = [new Group(), new Group()];
  const became = each(() => new Group());
  const recovered = each(() => new Group());
  const isHere = new Uint8Array(before.count);
  for (const [index, zone] of zones.entries()) {
    if (index % chunk === chunk - 1) await yieldToEventLoop();
    const place = before.placeOf(zone.id);
    const were = place === undefined ? 0 : before.flagsAt(place);
    const are = flags[index] ?? 0;
    if (place === undefined) joined.add(zone);
    else isHere[place] = 1;
    if (were === are) continue;
    for (const state of states) {
      const [was, is] = [hasFlag(were, state), hasFlag(are, state)];
      // A line about its limit says more.
      const hasLine = state === 'near-limit' && hasLimit(are);
      if (is && !was && !hasLine) became[state].add(zone, state);
      if (was && !is) recovered[state].add(zone);
    }
  }
  for (const [place, here] of isHere.entries()) if (here === 0) left.add(before.at(place));
  return {
    joined: joined.result(),
    left: left.result(),
    became: each((state) => became[state].result()),
    recovered: each((state) => recovered[state].result()),
  };
}

function hasLimit(flags: number): boolean {
  return hasFlag(flags, 'limit-reached') || hasFlag(flags, 'limit-foretold');
}

/** Counts zones and keeps the names of the first. */
class Group {
  #count = 0;
  readonly #first: Named[] = [];

  add(zone: Named | ZoneSummary, state?: Attention): void {
    this.#count += 1;
    if (this.#first.length >= maxNamedIds) return;
    const name = state && 'hostnamesWithoutCertificate' in zone ? nameFor(zone, state) : zone.name;
    this.#first.push(toNamed({ id: zone.id, name }));
  }

  result(): NamedGroup {
    return { count: this.#count, first: this.#first };
  }
}

/** A missing certificate is fixed by hostname. */
function nameFor({ name, hostnamesWithoutCertificate: without }: ZoneSummary, state: Attention): string {
  if (state !== 'no-certificate' || without.length === 0) return name;
  return `${name} (${without[0]}${without.length > 1 ? ` and ${without.length - 1} more` : ''})`;
}

function each<T>(make: (state: Attention) => T): Record<Attention, T> {
  return Object.fromEntries(states.map((state) => [state, make(state)])) as Record<Attention, T>;
}
