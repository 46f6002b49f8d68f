import type { CdnClient } from '../api/cdn.ts';
import type { OriginError } from '../api/origin-errors.ts';
import { atMost } from './at-most.ts';
import { dayOf, shifted, startOf } from './days.ts';
import type { CollectInput } from './digest.ts';
import { type CodeBook, codesAfter, freshCodes } from './digest-codes.ts';
import type { ErrorFigures, Named, ZoneErrors } from './digest-figures.ts';
import { kept, named } from './digest-roster.ts';
import { compared, dayMs, type Earlier, earlier, noise } from './digest-series.ts';
import { type Counter, type Counts, createCounter } from './origin-error-counts.ts';
import { readDay } from './origin-error-day.ts';
import { createSeenIds } from './seen-ids.ts';
import { throwIfStopped } from './stopped.ts';

/** As many zones' logs are read for one run: each is an answer of up to hundreds of megabytes for each day. */
export const mostZones = 25;
const zonesAtOnce = 3;
const mostDays = 7;
const mostCodes = 12;
const mostPrefixes = 5;
const hourMs = 3_600_000;

/** Which entries count, in ms, and their hours. */
interface Window {
  readonly from: number;
  readonly until: number;
  readonly firstHour: number;
  readonly hours: number;
}

/** Why a zone's log was not read although nothing failed. */
export class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

interface ReadZone {
  readonly zone: Named;
  readonly counter: Counter;
  readonly partial: boolean;
}

export interface ReadErrors {
  /** Undefined where no log could be read. */
  readonly figures: ErrorFigures | undefined;
  /** What is remembered of them. */
  readonly codes: CodeBook | undefined;
  readonly failed: readonly { readonly zone: Named; readonly reason: unknown }[];
}

/**
 * The origin errors of some zones since the previous run, at most seven days ago, counted while they arrive.
 * `of` says how many zones there are; of more than `mostZones` only the first are read.
 */
export async function errorFigures(
  asked: { readonly zones: readonly Named[]; readonly of: number; readonly scope: string },
  input: CollectInput,
): Promise<ReadErrors> {
  const { now } = input;
  const past = earlier(input, ({ errors }) => (errors?.scope === asked.scope ? errors : undefined));
  const until = now.getTime();
  const from = past.base ? Math.max(past.base.at, until - mostDays * dayMs) : until - dayMs;
  const firstHour = Math.floor(from / hourMs) * hourMs;
  const window: Window = { from, until, firstHour, hours: Math.ceil((until - firstHour) / hourMs) };
  const begun = performance.now();
  const zones = asked.zones.slice(0, mostZones);
  const results = await atMost(
    zonesAtOnce,
    zones.map((zone) => async () => {
      throwIfStopped(input.signal, 'Get origin error logs');
      if (performance.now() - begun >= (input.patienceMs ?? 90_000)) throw new OutOfTime();
      return readZone(input.cdn, zone, window);
    }),
  );
  const read = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const failed = results.flatMap((result, index) => {
    const zone = zones[index];
    return result.status === 'rejected' && zone ? [{ zone, reason: result.reason as unknown }] : [];
  });
  const known = input.book?.codes;
  if (read.length === 0 && zones.length > 0) return { figures: undefined, codes: known, failed };
  const counted = read.map((one) => ({ ...one, counts: one.counter.result() }));
  const codes = counted.map(({ zone, counts }) => ({ zone, codes: counts.codes }));
  const fresh = freshCodes(codes, known, now);
  const figures = figuresOf(counted, { ...asked, ...window, asked: zones.length, fresh }, past);
  return { figures, codes: codesAfter(codes, known, now), failed };
}

async function readZone(
  { originErrors }: CdnClient,
  zone: Named,
  { from, until, firstHour, hours }: Window,
): Promise<ReadZone> {
  const counter = createCounter({ start: firstHour, hours });
  const ids = createSeenIds();
  let partial = false;
  const last = dayOf(new Date(until));
  for (let day = dayOf(new Date(from)); day <= last; day = shifted(day, 1)) {
    // One without a time belongs to its day; of the first day most was told by the run before.
    const isInside = startOf(day) >= from;
    const wanted = ({ at }: OriginError): boolean => (at === undefined ? isInside : at >= from);
    const { moreExist } = await readDay(originErrors, zone.id, day, ids, counter, wanted);
    partial ||= moreExist;
  }
  return { zone, counter, partial };
}

function figuresOf(
  counted: readonly (ReadZone & { readonly counts: Counts })[],
  about: Window & Pick<ErrorFigures, 'of' | 'asked' | 'scope' | 'fresh'>,
  past: Earlier<ErrorFigures>,
): ErrorFigures {
  const { of, asked, scope, fresh, from, until, firstHour } = about;
  const days = (until - from) / dayMs;
  const whole = createCounter({ start: firstHour, hours: about.hours });
  for (const { counter } of counted) whole.merge(counter);
  const { total, hours, codes, prefixes } = whole.result();
  const zones = counted.map(({ zone, partial, counts }): ZoneErrors => {
    const before = (found: ErrorFigures) => found.zones.find(({ id }) => id === zone.id)?.perDay.now;
    return {
      ...named(zone),
      total: counts.total,
      perDay: compared(perDay(counts.total, days), past, before, noise.errors),
      ...(partial ? { partial } : {}),
    };
  });
  return {
    scope,
    ...(past.previous ? { since: new Date(past.previous.at).toISOString() } : {}),
    from: new Date(from).toISOString(),
    total,
    perDay: compared(perDay(total, days), past, (found) => found.perDay.now, noise.errors),
    read: counted.length,
    asked,
    of,
    zones: zones.toSorted((a, b) => b.total - a.total),
    codes: top(codes, mostCodes),
    fresh,
    prefixes: prefixes.slice(0, mostPrefixes).map(([prefix, count]) => [kept(prefix), count] as const),
    hours,
    firstHour,
  };
}

function top(codes: ReadonlyMap<string, number>, most: number): (readonly [string, number])[] {
  return [...codes]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([code, count]) => [kept(code), count] as const);
}

function perDay(total: number, days: number): number {
  return Math.round((total / days) * 10) / 10;
}
