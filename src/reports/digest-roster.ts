import type { Named, Roster, Some } from './digest-figures.ts';

const longestName = 60;
const mostNamed = 10;

/** What somebody called something, fit for being kept: without signs that JSON would blow up. */
export function named({ id, name }: Named): Named {
  return { id, name: kept(name) };
}

export function kept(text: string): string {
  const flat = text.replaceAll(/[\p{C}\p{Z}"\\]+/gu, ' ').trim();
  return flat.length > longestName ? flat.slice(0, longestName).replace(/[\uD800-\uDBFF]$/u, '') : flat;
}

export function some(all: readonly Named[], atLeast = 0): Some {
  return { count: Math.max(all.length, atLeast), first: all.slice(0, mostNamed).map(named) };
}

const mostRosterCharacters = 14_000;

/** With names as long as they fit, then as packed ids; undefined for more zones than that. */
export function rosterOf(zones: readonly Named[]): Roster | undefined {
  if (zones.length * 8 <= mostRosterCharacters) {
    const names = zones.map((zone) => [zone.id, kept(zone.name)] as const);
    if (JSON.stringify(names).length <= mostRosterCharacters) return { names };
  }
  const ids = packed(
    zones.map(({ id }) => id),
    mostRosterCharacters,
  );
  return ids === undefined ? undefined : { ids };
}

/** Ids to what is known of their names. */
export function namesIn(roster: Roster): Map<string, string> {
  return 'names' in roster ? new Map(roster.names) : new Map([...unpacked(roster.ids)].map((id) => [id, '']));
}

/** Ids in a few characters each: sorted, each as its distance to the one before. Undefined where they do not fit. */
export function packed(ids: readonly string[], most: number): string | undefined {
  // Each takes two characters at least.
  if (ids.length * 2 > most) return undefined;
  const sorted = ids.map(BigInt).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const text = sorted.map((id, index) => (id - (sorted[index - 1] ?? 0n)).toString(36)).join(' ');
  return text.length > most ? undefined : text;
}

export function unpacked(text: string): Set<string> {
  let id = 0n;
  const ids = text === '' ? [] : text.split(' ').map((distance) => String((id += bigInt(distance))));
  return new Set(ids);
}

function bigInt(base36: string): bigint {
  const negative = base36.startsWith('-');
  let value = 0n;
  for (const sign of negative ? base36.slice(1) : base36)
    value = value * 36n + BigInt(Number.parseInt(sign, 36) || 0);
  return negative ? -value : value;
}
