import { ApiError } from '../../api/http/errors.ts';
import type { Zone } from '../../api/zones/members.ts';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { UserError } from '../../errors.ts';
import { formatCode } from '../../views/blocks/text.ts';
import type { AffectedZones, VolumeShown } from '../../views/operations/describe.ts';
import type { UnclearZone } from '../../views/zones/rows.ts';
import { isPlainWord } from '../aliases.ts';
import type { Context } from '../define.ts';
import { findClosest } from '../did-you-mean.ts';
import { counts, month, weekday } from '../moments.ts';
import { readOriginHost } from '../origin-errors/choose-zones.ts';
import { isWholeTime } from '../periods.ts';
import { type Token, toWords, type Words } from '../words.ts';
import { hasHostname, readHost } from './hosts.ts';
import { matchesQuery } from './query.ts';
import type { CachedZones, LoadOutcome } from './zone-cache.ts';

export async function loadAllZones(context: Context): Promise<CachedZones> {
  // Before the key is resolved: what is read with a key that is revoked meanwhile is not cached.
  const mine = context.zoneCache.forPerson(context.person);
  return mine.get() ?? mine.set(await (await context.cdn()).pullZones.all());
}

export function readAllZones(context: Context): Promise<CachedZones> {
  context.zoneCache.forPerson(context.person).expire();
  return loadAllZones(context);
}

export function findKnownZones(context: Context): CachedZones | undefined {
  return context.zoneCache.forPerson(context.person).get();
}

/** Goes on when the menu that asked has been answered. */
export function prefetchZones(context: Context): Promise<LoadOutcome> {
  return context.zoneCache
    .forPerson(context.person)
    .prefetch(async () => (await context.cdn(AbortSignal.any([]))).pullZones.all(), context.explain);
}

/** The consequences of a deletion. @throws UserError where the CDN does not know the app; ApiError */
export async function loadAffectedByVolume(appId: string, context: Context): Promise<VolumeShown> {
  const client = await context.cdn();
  const [list, app] = await Promise.all([
    readAllZones(context),
    client.apps.summary(appId).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'not_found')
        throw new UserError(
          `The CDN does not know the app ${formatCode(appId, 60)}.`,
          'Check the ID for typos; `/cdn app` lists the apps that your zones use.',
        );
      if (['key_refused', 'cancelled'].includes(error.code) || error.fieldErrors.length > 0) throw error;
      return undefined;
    }),
  ]);
  return {
    ...findAffectedZones(list, (zone) => zone.appId === appId),
    volumeSizeInGb: app?.totalVolumeSizeInGb,
    monthlyCost: app?.monthlyCost,
    summary: app === undefined ? 'unreadable' : 'read',
  };
}

/** The zones that run a script, at their edge or as middleware. Read now. @throws ApiError */
export async function loadAffectedByScript(scriptId: string, context: Context): Promise<AffectedZones> {
  const runs = (zone: ZoneSummary) => [zone.edgeScriptId, zone.middlewareScriptId].includes(scriptId);
  return findAffectedZones(await readAllZones(context), runs);
}

function findAffectedZones(list: CachedZones, isAffected: (zone: ZoneSummary) => boolean): AffectedZones {
  const zones = list.zones.filter(isAffected);
  return {
    ...(list.skipped > 0 && { zonesSkipped: list.skipped }),
    zonesTotal: zones.length,
    zones: zones.slice(0, 12).map(({ id, name, hostnames }) => ({
      id,
      name: name.slice(0, 80),
      hostnames: hostnames.slice(0, 4).map((hostname) => hostname.slice(0, 80)),
      hostnamesTotal: hostnames.length,
    })),
  };
}

export type ZoneName = Pick<ZoneSummary, 'id' | 'name'>;

/** The zone that a person's words mean, or several, or none with names that are close. */
export type ZoneLookup =
  | {
      readonly kind: 'one';
      readonly zone: Pick<ZoneSummary, 'id' | 'name' | 'originUrl'>;
      readonly whole?: Zone | undefined;
    }
  | UnclearZone;

/** Around the name of a zone in a sentence: `errors for shop,`, `changes in the zone *shop*`. */
const beforeName = /^(?:(?:for|of|on|in|at|about|with|zone|the|id) |[\s([<*_@#.=|:–—"'“‘`-])+/iu;
const behindName = /(?:['’]s)?[\s)\]>*_,;.!?=|/:–—"'”’`-]*$/u;

/**
 * An exact id, name or hostname; else parts of them; else close names. What stands around a name counts only if needed: `for
 * the zone shop`, `shop asap`.
 */
export async function lookUpZone(typed: string, context: Context): Promise<ZoneLookup> {
  const found = await lookUpName(typed, context);
  if (found.kind !== 'none') return found;
  const name = typed.normalize('NFKC').replace(beforeName, '').replace(behindName, '');
  if (name !== '' && name !== found.typed) return lookUpZone(name, context);
  const [only = '', ...others] = typed.split(/[\s,]+/u).filter((word) => !isPlainWord(word));
  const isNamed = others.length === 0 && found.near.some((one) => one.toLowerCase() === only.toLowerCase());
  return isNamed ? lookUpName(only, context) : found;
}

async function lookUpName(typed: string, context: Context): Promise<ZoneLookup> {
  const host = readHost(typed);
  const name = typed.trim();
  const known = findKnownZones(context);
  // The CDN's search finds names in one small request; the rest needs the whole list. Longer words are not sent.
  if (!known && !/^\d+$/u.test(host) && host.length <= 200) {
    const { pullZones } = await context.cdn();
    const found = await pullZones.findAll((zone) => zone.name === name || hasHostname(zone, host), host);
    const summaries = found.map(({ summary }) => summary);
    const zones = findExact(summaries, name, host);
    const [zone, ...others] = zones;
    if (zone && others.length > 0) return { kind: 'several', words: host, zones };
    if (zone) return { kind: 'one', zone, whole: found.find(({ summary }) => summary === zone) };
  }
  const all = known ?? (await loadAllZones(context));
  const exact = findExact(all.zones, name, host);
  // Digits are an ID, not a part of a name: `7` is not the zone `week 47`.
  const isId = /^\d+$/u.test(host);
  const like = exact.length > 0 || isId ? exact : all.zones.filter((zone) => matchesQuery(zone, host));
  const zones = like.length > 0 ? like : all.zones.filter((zone) => readOriginHost(zone) === host);
  const [one] = zones;
  if (zones.length > 1) return { kind: 'several', words: host, zones };
  if (one) return { kind: 'one', zone: one };
  const names = all.zones.flatMap((zone) => (host.includes('.') ? zone.hostnames : [zone.name]));
  const line = ` ${host.replaceAll(/[\s,;]+/gu, ' ')} `;
  const named = names
    .filter((one) => (isId ? one.includes(host) : line.includes(` ${one.toLowerCase()} `)))
    .slice(0, 3);
  const near = [...new Set([...named, ...findClosest(host, names)])];
  return { kind: 'none', typed: name, near, unread: all.skipped };
}

function findExact(zones: readonly ZoneSummary[], name: string, host: string): ZoneSummary[] {
  const spelled = zones.filter((zone) => zone.name === name);
  const named = spelled.length > 0 ? spelled : zones.filter((zone) => zone.name.toLowerCase() === host);
  // The name of a zone may be the id of another one: both are offered.
  const meant = zones.filter((zone) => zone.id === host || named.includes(zone));
  if (meant.length > 0) return meant;
  // An exact hostname counts more than a wildcard.
  const hosts = zones.filter((zone) => hasHostname(zone, host));
  const own = hosts.find(({ hostnames }) => hostnames.some((hostname) => readHost(hostname) === host));
  return own ? [own] : hosts.slice(0, 1);
}

/**
 * The words, with those like `shop: images` as plain ones where a zone is called so and the command has no such name, and with
 * `Black Friday` as in quotes where that is a zone.
 */
export async function readZoneNames(words: Words, names: readonly string[], context: Context) {
  const isForeign = ({ name }: Token): boolean => name !== undefined && !names.includes(name);
  const line = words.list.join(' ').toLowerCase();
  const known = findKnownZones(context) ?? (words.tokens.some(isForeign) && (await loadAllZones(context)));
  const zones = known ? known.zones : await searchTimeNames(line, context);
  const called = new Set(zones.map(({ name }) => name.toLowerCase()));
  const tokens = words.tokens.map((token): Token => {
    const { typed, text } = token;
    const isName = isForeign(token) && [...called].some((name) => name.includes(text.toLowerCase()));
    return isName ? { typed, text, value: text } : token;
  });
  return toWords(
    words.raw,
    quoteNames(tokens, (text) => called.has(text.toLowerCase())),
  );
}

/** In `errors Black Friday`, but not in `errors shop since friday`. */
const timeWord = new RegExp(
  `(?<!\\b(?:last|this|since) |\\d )(?<=^| )(?:${month}|${weekday}|weekend|week|hour|day|month|night|morning|noon|midnight|${counts.join('|')})(?= |$)`,
  'gu',
);

/** The zones called like `Black Friday`, by the CDN's search: the list of a large account takes many requests. */
async function searchTimeNames(line: string, context: Context): Promise<readonly ZoneName[]> {
  const times = line.includes(' ') ? new Set(line.match(timeWord)?.slice(0, 3)) : [];
  const search = async (word: string) =>
    (await context.cdn()).pullZones.findAll(({ name }) => line.includes(name.toLowerCase()), word);
  return (await Promise.all([...times].map(search))).flat().map(({ summary }) => summary);
}

/** A pasted line may have thousands. */
const mostWords = 20;

function writePlain(tokens: readonly Token[]): string {
  return tokens.flatMap(({ name, quoted, text }) => (name || quoted ? [] : text)).join(' ');
}

/** Names of several words, or that are a time. Where it may be a period, only beside another time: `friday night 24h`. */
export function quoteNames(
  typed: readonly Token[],
  isName: (text: string) => boolean,
  isPeriod = isWholeTime,
): readonly Token[] {
  let tokens = typed;
  for (let length = tokens.length > mostWords ? 0 : tokens.length; length > 0; length -= 1)
    for (let at = 0; at + length <= tokens.length; at += 1) {
      const run = tokens.slice(at, at + length);
      const text = run.map((token) => token.text).join(' ');
      if (!isName(text)) continue;
      const isTime = isPeriod(text);
      const others = writePlain(tokens.toSpliced(at, length));
      const isBesideTime = isWholeTime(others) && !isWholeTime(writePlain(tokens));
      if (isTime ? isBesideTime : length > 1)
        tokens = tokens.toSpliced(at, length, { typed: text, text, value: text, quoted: true });
    }
  return tokens;
}

export function nameZone(id: string, context: Context): ZoneName {
  return findKnownZones(context)?.zones.find((zone) => zone.id === id) ?? { id, name: '' };
}

export const listHint = '`/cdn zones` shows the current list.';

export function createMissingError(id: string): UserError {
  return new UserError(`Your key sees no zone ${formatCode(id, 40)}.`, listHint);
}
