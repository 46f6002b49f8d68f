import {
  countDay,
  createOriginErrorCounter,
  type OriginErrorCounter,
} from '../../../api/origin-errors/counts.ts';
import type { OriginError } from '../../../api/origin-errors/origin-errors.ts';
import { createSeenIds } from '../../../api/origin-errors/seen-ids.ts';
import { dayMs, hourMs, shiftDay, startOfDay, toUtcDay } from '../../../lib/time.ts';
import { flattenName, type Named, toNamed } from '../../figures/compact-ids.ts';
import { type Comparison, compareWithPast, type Earlier, findEarlier, noise } from '../../figures/series.ts';
import { type CollectInput, type CollectResult, OutOfTime, readEach } from '../kind.ts';
import { findBusiest } from '../zones/traffic.ts';
import { type CodeBaseline, findNewCodes, type NewCode, updateCodeBaseline } from './new-codes.ts';

export interface ErrorFigures {
  /** The chosen zones; empty for all. Figures of another scope are not compared with. */
  readonly scope: string;
  readonly since?: string | undefined;
  /** Counting starts here, as ISO text: the previous run, at most seven days ago; a day in the first run. */
  readonly from: string;
  readonly total: number;
  readonly perDay: Comparison;
  /** Zones whose logs were read, zones whose logs were to be read, and zones there are. */
  readonly read: number;
  readonly asked: number;
  readonly of: number;
  /** Every zone whose log was read, the most errors first. */
  readonly zones: readonly ZoneErrors[];
  readonly codes: readonly (readonly [code: string, count: number])[];
  readonly fresh: readonly NewCode[];
  readonly prefixes: readonly (readonly [prefix: string, count: number])[];
  /** By hour, the last one the current hour. */
  readonly hours: readonly number[];
  /** When the first hour began, in epoch ms. */
  readonly firstHour: number;
}

interface ZoneErrors extends Named {
  readonly total: number;
  readonly perDay: Comparison;
  /** The CDN holds more than it gave. */
  readonly partial?: boolean;
}

/** Zones whose logs are read in one run: a log is up to hundreds of megabytes a day. */
const mostZones = 25;
const mostDays = 7;
const mostCodes = 12;
const mostPrefixes = 5;
const defaultPatienceMs = 90_000;

export async function collectErrors(
  input: CollectInput<ErrorFigures, CodeBaseline>,
): Promise<CollectResult<ErrorFigures, CodeBaseline>> {
  const { zones, of } = await chooseZones(input);
  const scope = input.targets.zones.toSorted().join(' ');
  const past = findEarlier(input, (errors) => (errors.scope === scope ? errors : undefined));
  const window = windowSince(past, input.now);
  const { signal, patienceMs = defaultPatienceMs } = input;
  const begun = performance.now();
  const { results, failures } = await readEach(
    zones,
    { signal, nameOf: ({ name, id }) => name || id },
    async (zone) => {
      if (performance.now() - begun >= patienceMs) throw new OutOfTime();
      return readZone(input, zone, window);
    },
  );
  if (results.length === 0 && zones.length > 0) return { figures: undefined, failures };
  const codes = results.map(({ zone, counts }) => ({ zone, codes: counts.codes }));
  const fresh = findNewCodes(codes, input.baseline, input.now);
  const figures = summarize(results, { ...window, of, scope, fresh, asked: zones.length }, past);
  return { figures, baseline: updateCodeBaseline(codes, input.baseline, input.now), failures };
}

/** The chosen zones, whose ids are enough where the list cannot be read; else the busiest of all. */
async function chooseZones({ targets, zoneList }: CollectInput<ErrorFigures, CodeBaseline>): Promise<{
  readonly zones: readonly Named[];
  readonly of: number;
}> {
  if (targets.zones.length === 0) {
    const { zones } = await zoneList();
    return { zones: findBusiest(zones, mostZones), of: zones.length };
  }
  const list = await zoneList().catch(() => undefined);
  const names = new Map(list?.zones.map(({ id, name }) => [id, name]));
  const zones = targets.zones.map((id) => ({ id, name: names.get(id) ?? '' }));
  return { zones: zones.slice(0, mostZones), of: zones.length };
}

/** Which entries count, and their hours; in ms. */
interface Window {
  readonly from: number;
  readonly until: number;
  readonly firstHour: number;
  readonly hours: number;
}

function windowSince({ base }: Earlier<ErrorFigures>, now: Date): Window {
  const until = now.getTime();
  const from = base ? Math.max(base.at, until - mostDays * dayMs) : until - dayMs;
  const firstHour = Math.floor(from / hourMs) * hourMs;
  return { from, until, firstHour, hours: Math.ceil((until - firstHour) / hourMs) };
}

interface ReadZone {
  readonly zone: Named;
  readonly counter: OriginErrorCounter;
  readonly counts: ReturnType<OriginErrorCounter['result']>;
  readonly partial: boolean;
}

async function readZone(
  { cdn }: CollectInput<ErrorFigures, CodeBaseline>,
  zone: Named,
  { from, until, firstHour, hours }: Window,
): Promise<ReadZone> {
  const counter = createOriginErrorCounter({ start: firstHour, hours });
  const ids = createSeenIds();
  let partial = false;
  const last = toUtcDay(new Date(until));
  for (let day = toUtcDay(new Date(from)); day <= last; day = shiftDay(day, 1)) {
    // An entry without a time belongs to its day; the previous run reported most of the first day.
    const isWholeDay = startOfDay(day) >= from;
    const isWanted = ({ at }: OriginError): boolean => (at === undefined ? isWholeDay : at >= from);
    const { moreExist } = await countDay(cdn.originErrors, zone.id, day, ids, counter, isWanted);
    partial ||= moreExist;
  }
  return { zone, counter, counts: counter.result(), partial };
}

function summarize(
  zones: readonly ReadZone[],
  about: Window & Pick<ErrorFigures, 'of' | 'asked' | 'scope' | 'fresh'>,
  past: Earlier<ErrorFigures>,
): ErrorFigures {
  const { of, asked, scope, fresh, from, until, firstHour } = about;
  const whole = createOriginErrorCounter({ start: firstHour, hours: about.hours });
  for (const { counter } of zones) whole.merge(counter);
  const { total, hours, codes, prefixes } = whole.result();
  const compare = (count: number, read: (found: ErrorFigures) => number | undefined): Comparison => {
    const perDay = Math.round((count / ((until - from) / dayMs)) * 10) / 10;
    return compareWithPast(perDay, past, read, noise.errors);
  };
  const byZone = zones.map(
    ({ zone, partial, counts }): ZoneErrors => ({
      ...toNamed(zone),
      total: counts.total,
      perDay: compare(counts.total, (found) => found.zones.find(({ id }) => id === zone.id)?.perDay.now),
      ...(partial ? { partial } : {}),
    }),
  );
  return {
    scope,
    since: past.since,
    from: new Date(from).toISOString(),
    total,
    perDay: compare(total, (found) => found.perDay.now),
    read: zones.length,
    asked,
    of,
    zones: byZone.toSorted((a, b) => b.total - a.total),
    codes: [...codes]
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, mostCodes)
      .map(([code, count]) => [flattenName(code), count] as const),
    fresh,
    prefixes: prefixes.slice(0, mostPrefixes).map(([prefix, count]) => [flattenName(prefix), count] as const),
    hours,
    firstHour,
  };
}
