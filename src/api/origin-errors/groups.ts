import type { OriginError, OriginErrorDetails } from './origin-errors.ts';

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

/** A group while entries are counted. */
export interface GroupBuilder {
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
  count: number;
  first: number | undefined;
  last: number | undefined;
  /** Its newest entry, and of those without a time its first. */
  sample: OriginError;
}

export interface Groups {
  readonly add: (entry: OriginError) => void;
  readonly merge: (other: Groups) => void;
  readonly all: () => readonly GroupBuilder[];
  /** The largest first. */
  readonly ranked: () => GroupBuilder[];
  /** Entries that are in no group, since there were too many. */
  readonly left: () => number;
}

/** A service has about ten codes, six statuses and some hundred server zones; more is noise. */
const mostGroups = 2000;

type Kind = Partial<Pick<Group, 'errorCode' | 'statusCode' | 'serverZone'>>;

/** In maps of maps: to join the three members for every entry would cost more than counting. */
export function createGroups(): Groups {
  const all: GroupBuilder[] = [];
  const codes = new Map<string | undefined, Map<number | undefined, Map<string | undefined, GroupBuilder>>>();
  let left = 0;
  return {
    add(entry) {
      const group = find(entry);
      if (group) grow(group, entry);
      else if (all.length < mostGroups) put(begun(entry));
      else left += 1;
    },
    merge(other) {
      left += other.left();
      for (const more of other.all()) {
        const group = find(more);
        if (group) join(group, more);
        else if (all.length < mostGroups) put({ ...more });
        else left += more.count;
      }
    },
    all: () => all,
    ranked: () => all.toSorted((a, b) => b.count - a.count || (groupKey(a) < groupKey(b) ? -1 : 1)),
    left: () => left,
  };

  function find({ errorCode, statusCode, serverZone }: Kind): GroupBuilder | undefined {
    return codes.get(errorCode)?.get(statusCode)?.get(serverZone);
  }

  function put(group: GroupBuilder): void {
    all.push(group);
    const statuses =
      codes.get(group.errorCode) ?? new Map<number | undefined, Map<string | undefined, GroupBuilder>>();
    codes.set(group.errorCode, statuses);
    const servers = statuses.get(group.statusCode) ?? new Map<string | undefined, GroupBuilder>();
    statuses.set(group.statusCode, servers);
    servers.set(group.serverZone, group);
  }
}

function begun(entry: OriginError): GroupBuilder {
  const { errorCode, statusCode, serverZone, at } = entry;
  return { errorCode, statusCode, serverZone, count: 1, first: at, last: at, sample: entry };
}

function grow(group: GroupBuilder, entry: OriginError): void {
  group.count += 1;
  const { at } = entry;
  if (at === undefined) return;
  if (group.first === undefined || at < group.first) group.first = at;
  if (group.last === undefined || at > group.last) {
    group.last = at;
    group.sample = entry;
  }
}

function join(group: GroupBuilder, { count, first, last, sample }: GroupBuilder): void {
  group.count += count;
  group.first = minimum(group.first, first);
  if (last !== undefined && (group.last === undefined || last > group.last)) {
    group.last = last;
    group.sample = sample;
  }
}

function groupKey({ errorCode, statusCode, serverZone }: GroupBuilder): string {
  return `${errorCode ?? ''} ${statusCode ?? ''} ${serverZone ?? ''}`;
}

/** One entry as it is shown. */
export interface Sample extends Omit<OriginErrorDetails, 'errorCode' | 'statusCode'> {
  readonly id: string;
  readonly at: number | undefined;
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
}

const maxSamples = 5;

/** The newest of all entries. */
export interface Newest {
  readonly add: (entry: OriginError) => void;
  readonly all: () => readonly OriginError[];
}

export function createNewest(): Newest {
  const newest: OriginError[] = [];
  return {
    add(entry) {
      if (newest.length < maxSamples) newest.push(entry);
      // It replaces the oldest.
      else if (readTime(entry) > readTime(newest[0])) newest[0] = entry;
      else return;
      newest.sort((a, b) => readTime(a) - readTime(b));
    },
    all: () => newest,
  };
}

/**
 * The newest entry of the largest group of each code, so that every kind of failure is shown; then of other groups, then
 * of all. `groups`: the largest first.
 */
export function takeSamples(groups: readonly GroupBuilder[], newest: Newest): Sample[] {
  const largest = new Map(groups.toReversed().map((group) => [group.errorCode, group.sample]));
  const codes = new Set(groups.map(({ errorCode }) => errorCode));
  const chosen = new Set([...codes].slice(0, maxSamples).flatMap((code) => largest.get(code) ?? []));
  for (const { sample } of groups.slice(0, maxSamples)) chosen.add(sample);
  for (const entry of newest.all().toSorted((a, b) => readTime(b) - readTime(a))) chosen.add(entry);
  return [...chosen]
    .slice(0, maxSamples)
    .sort((a, b) => readTime(b) - readTime(a))
    .map((entry) => {
      const { id, at, errorCode, statusCode, serverZone } = entry;
      return { ...entry.details(), id, at, errorCode, statusCode, serverZone };
    });
}

function readTime(entry: OriginError | undefined): number {
  return entry?.at ?? Number.NEGATIVE_INFINITY;
}

/** The smaller of two numbers; a missing one does not count. */
export function minimum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.min(one, other);
}

/** The larger of two numbers; a missing one does not count. */
export function maximum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : other === undefined ? one : Math.max(one, other);
}
