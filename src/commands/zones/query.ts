import { z } from 'zod';
import { attentionReasons, type ZoneSummary } from '../../api/zones/summary.ts';
import { type Instead, UserError } from '../../errors.ts';
import { escapeMrkdwn, formatCode } from '../../views/blocks/text.ts';
import { quoteWord, type ZoneQuery } from '../../views/zones/list.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';

const zoneSorts = ['name', 'bandwidth', 'charges'] as const;
const zoneFilters = ['attention', 'disabled', 'suspended'] as const;

/** Longer than any hostname; escaped four times over it still fits a button's 2000 characters. */
const maxSearchLength = 100;

/** Reads `[search] [sort:…] [only:…]`. Throws a UserError that names what is wrong and what would be right. */
export function readZoneQuery(words: Words): ZoneQuery {
  for (const name of Object.keys(words.named)) {
    if (name === 'sort' || name === 'only') continue;
    throw new UserError(
      `\`/cdn zones\` does not know ${formatCode(`${name}:`, 40)}.`,
      `It knows ${listChoices('sort', zoneSorts)} and ${listChoices('only', zoneFilters)}.`,
      [...createInsteads(words, 'sort', zoneSorts), ...createInsteads(words, 'only', zoneFilters)],
    );
  }
  const search = words.list.join(' ').trim();
  if (search.length > maxSearchLength) {
    throw new UserError(
      `This search has ${search.length} characters, more than any zone's name.`,
      'Type a part of a name or hostname.',
    );
  }
  return {
    search,
    sort: readChoice('sort', words, zoneSorts) ?? 'name',
    only: readChoice('only', words, zoneFilters),
    page: 1,
  };
}

export function encodeZoneQuery(query: ZoneQuery): string {
  const pairs = { search: query.search, sort: query.sort, only: query.only ?? '', page: String(query.page) };
  return new URLSearchParams(Object.entries(pairs).filter(([, value]) => value !== '')).toString();
}

const buttonSchema = z.object({
  search: z.string().max(maxSearchLength).default(''),
  sort: z.enum(zoneSorts).default('name'),
  only: z.enum(zoneFilters).optional(),
  page: z.coerce.number().int().min(1).default(1),
});

/** What `zoneQueryValue` wrote. Throws a UserError where a button from an older version says something else. */
export function decodeZoneQuery(value: string): ZoneQuery {
  const parsed = buttonSchema.safeParse(Object.fromEntries(new URLSearchParams(value)));
  if (!parsed.success) {
    throw new UserError(
      'This button is from an older version of the list.',
      'Type `/cdn zones` for a new one.',
    );
  }
  return { ...parsed.data, only: parsed.data.only };
}

/** The zones a query shows, in order. A word matches an id, or a part of a name or hostname, whatever the case. */
export function selectZones(zones: readonly ZoneSummary[], query: Omit<ZoneQuery, 'page'>): ZoneSummary[] {
  const search = query.search.toLowerCase();
  const found = zones.filter((zone) => matchesQuery(zone, search) && matchesFilter(zone, query.only));
  // Plain comparison: sorting 50 000 names by language would hold everything up for a third of a second.
  return found
    .map((zone) => ({ zone, name: zone.name.toLowerCase(), number: sortValue(zone, query.sort) }))
    .sort((a, b) => b.number - a.number || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(({ zone }) => zone);
}

/** What is sorted by, the largest first. What was not reported comes last. */
function sortValue(zone: ZoneSummary, sort: ZoneQuery['sort']): number {
  switch (sort) {
    case 'name':
      return 0;
    case 'bandwidth':
      return zone.bandwidthUsed ?? -1;
    case 'charges':
      return zone.charges ?? -1;
  }
}

/** `search` in lower case. */
export function matchesQuery(zone: ZoneSummary, search: string): boolean {
  return (
    search === '' ||
    zone.id === search ||
    zone.name.toLowerCase().includes(search) ||
    zone.hostnames.some((hostname) => hostname.toLowerCase().includes(search))
  );
}

function matchesFilter(zone: ZoneSummary, only: ZoneQuery['only']): boolean {
  switch (only) {
    case undefined:
      return true;
    case 'attention':
      return attentionReasons(zone).length > 0;
    case 'disabled':
      return zone.enabled === false;
    case 'suspended':
      return zone.suspended === true;
  }
}

function readChoice<Choice extends string>(
  name: 'sort' | 'only',
  words: Words,
  allowed: readonly Choice[],
): Choice | undefined {
  const value = words.named[name];
  if (value === undefined) return undefined;
  const exact = allowed.find((choice) => choice === value.toLowerCase());
  if (exact) return exact;
  const [near] = findClosest(value, allowed, 1);
  throw new UserError(
    `\`${name}:${escapeMrkdwn(value.replaceAll('`', ''), 40)}\` is not one of the choices.`,
    near ? `Did you mean \`${name}:${near}\`?` : `Choose from ${listChoices(name, allowed)}.`,
    createInsteads(words, name, near ? [near, ...allowed.filter((other) => other !== near)] : allowed),
  );
}

function listChoices(name: string, allowed: readonly string[]): string {
  return allowed.map((choice) => `\`${name}:${choice}\``).join(', ');
}

/** The same list with a choice that there is; what else was typed, and is right, stays. */
function createInsteads(
  { list, named }: Words,
  name: 'sort' | 'only',
  allowed: readonly string[],
): Instead[] {
  const other = name === 'sort' ? 'only' : 'sort';
  const kept = [zoneSorts, zoneFilters].flat().find((choice) => choice === named[other]?.toLowerCase());
  const search = list.join(' ').trim();
  return allowed.map((choice) => ({
    label: `${name}:${choice}`,
    types: [
      'zones',
      ...(search === '' ? [] : [quoteWord(search)]),
      `${name}:${choice}`,
      ...(kept === undefined ? [] : [`${other}:${kept}`]),
    ].join(' '),
  }));
}
