import type { ZoneSummary } from '../api/zone-summary.ts';
import { type Attention, attention } from './attention.ts';
import type { Named, Roster, Some, State, ZoneNews } from './digest-figures.ts';
import { namesIn, packed, some, unpacked } from './digest-roster.ts';

const mostStateCharacters = 2_500;
const all: readonly Attention[] = ['suspended', 'disabled', 'near-limit', 'no-certificate'];

export type States = Readonly<Record<Attention, State>>;

/** The zones that something is wrong with, by what it is. */
export function statesOf(found: ByState): States {
  return each((state) => {
    const ids = packed(
      found[state].map(({ id }) => id),
      mostStateCharacters,
    );
    return { ...some(found[state]), ...(ids === undefined ? {} : { ids }) };
  });
}

/** What is different from an earlier run. Where there are too many zones to keep, only how many more or less they are. */
export function newsOf(
  zones: readonly ZoneSummary[],
  found: ByState,
  before: { readonly roster?: Roster; readonly states: States; readonly zones: number },
): ZoneNews {
  const { roster } = before;
  const known = roster && namesIn(roster);
  const here = new Set(zones.map(({ id }) => id));
  const left = known ? [...known].flatMap(([id, name]) => (here.has(id) ? [] : [{ id, name }])) : [];
  const grown = zones.length - before.zones;
  return {
    joined: known ? some(zones.filter(({ id }) => !known.has(id))) : unnamed(grown),
    left: known ? some(left) : unnamed(-grown),
    became: each((state) => {
      const were = before.states[state];
      const ids = were.ids === undefined ? undefined : unpacked(were.ids);
      return ids
        ? some(found[state].filter(({ id }) => !ids.has(id)))
        : unnamed(found[state].length - were.count);
    }),
    recovered: each((state) => {
      const were = before.states[state];
      if (were.ids === undefined) return unnamed(were.count - found[state].length);
      const still = new Set(found[state].map(({ id }) => id));
      // One that left did not recover.
      const recovered = new Set([...unpacked(were.ids)].filter((id) => here.has(id) && !still.has(id)));
      return some(recovered.size === 0 ? [] : zones.filter(({ id }) => recovered.has(id)));
    }),
  };
}

/** Whether figures are of another account altogether: somebody else took the digest over. */
export function isOtherAccount(zones: readonly ZoneSummary[], roster: Roster | undefined): boolean {
  if (!roster || zones.length === 0) return false;
  const known = namesIn(roster);
  return known.size > 0 && !zones.some(({ id }) => known.has(id));
}

export type ByState = Readonly<Record<Attention, readonly Named[]>>;

/** The zones of each kind of trouble. */
export function byState(zones: readonly ZoneSummary[]): ByState {
  const found = each((): Named[] => []);
  for (const zone of zones) {
    for (const state of attention(zone)) found[state].push({ id: zone.id, name: nameIn(zone, state) });
  }
  return found;
}

/** For a certificate the hostname is what somebody has to look for. */
function nameIn({ name, hostnamesWithoutCertificate: without }: ZoneSummary, state: Attention): string {
  if (state !== 'no-certificate' || without.length === 0) return name;
  return `${name} (${without[0]}${without.length > 1 ? ` and ${without.length - 1} more` : ''})`;
}

function each<T>(make: (state: Attention) => T): Record<Attention, T> {
  return Object.fromEntries(all.map((state) => [state, make(state)])) as Record<Attention, T>;
}

function unnamed(count: number): Some {
  return { count: Math.max(0, count), first: [] };
}
