import { z } from 'zod';
import { attentionReasons, rankAttention, type ZoneSummary } from '../../api/zones/summary.ts';
import { UserError } from '../../errors.ts';
import { escapeMrkdwn, formatCode } from '../../views/blocks/text.ts';
import {
  type Carried,
  carriedKinds,
  type ZoneFilter,
  type ZoneQuery,
  zoneFilters,
  zoneSorts,
} from '../../views/zones/query.ts';
import { quoteWord } from '../../views/zones/rows.ts';
import { findClosest } from '../did-you-mean.ts';
import type { Words } from '../words.ts';
import { hasHostname, readHost } from './hosts.ts';

/** Longer than any hostname; even escaped it fits into a button's 2000 characters. */
const maxSearchLength = 100;

/**
 * Parses `[search] [only:…] [origin:… script:… app:… storage:… host:…] [sort:…]`. Throws a UserError that names the
 * mistake and valid choices.
 */
export function readZoneQuery(words: Words): ZoneQuery {
  for (const name of Object.keys(words.named)) {
    if (name === 'sort' || name === 'only' || isCarried(name)) continue;
    throw new UserError(
      `\`/cdn zones\` does not know ${formatCode(`${name}:`, 40)}.`,
      `It knows \`only:\`, \`sort:\` and ${carriedKinds.map((kind) => `\`${kind}:\``).join(', ')}.`,
      [...createInsteads(words, 'sort', zoneSorts), ...createInsteads(words, 'only', zoneFilters)],
    );
  }
  return {
    search: readSearch(words.list.join(' ').trim()),
    sort: readChoice('sort', words, zoneSorts) ?? 'attention',
    only: readChoice('only', words, zoneFilters, filterAliases),
    carried: readCarried(words.named),
  };
}

/** An address that was pasted stands for its hostname. */
function readSearch(typed: string): string {
  return readLength(/^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+[/:])/iu.test(typed) ? readHost(typed) : typed);
}

function isCarried(name: string): name is Carried {
  return carriedKinds.some((kind) => kind === name);
}

/** Zeros before a number are no part of an id. */
const isNumber: Partial<Record<Carried, RegExp>> = { script: /^0+(?=\d+$)/u, storage: /^0+(?=\d+$)/u };

function readCarried(named: Words['named']): ZoneQuery['carried'] {
  const given = Object.entries(named).flatMap(([name, typed]) => {
    if (!isCarried(name)) return [];
    const value = readLength(typed.trim()).replace(isNumber[name] ?? /(?!)/u, '');
    if (value !== '') return [[name, value] as const];
    throw new UserError(
      `Nothing stands behind \`${name}:\`.`,
      name === 'origin' || name === 'host'
        ? `Type a part of it: \`/cdn zones ${name}:example.com\``
        : `Type the whole id: \`/cdn zones ${name}:301\``,
    );
  });
  return Object.fromEntries(given);
}

function readLength(typed: string): string {
  if (typed.length <= maxSearchLength) return typed;
  throw new UserError(
    `This search has ${typed.length} characters, more than any zone's name.`,
    'Type a part of a name or hostname.',
  );
}

const part = z.string().trim().max(maxSearchLength).optional();
/** The fields of the form, and the values of a button; those of an older version may have more. */
export const queryFields = z
  .object({
    search: part,
    sort: z.enum(zoneSorts).default('attention'),
    only: z.enum(zoneFilters).optional(),
    origin: part,
    script: part,
    app: part,
    storage: part,
    host: part,
  })
  .transform(({ search = '', sort, only, ...rest }): ZoneQuery => {
    const carried = Object.fromEntries(Object.entries(rest).filter(([, value]) => value));
    return { search, sort, only, carried };
  });

/** Parses the value of `encodeZoneQuery`. Throws a UserError for a button of an older version. */
export function decodeZoneQuery(value: string): ZoneQuery {
  const { data } = queryFields.safeParse(Object.fromEntries(new URLSearchParams(value)));
  if (data) return data;
  throw new UserError(
    'This button is from an older version of the list.',
    'Type `/cdn zones` for a new one.',
  );
}

/** The zones of a query, sorted. The search also finds what a zone carries, in any case. */
export function selectZones(zones: readonly ZoneSummary[], query: ZoneQuery): ZoneSummary[] {
  const search = query.search.toLowerCase();
  const carried = Object.entries(query.carried).map(
    ([kind, wanted]) => [matchers[kind as Carried], wanted.toLowerCase()] as const,
  );
  const found = zones.filter(
    (zone) =>
      (matchesQuery(zone, search) || matchesCarried(zone, search)) &&
      carried.every(([matches, wanted]) => matches(zone, wanted)) &&
      (query.only === undefined || filters[query.only](zone)),
  );
  // Plain comparison: sorting 50 000 names by locale would block the event loop for a third of a second.
  return found
    .map((zone) => ({
      zone,
      name: zone.name.toLowerCase(),
      rank: sortRank(zone, query.sort),
      number: sortValue(zone, query.sort),
    }))
    .sort(
      (a, b) => b.rank - a.rank || b.number - a.number || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
    )
    .map(({ zone }) => zone);
}

function sortRank(zone: ZoneSummary, sort: ZoneQuery['sort']): number {
  return sort === 'attention' ? rankAttention(zone) : 0;
}

/** The number to sort by, the largest first. Missing ones come last. */
function sortValue(zone: ZoneSummary, sort: ZoneQuery['sort']): number {
  if (sort === 'name') return 0;
  return (sort === 'charges' ? zone.charges : zone.bandwidthUsed) ?? -1;
}

/** An id, or a part of a name or hostname. `search` in lower case. */
export function matchesQuery(zone: ZoneSummary, search: string): boolean {
  return (
    search === '' ||
    zone.id === search ||
    zone.name.toLowerCase().includes(search) ||
    zone.hostnames.some((hostname) => hostname.toLowerCase().includes(search)) ||
    (search.includes('.') && hasHostname(zone, search))
  );
}

/** By what a zone carries; the wanted value in lower case. */
const matchers: Record<Carried, (zone: ZoneSummary, wanted: string) => boolean> = {
  origin: matchesOrigin,
  script: ({ edgeScriptId, middlewareScriptId }, id) => edgeScriptId === id || middlewareScriptId === id,
  app: ({ appId }, id) => appId?.toLowerCase() === id,
  storage: ({ storageZoneId }, id) => storageZoneId === id,
  host: ({ hostnames }, wanted) => hostnames.some((hostname) => hostname.toLowerCase().includes(wanted)),
};

/** A part of its origin, or the whole id of a script, app or storage zone. `search` in lower case. */
function matchesCarried(zone: ZoneSummary, search: string): boolean {
  return carriedKinds.some((kind) => kind !== 'host' && matchers[kind](zone, search));
}

function matchesOrigin({ originUrl }: ZoneSummary, wanted: string): boolean {
  const part = wanted.replace(/^https?:\/\//u, '').replace(/\/$/u, '');
  if (originUrl === undefined || part === '') return false;
  const scheme = originUrl.indexOf('://');
  // Behind the scheme, which would match nearly every zone.
  return originUrl.toLowerCase().includes(part, scheme === -1 ? 0 : scheme + 3);
}

const filters: Record<ZoneFilter, (zone: ZoneSummary) => boolean> = {
  attention: (zone) => rankAttention(zone) > 0,
  suspended: ({ suspended }) => suspended === true,
  disabled: ({ enabled }) => enabled === false,
  off: ({ enabled, suspended }) => enabled === false || suspended === true,
  'above-80': (zone) => attentionReasons(zone).includes('near-limit'),
  'no-certificate': ({ hostnamesWithoutCertificate }) => hostnamesWithoutCertificate.length > 0,
  'old-tls': ({ weaknesses }) => weaknesses?.includes('old-tls') === true,
  'no-logging': ({ weaknesses }) => weaknesses?.includes('no-logging') === true,
};

/** Other words that people type for a filter. */
const filterAliases: Readonly<Record<string, ZoneFilter>> = {
  '80': 'above-80',
  above80: 'above-80',
  certificate: 'no-certificate',
  tls: 'old-tls',
  logging: 'no-logging',
};

/** The query that was meant if the search is a word of `only:`. */
export function findMeantFilter(query: ZoneQuery): ZoneQuery | undefined {
  const only = zoneFilters.find((filter) => filter === query.search.toLowerCase());
  return only && query.only === undefined ? { ...query, search: '', only } : undefined;
}

function readChoice<Choice extends string>(
  name: 'sort' | 'only',
  words: Words,
  allowed: readonly Choice[],
  aliases: Readonly<Record<string, Choice>> = {},
): Choice | undefined {
  const value = words.named[name];
  if (value === undefined) return undefined;
  const typed = value.toLowerCase();
  const exact = allowed.find((choice) => choice === typed) ?? new Map(Object.entries(aliases)).get(typed);
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
