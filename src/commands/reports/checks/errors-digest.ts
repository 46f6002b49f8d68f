import { dayMs, hourMs } from '../../../lib/time.ts';
import {
  type ErrorFigures,
  listErrorFindings,
  renderErrorDetail,
  renderErrorLine,
} from '../../../views/reports/digests/errors.ts';
import { type Comparison, compareWithPast, type Earlier, findEarlier, noise } from '../digests/figures.ts';
import { type CollectInput, type CollectResult, type DigestKind, OutOfTime } from '../digests/kinds/kind.ts';
import { flattenName, groupNames, type Named, toNamed } from '../digests/names.ts';
import { type CodeMemory, findNewCodes, type ReadZone, readCodeMemory, readErrors } from './errors.ts';

const mostDays = 7;
const mostCodes = 12;
const mostPrefixes = 5;
const mostNewCodes = 10;

/** Origin errors since the previous run, of the chosen zones or of those that matter most. */
export const errorsDigest: DigestKind<'errors', ErrorFigures, CodeMemory> = {
  name: 'errors',
  label: 'Origin errors',
  words: /error/iu,
  target: 'zones',
  troubles: 'origin errors',
  collect: collectErrors,
  countTroubles: ({ total, undated = 0 }) => total + undated,
  listSince: ({ since }) => [since],
  // Codes that are new to a silent run are still to be reported.
  keepUnreported: (before, found) => ({ zones: { ...found.zones, ...readCodeMemory(before)?.zones } }),
  shrink: (errors) => ({
    ...errors,
    fresh: errors.fresh.map(({ zones: { count, first }, ...one }) => ({
      ...one,
      zones: { count, first: first.slice(0, 3) },
    })),
  }),
  listFindings: listErrorFindings,
  renderLine: renderErrorLine,
  renderDetail: (figures, _, timeZone) => renderErrorDetail(figures, timeZone),
};

async function collectErrors(
  input: CollectInput<ErrorFigures, CodeMemory>,
): Promise<CollectResult<ErrorFigures, CodeMemory>> {
  const { now, patienceMs, cdn, zoneList, targets } = input;
  const scope = targets.zones.toSorted().join(' ');
  const past = findEarlier(input, (errors) => (errors.scope === scope ? errors : undefined));
  const from = past.base ? Math.max(past.base.at, now.getTime() - mostDays * dayMs) : now.getTime() - dayMs;
  const begun = performance.now();
  const assertTime = (): void => {
    if (performance.now() - begun >= patienceMs) throw new OutOfTime();
  };
  const account = { ...cdn, pullZones: { all: zoneList } };
  const facts = await readErrors(account, { targets: targets.zones, since: from, assertTime });
  const failures = facts.failures.map(({ item, reason }) => ({ what: item.name, reason }));
  if (facts.read.length === 0 && failures.length > 0) return { figures: undefined, failures };
  const { fresh, memory } = nameNewCodes(facts.read, readCodeMemory(input.baseline));
  const { asked, of } = facts;
  const figures = {
    scope,
    since: past.since,
    asked,
    of,
    fresh,
    ...summarize(facts.read, { from, now, past }),
  };
  return { figures, baseline: memory, failures };
}

function nameNewCodes(read: readonly ReadZone[], before: CodeMemory | undefined) {
  const { found, memory } = findNewCodes(read, before);
  const fresh = new Map<string, { count: number; zones: Named[] }>();
  for (const { zone, codes } of found)
    for (const code of codes) {
      const name = flattenName(code);
      const known = fresh.get(name) ?? { count: 0, zones: [] };
      const count = zone.counts.sum(zone.counts.since).codes.get(code) ?? 0;
      fresh.set(name, { count: known.count + count, zones: [...known.zones, zone] });
    }
  const named = [...fresh].map(([code, { count, zones }]) => ({ code, count, zones: groupNames(zones) }));
  return { fresh: named.toSorted((a, b) => b.count - a.count).slice(0, mostNewCodes), memory };
}

/** By whole five minutes, so that what came after the last run is in this one. */
function summarize(
  read: readonly ReadZone[],
  { from, now, past }: { readonly from: number; readonly now: Date; readonly past: Earlier<ErrorFigures> },
) {
  const compare = (count: number, find: (found: ErrorFigures) => Comparison | undefined): Comparison => {
    const perDay = Math.round((count / ((now.getTime() - from) / dayMs)) * 10) / 10;
    return compareWithPast(perDay, past, find, noise.errors);
  };
  const codes = new Map<string, number>();
  const prefixes = new Map<string, number>();
  const firstHour = Math.floor(from / hourMs) * hourMs;
  const hours = Array.from({ length: Math.ceil((now.getTime() - firstHour) / hourMs) }, () => 0);
  let undated = 0;
  const zones = read.map(({ id, name, counts }) => {
    const sum = counts.sum(from, now.getTime());
    for (const [code, count] of sum.codes) codes.set(code, (codes.get(code) ?? 0) + count);
    if (sum.total > 0)
      for (const [prefix, count] of counts.prefixes(from))
        prefixes.set(prefix, (prefixes.get(prefix) ?? 0) + count);
    counts.forEach(from, now.getTime(), (at, count) => {
      const hour = Math.floor((at - firstHour) / hourMs);
      hours[hour] = (hours[hour] ?? 0) + count;
    });
    undated += sum.undated;
    const perDay = compare(sum.total, (found) => found.zones.find((zone) => zone.id === id)?.perDay);
    const [most] = [...sum.codes].toSorted((a, b) => b[1] - a[1]);
    const mostly = most && { mostly: flattenName(most[0]) };
    const zone = toNamed({ id, name: name === `zone ${id}` ? '' : name });
    return { ...zone, total: sum.total, perDay, ...mostly, ...(sum.partial ? { partial: true } : {}) };
  });
  const total = zones.reduce((sum, zone) => sum + zone.total, 0);
  return {
    from: new Date(from).toISOString(),
    total,
    perDay: compare(total, (found) => found.perDay),
    read: read.length,
    zones: zones.toSorted((a, b) => b.total - a.total),
    codes: rank(codes, mostCodes),
    prefixes: rank(prefixes, mostPrefixes),
    hours,
    firstHour,
    ...(undated > 0 ? { undated } : {}),
  };
}

function rank(counts: ReadonlyMap<string, number>, most: number): (readonly [string, number])[] {
  const ranked = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, most);
  return ranked.map(([name, count]) => [flattenName(name), count]);
}
