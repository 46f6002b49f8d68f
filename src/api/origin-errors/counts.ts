import { createHeavyHitters } from '../../lib/heavy-hitters.ts';
import { hourMs } from '../../lib/time.ts';
import type { OriginError, OriginErrorDetails } from './origin-errors.ts';

interface Kind {
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
}

/** Entries with the same error code, status and server zone. */
export interface Group extends Kind {
  readonly count: number;
  /** ms since the epoch; undefined where no entry of it had a time. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** One entry, as it is shown to people. */
export interface Sample extends Kind, Omit<OriginErrorDetails, keyof Kind> {
  readonly id: string;
  readonly at: number | undefined;
}

/** A group while entries are counted; `first` and `last` are infinite until one has a time. */
interface Tally extends Kind {
  count: number;
  first: number;
  last: number;
  /** Its newest entry, and of those without a time its first. */
  sample: OriginError | undefined;
}

/** The counts of some entries: bounded, however many entries there were. */
export type OriginErrorCounts = ReturnType<ReturnType<typeof createOriginErrorCounter>['result']>;

/** A service has about ten codes, six statuses and some hundred server zones; more is noise. */
const maxGroups = 2000;
const maxSamples = 5;

/**
 * Counts entries while they arrive. Memory does not grow with their number: groups and address beginnings are bounded,
 * and only samples of the entries are kept. `start` (ms) is where hour 0 begins, of `hours` that are `hourLength` (ms) long
 * each; entries from `since` (ms) on are counted as recent.
 */
export function createOriginErrorCounter(options: {
  readonly start: number;
  readonly hours: number;
  readonly hourLength?: number;
  readonly since?: number;
}) {
  const { since = Number.POSITIVE_INFINITY, hourLength = hourMs } = options;
  const groups = new Map<string, Tally>();
  const ungrouped = createTally({ errorCode: undefined, statusCode: undefined, serverZone: undefined });
  const hours = Array.from({ length: options.hours }, () => 0);
  const state = {
    groups,
    ungrouped,
    hours,
    recent: 0,
    newest: new Array<OriginError>(),
    prefixes: createHeavyHitters(),
    prefixesMissed: 0,
  };

  return {
    state,
    add(entry: OriginError): void {
      const { at = Number.NaN } = entry;
      const hour = Math.floor((at - options.start) / hourLength);
      const inHour = hours[hour];
      if (inHour !== undefined) hours[hour] = inHour + 1;
      if (at >= since) state.recent += 1;
      grow(findGroup(entry), 1, at, at, entry);
      addNewest(state.newest, entry);
      const path = entry.path();
      if (path !== undefined) state.prefixes.add(findPathPrefix(path));
    },
    /** Adds the counts of another counter. */
    merge({ state: other }: { readonly state: typeof state }): void {
      for (const more of other.groups.values())
        grow(findGroup(more), more.count, more.first, more.last, more.sample);
      grow(ungrouped, other.ungrouped.count, other.ungrouped.first, other.ungrouped.last);
      for (const [hour, count] of other.hours.entries()) hours[hour] = (hours[hour] ?? 0) + count;
      state.recent += other.recent;
      for (const entry of other.newest) addNewest(state.newest, entry);
      const { words, missed } = other.prefixes.top();
      for (const [prefix, count] of words) state.prefixes.add(prefix, count);
      state.prefixesMissed += missed + other.prefixesMissed;
    },
    result() {
      const ranked = [...groups.values()].toSorted(
        (a, b) => b.count - a.count || (toKey(a) < toKey(b) ? -1 : 1),
      );
      const all = [...ranked, ungrouped];
      const codes = new Map<string, number>();
      for (const { errorCode = '', count } of ranked)
        codes.set(errorCode, (codes.get(errorCode) ?? 0) + count);
      const { words, missed } = state.prefixes.top();
      return {
        total: all.reduce((sum, { count }) => sum + count, 0),
        // The largest first.
        groups: ranked.map(toGroup),
        // Entries outside of these groups, since there were too many.
        ungrouped: ungrouped.count,
        // Beginnings of addresses, the most frequent first, with the least number of their entries.
        prefixes: words,
        // The counts of prefixes may be too small by this much.
        prefixesMissed: missed + state.prefixesMissed,
        // Entries in each hour, or each part of another length, from the start on.
        hours: [...hours],
        recent: state.recent,
        first: toTime(Math.min(...all.map(({ first }) => first))),
        last: toTime(Math.max(...all.map(({ last }) => last))),
        samples: takeSamples(ranked, state.newest),
        // Entries by error code; `''` if not reported.
        codes,
      };
    },
  };

  function findGroup({ errorCode, statusCode, serverZone }: Partial<Kind>): Tally {
    const kind = { errorCode, statusCode, serverZone };
    const key = toKey(kind);
    const known = groups.get(key);
    if (known || groups.size >= maxGroups) return known ?? ungrouped;
    const group = createTally(kind);
    groups.set(key, group);
    return group;
  }
}

function createTally(kind: Kind): Tally {
  const [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  return { ...kind, count: 0, first, last, sample: undefined };
}

/** `first` and `last` are not numbers where the entry has no time. */
function grow(tally: Tally, count: number, first: number, last: number, sample?: OriginError): void {
  tally.count += count;
  tally.sample ??= sample;
  if (first < tally.first) tally.first = first;
  if (last > tally.last) {
    tally.last = last;
    tally.sample = sample;
  }
}

function toGroup({ errorCode, statusCode, serverZone, count, first, last }: Tally): Group {
  return { errorCode, statusCode, serverZone, count, first: toTime(first), last: toTime(last) };
}

function toTime(at: number): number | undefined {
  return Number.isFinite(at) ? at : undefined;
}

function toKey({ errorCode, statusCode, serverZone }: Kind): string {
  return `${errorCode ?? ''} ${statusCode ?? ''} ${serverZone ?? ''}`;
}

/** Keeps the newest of all entries, the oldest of them first. */
function addNewest(newest: OriginError[], entry: OriginError): void {
  if (newest.length < maxSamples) newest.push(entry);
  else if (readTime(entry) > readTime(newest[0])) newest[0] = entry;
  else return;
  newest.sort((a, b) => readTime(a) - readTime(b));
}

function readTime(entry: OriginError | undefined): number {
  return entry?.at ?? Number.NEGATIVE_INFINITY;
}

/** The newest entry of the largest group of each code, so that every kind of failure is shown; then of others. */
function takeSamples(groups: readonly Tally[], newest: readonly OriginError[]): Sample[] {
  const largest = new Map(groups.toReversed().map((group) => [group.errorCode, group]));
  const byCode = new Set(groups.map(({ errorCode }) => largest.get(errorCode)));
  const chosen = [...byCode].slice(0, maxSamples).concat(groups.slice(0, maxSamples));
  const entries = new Set([...chosen.map((group) => group?.sample), ...newest.toReversed()]);
  return [...entries]
    .filter((entry) => entry !== undefined)
    .slice(0, maxSamples)
    .sort((a, b) => readTime(b) - readTime(a))
    .map((entry) => {
      const { id, at, errorCode, statusCode, serverZone } = entry;
      return { ...entry.details(), id, at, errorCode, statusCode, serverZone };
    });
}

/**
 * The folder of a path, at most two deep: `/img/a.png` → `/img/…`, `/api/orders/17` → `/api/orders/…`. A path at the top
 * stays: `/cart`. A host in front stays, without its scheme.
 */
export function findPathPrefix(path: string): string {
  const rest = path.startsWith('/') ? path : path.replace(/^[a-z][a-z\d+.-]*:\/\//iu, '');
  const root = rest.indexOf('/');
  const first = root === -1 ? -1 : rest.indexOf('/', root + 1);
  if (first === -1) return rest.slice(0, 120) || '/';
  const second = rest.indexOf('/', first + 1);
  return `${rest.slice(0, Math.min(second === -1 ? first : second, 120)) || '/'}/…`;
}

/**
 * Remembers ids by 53 bits of a hash, a third of what the strings take. Among a million ids two collide with a chance of
 * one in eighteen thousand. After `most` ids no more are stored, and unknown ids count as new.
 */
export function createSeenIds(most = 4_000_000) {
  const seen = new Set<number>();
  return {
    /** True the first time an id is given. */
    isNew(id: string): boolean {
      const hash = hashId(id);
      if (seen.has(hash)) return false;
      if (seen.size < most) seen.add(hash);
      return true;
    },
  };
}

/** 53 bits (cyrb53): two hashes side by side, each multiplied and mixed. */
function hashId(id: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < id.length; at += 1) {
    const code = id.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
