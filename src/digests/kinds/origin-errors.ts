import type { CdnClient } from '../../api/cdn.ts';
import {
  createOriginErrorCounter,
  type OriginErrorCounter,
  type OriginErrorCounts,
} from '../../api/origin-errors/counts.ts';
import { readDay } from '../../api/origin-errors/day.ts';
import type { OriginError } from '../../api/origin-errors/origin-errors.ts';
import { createSeenIds } from '../../api/origin-errors/seen-ids.ts';
import { createConcurrencyLimit } from '../../lib/concurrency-limit.ts';
import { dayStart, shiftDay, utcDay } from '../../lib/days.ts';
import { findNamed, nameIds } from '../figures/compact-ids.ts';
import type { ErrorFigures, Named, ZoneErrors } from '../figures/figures.ts';
import { compareWithPast, dayMs, type Earlier, estimateNoise, findEarlier } from '../figures/series.ts';
import type { CollectInput } from '../model.ts';
import { type CodeBaseline, findNewCodes, updateCodeBaseline } from './error-codes.ts';
import { throwIfAborted } from './throw-if-aborted.ts';

/** As many zones' logs are read for one run: each is an answer of up to hundreds of megabytes for each day. */
export const maxZones = 25;
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
  readonly counter: OriginErrorCounter;
  readonly partial: boolean;
}

export interface ReadErrors {
  /** Undefined where no log could be read. */
  readonly figures: ErrorFigures | undefined;
  /** What is remembered of them. */
  readonly codes: CodeBaseline | undefined;
  readonly failed: readonly { readonly zone: Named; readonly reason: unknown }[];
}

/**
 * The origin errors of some zones since the previous run, at most seven days ago, counted while they arrive.
 * `of` says how many zones there are; of more than `mostZones` only the first are read.
 */
export async function collectOriginErrors(
  asked: { readonly zones: readonly Named[]; readonly of: number; readonly scope: string },
  input: CollectInput,
): Promise<ReadErrors> {
  const { now } = input;
  const past = findEarlier(input, ({ errors }) => (errors?.scope === asked.scope ? errors : undefined));
  const until = now.getTime();
  const from = past.base ? Math.max(past.base.at, until - mostDays * dayMs) : until - dayMs;
  const firstHour = Math.floor(from / hourMs) * hourMs;
  const window: Window = { from, until, firstHour, hours: Math.ceil((until - firstHour) / hourMs) };
  const begun = performance.now();
  const zones = asked.zones.slice(0, maxZones);
  const results = await createConcurrencyLimit(
    zonesAtOnce,
    zones.map((zone) => async () => {
      throwIfAborted(input.signal, 'Get origin error logs');
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
  const fresh = findNewCodes(codes, known, now);
  const figures = figuresOf(counted, { ...asked, ...window, asked: zones.length, fresh }, past);
  return { figures, codes: updateCodeBaseline(codes, known, now), failed };
}

async function readZone(
  { originErrors }: CdnClient,
  zone: Named,
  { from, until, firstHour, hours }: Window,
): Promise<ReadZone> {
  const counter = createOriginErrorCounter({ start: firstHour, hours });
  const ids = createSeenIds();
  let partial = false;
  const last = utcDay(new Date(until));
  for (let day = utcDay(new Date(from)); day <= last; day = shiftDay(day, 1)) {
    // One without a time belongs to its day; of the first day most was told by the run before.
    const isInside = dayStart(day) >= from;
    const wanted = ({ at }: OriginError): boolean => (at === undefined ? isInside : at >= from);
    const { moreExist } = await readDay(originErrors, zone.id, day, ids, counter, wanted);
    partial ||= moreExist;
  }
  return { zone, counter, partial };
}

function figuresOf(
  counted: readonly (ReadZone & { readonly counts: OriginErrorCounts })[],
  about: Window & Pick<ErrorFigures, 'of' | 'asked' | 'scope' | 'fresh'>,
  past: Earlier<ErrorFigures>,
): ErrorFigures {
  const { of, asked, scope, fresh, from, until, firstHour } = about;
  const days = (until - from) / dayMs;
  const whole = createOriginErrorCounter({ start: firstHour, hours: about.hours });
  for (const { counter } of counted) whole.merge(counter);
  const { total, hours, codes, prefixes } = whole.result();
  const zones = counted.map(({ zone, partial, counts }): ZoneErrors => {
    const before = (found: ErrorFigures) => found.zones.find(({ id }) => id === zone.id)?.perDay.now;
    return {
      ...nameIds(zone),
      total: counts.total,
      perDay: compareWithPast(perDay(counts.total, days), past, before, estimateNoise.errors),
      ...(partial ? { partial } : {}),
    };
  });
  return {
    scope,
    ...(past.previous ? { since: new Date(past.previous.at).toISOString() } : {}),
    from: new Date(from).toISOString(),
    total,
    perDay: compareWithPast(perDay(total, days), past, (found) => found.perDay.now, estimateNoise.errors),
    read: counted.length,
    asked,
    of,
    zones: zones.toSorted((a, b) => b.total - a.total),
    codes: top(codes, mostCodes),
    fresh,
    prefixes: prefixes.slice(0, mostPrefixes).map(([prefix, count]) => [findNamed(prefix), count] as const),
    hours,
    firstHour,
  };
}

function top(codes: ReadonlyMap<string, number>, most: number): (readonly [string, number])[] {
  return [...codes]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, most)
    .map(([code, count]) => [findNamed(code), count] as const);
}

function perDay(total: number, days: number): number {
  return Math.round((total / days) * 10) / 10;
}
