import { hourMs } from '../../lib/time.ts';
import type { OriginError, OriginErrorDetails } from './origin-errors.ts';

interface Kind {
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly serverZone: string | undefined;
}

export interface Group extends Kind {
  readonly count: number;
  readonly first: number | undefined;
  readonly last: number | undefined;
}

/** A group while its entries are counted, with its newest entry, or the first of those without a time. */
type Tally = { -readonly [K in keyof Group]: Group[K] } & { sample: OriginError | undefined };

export interface Sample extends Kind, Omit<OriginErrorDetails, keyof Kind> {
  readonly id: string;
  readonly at: number | undefined;
}

export type OriginErrorCounts = ReturnType<ReturnType<typeof createOriginErrorCounter>['result']>;

/** A service has about ten codes, six statuses and some hundred server zones; more is noise, and counted together. */
const maxGroups = 2000;
const others: Kind = { errorCode: 'other errors', statusCode: undefined, serverZone: undefined };
const maxPrefixes = 10_000;
/** Of a result, which is kept in a cache. */
const shownPrefixes = 100;
const maxSamples = 5;

/** Counts entries while they arrive, in bounded memory: in `hours` of `hourLength` ms from `start` on, and as recent from `since` on. */
export function createOriginErrorCounter(options: {
  readonly start: number;
  readonly hours: number;
  readonly hourLength?: number;
  readonly since?: number;
}) {
  const { since = Number.POSITIVE_INFINITY, hourLength = hourMs } = options;
  const groups = new Map<string, Tally>();
  const prefixes = new Map<string, number>();
  const hours = Array.from({ length: options.hours }, () => 0);
  const state = { groups, prefixes, hours, recent: 0 };

  function findGroup({ errorCode, statusCode, serverZone }: Kind): Tally {
    const kind = { errorCode, statusCode, serverZone };
    const key = toKey(kind);
    const known = groups.get(key);
    if (known) return known;
    if (groups.size >= maxGroups && errorCode !== others.errorCode) return findGroup(others);
    const group = createTally(kind);
    groups.set(key, group);
    return group;
  }

  function countPrefix(prefix: string, times: number): void {
    const isNew = !prefixes.has(prefix);
    const counted = isNew && prefixes.size >= maxPrefixes ? 'other paths' : prefix;
    // A part of a line would hold all of it in memory.
    const own = isNew ? Buffer.from(counted).toString() : counted;
    prefixes.set(own, (prefixes.get(own) ?? 0) + times);
  }

  return {
    state,
    add(entry: OriginError): void {
      const { at } = entry;
      const hour = at === undefined ? -1 : Math.floor((at - options.start) / hourLength);
      const inHour = hours[hour];
      if (inHour !== undefined) hours[hour] = inHour + 1;
      if (at !== undefined && at >= since) state.recent += 1;
      grow(findGroup(entry), { count: 1, first: at, last: at, sample: entry });
      const path = entry.path();
      if (path !== undefined) countPrefix(findPathPrefix(path), 1);
    },
    /** Adds the counts of another counter. */
    merge({ state: other }: { readonly state: typeof state }): void {
      for (const more of other.groups.values()) grow(findGroup(more), more);
      for (const [hour, count] of other.hours.entries()) hours[hour] = (hours[hour] ?? 0) + count;
      state.recent += other.recent;
      for (const [prefix, count] of other.prefixes) countPrefix(prefix, count);
    },
    result() {
      const ranked = [...groups.values()].toSorted(
        (a, b) => b.count - a.count || (toKey(a) < toKey(b) ? -1 : 1),
      );
      const whole = createTally(others);
      const codes = new Map<string, number>();
      for (const group of ranked) grow(whole, group);
      for (const { errorCode = '', count } of ranked)
        codes.set(errorCode, (codes.get(errorCode) ?? 0) + count);
      return {
        total: whole.count,
        groups: ranked.map(toGroup),
        // Equal counts are ordered by word, so that the same log always gives the same answer.
        prefixes: [...prefixes].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, shownPrefixes),
        prefixCount: prefixes.size,
        hours: [...hours],
        recent: state.recent,
        first: whole.first,
        last: whole.last,
        samples: takeSamples(ranked),
        // Entries by error code; `''` if not reported.
        codes,
      };
    },
  };
}

function createTally({ errorCode, statusCode, serverZone }: Kind): Tally {
  const none = { count: 0, first: undefined, last: undefined, sample: undefined };
  return { errorCode, statusCode, serverZone, ...none };
}

function toGroup({ errorCode, statusCode, serverZone, count, first, last }: Tally): Group {
  return { errorCode, statusCode, serverZone, count, first, last };
}

function grow(tally: Tally, { count, first, last, sample }: Omit<Tally, keyof Kind>): void {
  tally.count += count;
  tally.sample ??= sample;
  if (first !== undefined && first < (tally.first ?? Number.POSITIVE_INFINITY)) tally.first = first;
  if (last === undefined || last <= (tally.last ?? Number.NEGATIVE_INFINITY)) return;
  tally.last = last;
  tally.sample = sample;
}

function toKey({ errorCode, statusCode, serverZone }: Kind): string {
  return `${errorCode ?? ''} ${statusCode ?? ''} ${serverZone ?? ''}`;
}

/** The newest entry of the largest group of each code, so that every kind of failure is shown; then of others. */
function takeSamples(groups: readonly Tally[]): Sample[] {
  const isLargest = ({ errorCode }: Kind, at: number): boolean =>
    at === groups.findIndex((group) => group.errorCode === errorCode);
  const chosen = new Set([...groups.filter(isLargest).slice(0, maxSamples), ...groups.slice(0, maxSamples)]);
  return [...chosen]
    .flatMap(({ sample }) => sample ?? [])
    .slice(0, maxSamples)
    .sort((a, b) => (b.at ?? 0) - (a.at ?? 0))
    .map((entry) => {
      const { id, at, errorCode, statusCode, serverZone } = entry;
      return { ...entry.details(), id, at, errorCode, statusCode, serverZone };
    });
}

/** The folder of a path, at most two deep: `/img/a.png` → `/img/…`; `/cart` stays, and a host without its scheme. */
export function findPathPrefix(path: string): string {
  const rest = path.startsWith('/') ? path : path.replace(/^[a-z][a-z\d+.-]*:\/\//iu, '');
  const root = rest.indexOf('/');
  const first = root === -1 ? -1 : rest.indexOf('/', root + 1);
  if (first === -1) return rest.slice(0, 120) || '/';
  const second = rest.indexOf('/', first + 1);
  return `${rest.slice(0, Math.min(second === -1 ? first : second, 120)) || '/'}/…`;
}

/** Remembers ids, at most so many: further ones count as new. A million takes about 80 MB. */
export function createSeenIds(most = 1_000_000) {
  const seen = new Set<string>();
  return {
    isNew(id: string): boolean {
      if (seen.has(id)) return false;
      if (seen.size < most) seen.add(id);
      return true;
    },
  };
}
