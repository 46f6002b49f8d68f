import { hourMs } from '../../lib/time.ts';
import type { OriginError, OriginErrorDay, OriginErrorDetails, OriginErrors } from './origin-errors.ts';
import { findPathPrefix } from './path-prefix.ts';
import type { SeenIds } from './seen-ids.ts';

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

/** One entry as it is shown. */
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

export type OriginErrorCounter = ReturnType<typeof createOriginErrorCounter>;
/** The counts of some entries: bounded, however many entries there were. */
export type OriginErrorCounts = ReturnType<OriginErrorCounter['result']>;

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
  const groups: Tally[] = [];
  // To join the three members for every entry would cost more than counting.
  const byKind = new Map<string | undefined, Map<number | undefined, Map<string | undefined, Tally>>>();
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
    /** For `merge`. */
    state,
    add(entry: OriginError): void {
      const { at = Number.NaN } = entry;
      const hour = Math.floor((at - options.start) / hourLength);
      const inHour = hours[hour];
      if (inHour !== undefined) hours[hour] = inHour + 1;
      if (at >= since) state.recent += 1;
      grow(findGroup(entry) ?? createGroup(entry, entry), 1, at, at, entry);
      addNewest(state.newest, entry);
      const path = entry.path();
      if (path !== undefined) state.prefixes.add(findPathPrefix(path));
    },
    /** Adds the counts of another counter. */
    merge({ state: other }: { readonly state: typeof state }): void {
      for (const more of other.groups) {
        const { count, first, last, sample } = more;
        grow(findGroup(more) ?? createGroup(more, sample), count, first, last, sample);
      }
      grow(ungrouped, other.ungrouped.count, other.ungrouped.first, other.ungrouped.last);
      for (const [hour, count] of other.hours.entries()) hours[hour] = (hours[hour] ?? 0) + count;
      state.recent += other.recent;
      for (const entry of other.newest) addNewest(state.newest, entry);
      const { words, missed } = other.prefixes.top();
      for (const [prefix, count] of words) state.prefixes.add(prefix, count);
      state.prefixesMissed += missed + other.prefixesMissed;
    },
    result() {
      const ranked = groups.toSorted((a, b) => b.count - a.count || (toKey(a) < toKey(b) ? -1 : 1));
      const all = [...groups, ungrouped];
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

  function findGroup({ errorCode, statusCode, serverZone }: Partial<Kind>): Tally | undefined {
    return byKind.get(errorCode)?.get(statusCode)?.get(serverZone);
  }

  function createGroup(kind: Partial<Kind>, sample: OriginError | undefined): Tally {
    if (groups.length >= maxGroups) return ungrouped;
    const { errorCode, statusCode, serverZone } = kind;
    const group = createTally({ errorCode, statusCode, serverZone }, sample);
    groups.push(group);
    const statuses = byKind.get(errorCode) ?? new Map<number | undefined, Map<string | undefined, Tally>>();
    const servers = statuses.get(statusCode) ?? new Map<string | undefined, Tally>();
    byKind.set(errorCode, statuses.set(statusCode, servers.set(serverZone, group)));
    return group;
  }
}

export interface CountedDay extends OriginErrorDay {
  readonly counter: OriginErrorCounter;
  readonly repeated: number;
}

/**
 * Counts the entries of one zone on one UTC day while they arrive, repeated ones once. Entries that are not `wanted` are
 * left out. @throws ApiError
 */
export async function countDay(
  originErrors: OriginErrors,
  zoneId: string,
  day: string,
  ids: SeenIds,
  counter: OriginErrorCounter,
  wanted: (entry: OriginError) => boolean = () => true,
): Promise<CountedDay> {
  let repeated = 0;
  const read = await originErrors.forEach(zoneId, day, (entry) => {
    if (!wanted(entry)) return;
    if (entry.id === '' || ids.isNew(entry.id)) counter.add(entry);
    else repeated += 1;
  });
  return { ...read, counter, repeated };
}

function createTally(kind: Kind, sample?: OriginError): Tally {
  return { ...kind, count: 0, first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY, sample };
}

/** `first` and `last` are not numbers where the entry has no time. */
function grow(tally: Tally, count: number, first: number, last: number, sample?: OriginError): void {
  tally.count += count;
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
 * Counts exactly up to `2 × kept` different words. Beyond that the rare ones are dropped now and then (the idea of Misra
 * and Gries, 1982), and `missed` bounds what a word may have lost.
 */
export function createHeavyHitters(kept = 500) {
  let counts = new Map<string, number>();
  let missed = 0;
  // Equal counts are ordered by word, so that the same log always gives the same answer.
  const rank = () => [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return {
    add(word: string, times = 1): void {
      counts.set(word, (counts.get(word) ?? 0) + times);
      if (counts.size <= kept * 2) return;
      const ranked = rank();
      missed += ranked[kept]?.[1] ?? 0;
      counts = new Map(ranked.slice(0, kept));
    },
    /** The most frequent first. Each occurred between `count` and `count + missed` times. */
    top: () => ({ words: rank(), missed }),
  };
}
