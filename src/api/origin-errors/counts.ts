import { hourMs } from '../../lib/time.ts';
import {
  createGroups,
  createNewest,
  type Group,
  type Groups,
  maximum,
  minimum,
  type Newest,
  type Sample,
  takeSamples,
} from './groups.ts';
import type { OriginError } from './origin-errors.ts';

/** The counts of some entries: bounded, however many entries there were. */
export interface OriginErrorCounts {
  readonly total: number;
  /** The largest first. */
  readonly groups: readonly Group[];
  /** Entries outside of these groups, since there were too many. */
  readonly ungrouped: number;
  /** Beginnings of addresses, the most frequent first, with the least number of their entries. */
  readonly prefixes: readonly (readonly [prefix: string, count: number])[];
  /** The counts of prefixes may be too small by this much. */
  readonly prefixesMissed: number;
  /** Entries in each hour from the first day's midnight (UTC) on. */
  readonly hours: readonly number[];
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly samples: readonly Sample[];
  /** Entries by error code; `''` if not reported. */
  readonly codes: ReadonlyMap<string, number>;
}

export interface OriginErrorCounter {
  readonly add: (entry: OriginError) => void;
  /** Adds the counts of another counter. */
  readonly merge: (other: OriginErrorCounter) => void;
  readonly result: () => OriginErrorCounts;
  /** For `merge`. */
  readonly state: State;
}

interface State {
  total: number;
  readonly groups: Groups;
  readonly prefixes: ReturnType<typeof createHeavyHitters>;
  prefixesMissed: number;
  readonly hours: number[];
  first: number | undefined;
  last: number | undefined;
  readonly newest: Newest;
}

/**
 * Counts entries while they arrive. Memory does not grow with their number: groups and address beginnings are bounded,
 * and only samples of the entries are kept. `start` (ms) is the midnight at which hour 0 begins.
 */
export function createOriginErrorCounter(options: { start: number; hours: number }): OriginErrorCounter {
  const { start } = options;
  const state: State = {
    total: 0,
    groups: createGroups(),
    prefixes: createHeavyHitters(),
    prefixesMissed: 0,
    hours: Array.from({ length: options.hours }, () => 0),
    first: undefined,
    last: undefined,
    newest: createNewest(),
  };
  return {
    state,
    add(entry) {
      const { at } = entry;
      state.total += 1;
      if (at !== undefined) {
        if (state.first === undefined || at < state.first) state.first = at;
        if (state.last === undefined || at > state.last) state.last = at;
        const hour = Math.floor((at - start) / hourMs);
        const inHour = state.hours[hour];
        if (inHour !== undefined) state.hours[hour] = inHour + 1;
      }
      state.groups.add(entry);
      state.newest.add(entry);
      const path = entry.path();
      if (path !== undefined) state.prefixes.add(findPathPrefix(path));
    },
    merge: (other) => mergeInto(state, other.state),
    result: () => toCounts(state),
  };
}

function mergeInto(state: State, other: State): void {
  state.total += other.total;
  state.groups.merge(other.groups);
  const prefixes = other.prefixes.top();
  state.prefixesMissed += prefixes.missed + other.prefixesMissed;
  for (const [prefix, count] of prefixes.words) state.prefixes.add(prefix, count);
  for (const [hour, count] of other.hours.entries()) state.hours[hour] = (state.hours[hour] ?? 0) + count;
  state.first = minimum(state.first, other.first);
  state.last = maximum(state.last, other.last);
  for (const entry of other.newest.all()) state.newest.add(entry);
}

function toCounts(state: State): OriginErrorCounts {
  const ranked = state.groups.ranked();
  const codes = new Map<string, number>();
  for (const { errorCode = '', count } of ranked) codes.set(errorCode, (codes.get(errorCode) ?? 0) + count);
  const { words, missed } = state.prefixes.top();
  return {
    total: state.total,
    groups: ranked.map(({ errorCode, statusCode, serverZone, count, first, last }) => ({
      errorCode,
      statusCode,
      serverZone,
      count,
      first,
      last,
    })),
    ungrouped: state.groups.left(),
    prefixes: words,
    prefixesMissed: missed + state.prefixesMissed,
    hours: [...state.hours],
    first: state.first,
    last: state.last,
    samples: takeSamples(ranked, state.newest),
    codes,
  };
}

/** Counts the most frequent of many words in bounded memory. */
export interface HeavyHitters {
  readonly add: (word: string, times?: number) => void;
  /** The most frequent first. Each occurred between `count` and `count + missed` times. */
  readonly top: () => {
    readonly words: readonly (readonly [word: string, count: number])[];
    readonly missed: number;
  };
}

/**
 * Counts exactly up to `2 × kept` different words. Beyond that the rare ones are dropped now and then (the idea of Misra
 * and Gries, 1982), and `missed` bounds what a word may have lost.
 */
export function createHeavyHitters(kept = 500): HeavyHitters {
  let counts = new Map<string, number>();
  let missed = 0;
  return {
    add(word, times = 1) {
      counts.set(word, (counts.get(word) ?? 0) + times);
      if (counts.size <= kept * 2) return;
      const sorted = rankWords(counts);
      missed += sorted[kept]?.[1] ?? 0;
      counts = new Map(sorted.slice(0, kept));
    },
    top: () => ({ words: rankWords(counts), missed }),
  };
}

/** Equal counts are ordered by word, so that the same log always gives the same answer. */
function rankWords(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/**
 * The folder of a path, at most two deep: `/img/a.png` → `/img/…`, `/api/orders/17` → `/api/orders/…`. A path at the top
 * stays: `/cart`. A host in front stays, without its scheme.
 */
export function findPathPrefix(path: string): string {
  const start = path.startsWith('/') ? 0 : findPathStart(path);
  const first = path.indexOf('/', start + 1);
  if (first === -1) return shorten(start === -1 ? path : path.slice(findHostStart(path)));
  const second = path.indexOf('/', first + 1);
  return `${shorten(path.slice(findHostStart(path), second === -1 ? first : second))}/…`;
}

/** The start of the path after a host, skipping `//` of the scheme; -1 if there is none. */
function findPathStart(path: string): number {
  return path.indexOf('/', findHostStart(path));
}

function findHostStart(path: string): number {
  if (path.startsWith('/')) return 0;
  return /^[a-z][a-z\d+.-]*:\/\//iu.exec(path)?.[0].length ?? 0;
}

function shorten(prefix: string): string {
  return (prefix.length > 120 ? prefix.slice(0, 120) : prefix) || '/';
}
