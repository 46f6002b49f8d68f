import { z } from 'zod';
import { attentionReasons, type ZoneSummary } from '../../api/zones/summary.ts';
import { UserError } from '../../errors.ts';
import { escapeMrkdwn, formatCode } from '../../views/blocks/text.ts';
import { type ZoneQuery } from '../../views/zones/list.ts';
import { quoteWord } from '../../views/zones/rows.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';

const zoneSorts = ['name', 'bandwidth', 'charges'] as const;
const zoneFilters = ['attention', 'disabled', 'suspended'] as const;

/** Longer than any hostname; even escaped it fits into a button's 2000 characters. */
const maxSearchLength = 100;

/** Parses `[search] [sort:…] [only:…]`. Throws a UserError that names the mistake and valid choices. */
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

const buttonSchema = z.object({
  search: z.string().max(maxSearchLength).default(''),
  sort: z.enum(zoneSorts).default('name'),
  only: z.enum(zoneFilters).optional(),
  page: z.coerce.number().int().min(1).default(1),
});

/** Parses the value of `encodeZoneQuery`. Throws a UserError for a button of an older version. */
export function decodeZoneQuery(value: string): ZoneQuery {
  const { data } = buttonSchema.safeParse(Object.fromEntries(new URLSearchParams(value)));
  if (data) return { ...data, only: data.only };
  throw new UserError(
    'This button is from an older version of the list.',
    'Type `/cdn zones` for a new one.',
  );
}

/** The zones of a query, sorted. The search also finds what a zone carries, in any case. */
export function selectZones(zones: readonly ZoneSummary[], query: Omit<ZoneQuery, 'page'>): ZoneSummary[] {
  const search = query.search.toLowerCase();
  const found = zones.filter(
    (zone) => (matchesQuery(zone, search) || carries(zone, search)) && matchesFilter(zone, query.only),
  );
  // Plain comparison: sorting 50 000 names by locale would block the event loop for a third of a second.
  return found
    .map((zone) => ({ zone, name: zone.name.toLowerCase(), number: sortValue(zone, query.sort) }))
    .sort((a, b) => b.number - a.number || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    .map(({ zone }) => zone);
}

/** The number to sort by, the largest first. Missing ones come last. */
function sortValue(zone: ZoneSummary, sort: ZoneQuery['sort']): number {
  if (sort === 'name') return 0;
  return (sort === 'bandwidth' ? zone.bandwidthUsed : zone.charges) ?? -1;
}

/** An id, or a part of a name or hostname. `search` in lower case. */
export function matchesQuery(zone: ZoneSummary, search: string): boolean {
  return (
    search === '' ||
    zone.id === search ||
    zone.name.toLowerCase().includes(search) ||
    zone.hostnames.some((hostname) => hostname.toLowerCase().includes(search))
  );
}

/** A part of its origin, or the whole id of a script, app or storage zone. `search` in lower case. */
function carries(zone: ZoneSummary, search: string): boolean {
  const { originUrl, edgeScriptId, middlewareScriptId, appId, storageZoneId } = zone;
  if ([edgeScriptId, middlewareScriptId, storageZoneId, appId?.toLowerCase()].includes(search)) return true;
  const part = search.replace(/^https?:\/\//u, '').replace(/\/$/u, '');
  if (originUrl === undefined || part === '') return false;
  const scheme = originUrl.indexOf('://');
  // Behind the scheme, which would match nearly every zone.
  return originUrl.toLowerCase().includes(part, scheme === -1 ? 0 : scheme + 3);
}

/** The query that was meant if the search is a word of `only:`. */
export function findMeantFilter(query: ZoneQuery): ZoneQuery | undefined {
  const only = zoneFilters.find((filter) => filter === query.search.toLowerCase());
  return only && query.only === undefined ? { ...query, search: '', only, page: 1 } : undefined;
}

function matchesFilter(zone: ZoneSummary, only: ZoneQuery['only']): boolean {
  if (only === undefined) return true;
  if (only === 'attention') return attentionReasons(zone).length > 0;
  return only === 'disabled' ? zone.enabled === false : zone.suspended === true;
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

/** The same command with a valid choice; the valid rest of the typed words stays. */
function createInsteads({ list, named }: Words, name: 'sort' | 'only', allowed: readonly string[]) {
  const other = name === 'sort' ? 'only' : 'sort';
  const kept = [zoneSorts, zoneFilters].flat().find((choice) => choice === named[other]?.toLowerCase());
  const search = list.join(' ').trim();
  const before = search === '' ? 'zones' : `zones ${quoteWord(search)}`;
  const behind = kept === undefined ? '' : ` ${other}:${kept}`;
  return allowed.map((choice) => ({
    label: `${name}:${choice}`,
    types: `${before} ${name}:${choice}${behind}`,
  }));
}
