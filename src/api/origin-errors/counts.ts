import { hourMs } from '../../lib/time.ts';
import type { OriginError, OriginErrorDetails } from './origin-errors.ts';

/** Errors with one code and status: how many, when, and where, the most frequent place first. */
export interface Kind {
  readonly errorCode: string | undefined;
  readonly statusCode: number | undefined;
  readonly count: number;
  readonly first: number | undefined;
  readonly last: number | undefined;
  readonly places: readonly (readonly [serverZone: string, count: number])[];
}

/** A kind while its entries are counted, with its newest entry, or the first of those without a time. */
type Tally = { -readonly [K in Exclude<keyof Kind, 'places'>]: Kind[K] } & {
  sample: OriginError | undefined;
  readonly places: Map<string, number>;
};

export type OriginErrorCounts = ReturnType<ReturnType<typeof createOriginErrorCounter>['result']>;

/** A service has about ten codes and six statuses; more is noise, and counted together. */
const maxKinds = 500;
const others = { errorCode: 'other errors', statusCode: undefined };
/** Server zones of a kind: there are some hundred. */
const maxPlaces = 1000;
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
  const kinds = new Map<string, Tally>();
  const prefixes = new Map<string, number>();
  const hours = Array.from({ length: options.hours }, () => 0);
  const state = { kinds, prefixes, hours, recent: 0 };

  function findKind({ errorCode, statusCode }: Pick<Kind, 'errorCode' | 'statusCode'>): Tally {
    const key = `${errorCode ?? ''} ${statusCode ?? ''}`;
    const known = kinds.get(key);
    if (known) return known;
    if (kinds.size >= maxKinds && errorCode !== others.errorCode) return findKind(others);
    const none = { count: 0, first: undefined, last: undefined, sample: undefined };
    const kind = { errorCode, statusCode, ...none, places: new Map<string, number>() };
    kinds.set(key, kind);
    return kind;
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
      const kind = findKind(entry);
      grow(kind, { count: 1, first: at, last: at, sample: entry });
      countPlace(kind, entry.serverZone ?? 'not reported', 1);
      const path = entry.path();
      if (path !== undefined) countPrefix(findPathPrefix(path), 1);
    },
    /** Adds the counts of another counter. */
    merge({ state: other }: { readonly state: typeof state }): void {
      for (const more of other.kinds.values()) {
        const kind = findKind(more);
        grow(kind, more);
        for (const [place, count] of more.places) countPlace(kind, place, count);
      }
      for (const [hour, count] of other.hours.entries()) hours[hour] = (hours[hour] ?? 0) + count;
      state.recent += other.recent;
      for (const [prefix, count] of other.prefixes) countPrefix(prefix, count);
    },
    result() {
      const ranked = [...kinds]
        .sort(([key, a], [other, b]) => b.count - a.count || (key < other ? -1 : 1))
        .map(([, kind]) => kind);
      const codes = new Map<string, number>();
      const whole = { count: 0, first: undefined, last: undefined, sample: undefined };
      for (const kind of ranked) {
        grow(whole, kind);
        const { errorCode = '', count } = kind;
        codes.set(errorCode, (codes.get(errorCode) ?? 0) + count);
      }
      return {
        total: whole.count,
        kinds: ranked.map(toKind),
        prefixes: rank(prefixes).slice(0, shownPrefixes),
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

function toKind({ errorCode, statusCode, count, first, last, places }: Tally): Kind {
  return { errorCode, statusCode, count, first, last, places: rank(places) };
}

function countPlace({ places }: Tally, place: string, times: number): void {
  const counted = places.size < maxPlaces || places.has(place) ? place : 'other places';
  places.set(counted, (places.get(counted) ?? 0) + times);
}

/** Equal counts are ordered by word, so that the same log always gives the same answer. */
function rank(counts: ReadonlyMap<string, number>): (readonly [string, number])[] {
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

type Growing = Pick<Tally, 'count' | 'first' | 'last' | 'sample'>;

function grow(tally: Growing, { count, first, last, sample }: Growing): void {
  tally.count += count;
  tally.sample ??= sample;
  if (first !== undefined && first < (tally.first ?? Number.POSITIVE_INFINITY)) tally.first = first;
  if (last === undefined || last <= (tally.last ?? Number.NEGATIVE_INFINITY)) return;
  tally.last = last;
  tally.sample = sample;
}

export type Sample = Pick<OriginError, 'id' | 'at' | 'errorCode' | 'statusCode' | 'serverZone'> &
  Omit<OriginErrorDetails, 'errorCode' | 'statusCode'>;

/** The newest entry of each of the most frequent kinds. */
function takeSamples(kinds: readonly Tally[]): Sample[] {
  return kinds
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
