import { attentionReasons, rankAttention, type Weakness, type ZoneSummary } from '../../api/zones/summary.ts';
import { UserError } from '../../errors.ts';
import { trimZeros } from '../../lib/names.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { escapeMrkdwn, formatCode } from '../../views/blocks/text.ts';
import {
  type Carried,
  carriedKinds,
  type ZoneFilter,
  type ZoneQuery,
  zoneFilters,
  zoneSorts,
} from '../../views/zones/list.ts';
import { findClosest } from '../did-you-mean.ts';
import { parseWords, type Token, type Words, withoutFirst } from '../words.ts';
import { hasHostname, readHost } from './hosts.ts';

const maxSearchLength = 100;

export const queryNames: readonly string[] = ['sort', 'only', ...carriedKinds];

/** Parses the words of `/cdn zones`. @throws UserError that names the mistake and valid choices */
export function readZoneQuery(words: Words): ZoneQuery {
  const unknown = Object.keys(words.named).find((name) => !queryNames.includes(name));
  if (unknown !== undefined)
    throw new UserError(
      `\`/cdn zones\` does not know ${formatCode(`${unknown}:`, 40)}.`,
      `It knows \`only:\`, \`sort:\` and ${carriedKinds.map((kind) => `\`${kind}:\``).join(', ')}.`,
      [...createInsteads(words, 'sort', zoneSorts), ...createInsteads(words, 'only', zoneFilters)],
    );
  const typed = words.list.join(' ').trim();
  const isAddress = /^(?:https?:\/\/|[\w-]+(?:\.[\w-]+)+[/:])/iu.test(typed);
  return {
    search: checkLength(isAddress ? readHost(typed) : typed),
    sort: readChoice('sort', words, zoneSorts) ?? 'attention',
    only: readChoice('only', words, zoneFilters, filterAliases),
    carried: Object.fromEntries(
      carriedKinds.flatMap((kind) => {
        const value = words.named[kind];
        return value === undefined ? [] : [[kind, readCarried(kind, value)]];
      }),
    ),
  };
}

function readCarried(name: Carried, typed: string): string {
  const value = checkLength(typed.trim());
  if (value !== '') return name === 'script' || name === 'storage' ? trimZeros(value) : value;
  throw new UserError(
    `Nothing follows \`${name}:\`.`,
    name === 'origin' || name === 'host'
      ? `Type part of it: \`/cdn zones ${name}:example.com\``
      : `Type the whole ID: \`/cdn zones ${name}:301\``,
  );
}

function checkLength(typed: string): string {
  if (typed.length <= maxSearchLength) return typed;
  throw new UserError(
    `This search has ${formatCount(typed.length, 'character')}, more than any zone’s name.`,
    'Type part of a name or hostname.',
  );
}

/** The words of a button. */
export function decodeZoneQuery(value: string): ZoneQuery {
  return readZoneQuery(withoutFirst(parseWords(value)));
}

/**
 * The zones of a query, sorted. The search also finds what a zone carries, in any case. `unknown` may be of it, too: they do not
 * report what `only:` asks for.
 */
export function selectZones(
  zones: readonly ZoneSummary[],
  query: ZoneQuery,
): { readonly zones: ZoneSummary[]; readonly unknown: number } {
  const search = query.search.toLowerCase();
  // Normalized like `/cdn zone`: without a scheme, a `#` or a trailing dot, in ASCII.
  const texts = new Set([search, readHost(search) || search, search.replace(/^\*(?=\.)/u, '')]);
  const carried = Object.entries(query.carried).map(
    ([kind, wanted]) => [matchers[kind as Carried], wanted.toLowerCase()] as const,
  );
  let unknown = 0;
  const found = zones.filter((zone) => {
    const isMeant =
      [...texts].some(
        (text) => matchesQuery(zone, text) || Object.values(matchers).some((matches) => matches(zone, text)),
      ) && carried.every(([matches, wanted]) => matches(zone, wanted));
    if (!isMeant || query.only === undefined) return isMeant;
    const isSo = filters[query.only](zone);
    if (isSo === undefined) unknown += 1;
    return isSo;
  });
  const numberOf = (zone: ZoneSummary) =>
    query.sort === 'name' ? 0 : ((query.sort === 'charges' ? zone.charges : zone.bandwidthUsed) ?? -1);
  // Plain comparison: sorting 50 000 names by locale would block the event loop for a third of a second.
  const sorted = found
    .map((zone) => ({
      zone,
      name: zone.name.toLowerCase(),
      rank: query.sort === 'attention' ? rankAttention(zone) : 0,
      number: numberOf(zone),
    }))
    .sort(
      (a, b) => b.rank - a.rank || b.number - a.number || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
    )
    .map(({ zone }) => zone);
  return { zones: sorted, unknown };
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

const matchers: Record<Carried, (zone: ZoneSummary, wanted: string) => boolean> = {
  origin: ({ originUrl }, wanted) => {
    const part = wanted.replace(/^https?:\/\//u, '').replace(/\/$/u, '');
    if (originUrl === undefined || part === '') return false;
    const scheme = originUrl.indexOf('://');
    // After the scheme, which would match nearly every zone.
    return originUrl.toLowerCase().includes(part, scheme === -1 ? 0 : scheme + 3);
  },
  script: ({ edgeScriptId, middlewareScriptId }, id) => edgeScriptId === id || middlewareScriptId === id,
  app: ({ appId }, id) => appId?.toLowerCase() === id,
  storage: ({ storageZoneId }, id) => storageZoneId === id,
  host: ({ hostnames }, wanted) => hostnames.some((hostname) => hostname.toLowerCase().includes(wanted)),
};

/** Undefined: not reported. */
const filters: Record<ZoneFilter, (zone: ZoneSummary) => boolean | undefined> = {
  attention: (zone) =>
    rankAttention(zone) > 0 ||
    unless(zone.enabled === undefined || zone.isCertificateUnreported === true || isUsageUnreported(zone)),
  suspended: ({ suspended }) => suspended,
  disabled: ({ enabled }) => (enabled === undefined ? undefined : !enabled),
  off: ({ enabled, suspended }) =>
    enabled === false || suspended === true || unless(enabled === undefined || suspended === undefined),
  'above-80': (zone) => attentionReasons(zone).includes('near-limit') || unless(isUsageUnreported(zone)),
  'no-certificate': ({ hostnamesWithoutCertificate, isCertificateUnreported }) =>
    hostnamesWithoutCertificate.length > 0 || unless(isCertificateUnreported === true),
  'old-tls': (zone) => hasWeakness(zone, 'old-tls'),
  'no-logging': (zone) => hasWeakness(zone, 'no-logging'),
};

/** No, unless it is not reported. */
function unless(isUnreported: boolean): false | undefined {
  return isUnreported ? undefined : false;
}

function isUsageUnreported({ bandwidthUsed, bandwidthLimit, isUnlimited }: ZoneSummary): boolean {
  return !isUnlimited && (bandwidthUsed === undefined || bandwidthLimit === undefined);
}

function hasWeakness({ weaknesses, weaknessesUnreported }: ZoneSummary, one: Weakness) {
  return weaknesses?.includes(one) || unless(weaknessesUnreported?.includes(one) === true);
}

const filterAliases = new Map<string, ZoneFilter>([
  ['80', 'above-80'],
  ['above80', 'above-80'],
  ['certificate', 'no-certificate'],
  ['cert', 'no-certificate'],
  ['tls', 'old-tls'],
  ['logging', 'no-logging'],
]);

/** `zones disabled` and `zones old tls`, where no zone is called so. */
export function readFilterName(query: ZoneQuery): ZoneQuery {
  const typed = query.search.toLowerCase().replaceAll(' ', '-');
  const only = zoneFilters.find((filter) => filter === typed) ?? filterAliases.get(typed);
  return only && query.only === undefined ? { ...query, search: '', only } : query;
}

function readChoice<Choice extends string>(
  name: 'sort' | 'only',
  words: Words,
  allowed: readonly Choice[],
  aliases?: ReadonlyMap<string, Choice>,
): Choice | undefined {
  const value = words.named[name];
  if (value === undefined) return undefined;
  const typed = value.toLowerCase();
  const exact = allowed.find((choice) => choice === typed) ?? aliases?.get(typed);
  if (exact) return exact;
  const [near] = findClosest(value, allowed, 1);
  throw new UserError(
    `\`${name}:${escapeMrkdwn(value.replaceAll('`', ''), 40)}\` is not one of the choices.`,
    near
      ? `Did you mean \`${name}:${near}\`?`
      : `Choose from ${allowed.map((choice) => `\`${name}:${choice}\``).join(', ')}.`,
    createInsteads(words, name, near ? [near, ...allowed.filter((other) => other !== near)] : allowed),
  );
}

/** The same command with a valid choice; the other typed words stay. */
function createInsteads({ tokens }: Words, name: 'sort' | 'only', allowed: readonly string[]) {
  const isKept = (token: Token) =>
    token.name === undefined || (token.name !== name && queryNames.includes(token.name));
  const before = ['zones', ...tokens.filter(isKept).map(({ typed }) => typed)].join(' ');
  return allowed.map((choice) => ({ label: `${name}:${choice}`, types: `${before} ${name}:${choice}` }));
}
