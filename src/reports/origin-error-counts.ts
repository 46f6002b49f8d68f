import type { OriginError, OriginErrorDetails } from '../api/origin-errors.ts';
import { createFrequent } from './frequent.ts';

/** Entries with the same error code, status and server zone. */
export interface Group {
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
  readonly count: number;
  /** ms since the epoch; undefined where no entry of it had a time. */
  readonly first: number | undefined;
  readonly last: number | undefined;
}

export interface Sample extends Omit<OriginErrorDetails, 'errorCode' | 'statusCode'> {
  readonly id: string;
  readonly at: number | undefined;
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
}

/** What is known of some entries once they are counted: bounded, however many they were. */
export interface Counts {
  readonly total: number;
  /** The largest first. */
  readonly groups: readonly Group[];
  /** Entries that are in none of these groups, since there were too many. */
  readonly ungrouped: number;
  /** Where addresses begin, the most frequent first, each with at least so many entries. */
  readonly prefixes: readonly (readonly [prefix: string, count: number])[];
  /** By how much the counts of prefixes may be too small. */
  readonly prefixesMissed: number;
  /** Entries in each hour from the first day's midnight (UTC) on. */
  readonly hours: readonly number[];
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly samples: readonly Sample[];
  /** Entries by error code; `''` where none was reported. */
  readonly codes: ReadonlyMap<string, number>;
}

export interface Counter {
  readonly add: (entry: OriginError) => void;
  /** Counts what another counter has counted as well. */
  readonly merge: (other: Counter) => void;
  readonly result: () => Counts;
  /** For `merge`. */
  readonly state: State;
}

/** A service has about ten codes, six statuses and some hundred server zones; more is noise. */
const mostGroups = 2000;
const samplesShown = 5;
const hourMs = 3_600_000;

interface Growing {
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
  count: number;
  first: number | undefined;
  last: number | undefined;
  /** Its newest entry, and of those without a time its first. */
  sample: OriginError;
}

type Kind = Pick<Group, 'errorCode' | 'statusCode' | 'serverZone'>;

/** Groups by their three members, in maps of maps: to join the members for every entry would cost more than counting. */
interface Groups {
  readonly find: (kind: Partial<Kind>) => Growing | undefined;
  readonly put: (group: Growing) => void;
  readonly all: () => readonly Growing[];
  readonly size: () => number;
}

function createGroups(): Groups {
  const all: Growing[] = [];
  const codes = new Map<string | undefined, Map<number | undefined, Map<string | undefined, Growing>>>();
  return {
    find: ({ errorCode, statusCode, serverZone }) => codes.get(errorCode)?.get(statusCode)?.get(serverZone),
    put(group) {
      all.push(group);
      const statuses =
        codes.get(group.errorCode) ?? new Map<number | undefined, Map<string | undefined, Growing>>();
      codes.set(group.errorCode, statuses);
      const servers = statuses.get(group.statusCode) ?? new Map<string | undefined, Growing>();
      statuses.set(group.statusCode, servers);
      servers.set(group.serverZone, group);
    },
    all: () => all,
    size: () => all.length,
  };
}

interface State {
  total: number;
  ungrouped: number;
  readonly groups: Groups;
  readonly prefixes: ReturnType<typeof createFrequent>;
  prefixesMissed: number;
  readonly hours: number[];
  first: number | undefined;
  last: number | undefined;
  /** The newest entries of all, the oldest of them first. */
  readonly newest: OriginError[];
}

/**
 * Counts entries while they arrive. Nothing grows with their number: groups and address beginnings are bounded, and
 * of the entries themselves only the samples stay. `start` (ms) is the midnight that hour 0 begins at.
 */
export function createCounter(options: { start: number; hours: number }): Counter {
  const { start } = options;
  const state: State = {
    total: 0,
    ungrouped: 0,
    groups: createGroups(),
    prefixes: createFrequent(),
    prefixesMissed: 0,
    hours: Array.from({ length: options.hours }, () => 0),
    first: undefined,
    last: undefined,
    newest: [],
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
      const group = state.groups.find(entry);
      if (group) grow(group, entry);
      else if (state.groups.size() < mostGroups) state.groups.put(begun(entry));
      else state.ungrouped += 1;
      keepNewest(state, entry);
      const path = entry.path();
      if (path !== undefined) state.prefixes.add(prefixOf(path));
    },
    merge: (other) => mergeInto(state, other.state),
    result: () => finished(state),
  };
}

/**
 * The folder a path is in, at most two deep: `/img/a.png` → `/img/…`, `/api/orders/17` → `/api/orders/…`. What lies at
 * the top stands for itself: `/cart`. A host in front stays, without its scheme.
 */
export function prefixOf(path: string): string {
  const start = path.startsWith('/') ? 0 : pathStart(path);
  const first = path.indexOf('/', start + 1);
  if (first === -1) return shortened(start === -1 ? path : path.slice(hostStart(path)));
  const second = path.indexOf('/', first + 1);
  return `${shortened(path.slice(hostStart(path), second === -1 ? first : second))}/…`;
}

/** Where the path begins behind a host, `//` of the scheme skipped; -1 where there is none. */
function pathStart(path: string): number {
  return path.indexOf('/', hostStart(path));
}

function hostStart(path: string): number {
  if (path.startsWith('/')) return 0;
  return /^[a-z][a-z\d+.-]*:\/\//iu.exec(path)?.[0].length ?? 0;
}

function shortened(prefix: string): string {
  return (prefix.length > 120 ? prefix.slice(0, 120) : prefix) || '/';
}

function begun(entry: OriginError): Growing {
  const { errorCode, statusCode, serverZone, at } = entry;
  return { errorCode, statusCode, serverZone, count: 1, first: at, last: at, sample: entry };
}

function grow(group: Growing, entry: OriginError): void {
  group.count += 1;
  const { at } = entry;
  if (at === undefined) return;
  if (group.first === undefined || at < group.first) group.first = at;
  if (group.last === undefined || at > group.last) {
    group.last = at;
    group.sample = entry;
  }
}

function keepNewest(state: State, entry: OriginError): void {
  const { newest } = state;
  if (newest.length < samplesShown) {
    newest.push(entry);
    newest.sort((a, b) => atOf(a) - atOf(b));
  } else if (atOf(entry) > atOf(newest[0])) {
    // The oldest of them makes way.
    newest[0] = entry;
    newest.sort((a, b) => atOf(a) - atOf(b));
  }
}

function mergeInto(state: State, other: State): void {
  state.total += other.total;
  state.ungrouped += other.ungrouped;
  for (const more of other.groups.all()) {
    const { count, first, last, sample } = more;
    const group = state.groups.find(more);
    if (!group) {
      if (state.groups.size() < mostGroups) state.groups.put({ ...more });
      else state.ungrouped += count;
      continue;
    }
    group.count += count;
    group.first = least(group.first, first);
    if (last !== undefined && (group.last === undefined || last > group.last)) {
      group.last = last;
      group.sample = sample;
    }
  }
  const prefixes = other.prefixes.top();
  state.prefixesMissed += prefixes.missed + other.prefixesMissed;
  for (const [prefix, count] of prefixes.words) state.prefixes.add(prefix, count);
  for (const [hour, count] of other.hours.entries()) state.hours[hour] = (state.hours[hour] ?? 0) + count;
  state.first = least(state.first, other.first);
  state.last = most(state.last, other.last);
  for (const entry of other.newest) keepNewest(state, entry);
}

function finished(state: State): Counts {
  const growing = [...state.groups.all()].sort(
    (a, b) => b.count - a.count || (nameOf(a) < nameOf(b) ? -1 : 1),
  );
  const codes = new Map<string, number>();
  for (const { errorCode = '', count } of growing) codes.set(errorCode, (codes.get(errorCode) ?? 0) + count);
  const { words, missed } = state.prefixes.top();
  return {
    total: state.total,
    groups: growing.map(({ errorCode, statusCode, serverZone, count, first, last }) => ({
      errorCode,
      statusCode,
      serverZone,
      count,
      first,
      last,
    })),
    ungrouped: state.ungrouped,
    prefixes: words,
    prefixesMissed: missed + state.prefixesMissed,
    hours: [...state.hours],
    first: state.first,
    last: state.last,
    samples: samplesOf(growing, state.newest),
    codes,
  };
}

/** The newest of the largest group of each code, so that every kind of trouble is seen; then of the other groups, of all. */
function samplesOf(groups: readonly Growing[], newest: readonly OriginError[]): Sample[] {
  const largest = new Map(groups.toReversed().map((group) => [group.errorCode, group.sample]));
  const codes = new Set(groups.map(({ errorCode }) => errorCode));
  const chosen = new Set([...codes].slice(0, samplesShown).flatMap((code) => largest.get(code) ?? []));
  for (const { sample } of groups.slice(0, samplesShown)) chosen.add(sample);
  for (const entry of newest.toSorted((a, b) => atOf(b) - atOf(a))) chosen.add(entry);
  return [...chosen]
    .slice(0, samplesShown)
    .sort((a, b) => atOf(b) - atOf(a))
    .map((entry) => {
      const { id, at, errorCode, statusCode, serverZone } = entry;
      return { ...entry.details(), id, at, errorCode, statusCode, serverZone };
    });
}

function nameOf({ errorCode, statusCode, serverZone }: Growing): string {
  return `${errorCode ?? ''} ${statusCode ?? ''} ${serverZone ?? ''}`;
}

function atOf(entry: OriginError | undefined): number {
  return entry?.at ?? Number.NEGATIVE_INFINITY;
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.min(one, other);
}

function most(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.max(one, other);
}
