import {
  countDay,
  createOriginErrorCounter,
  type OriginErrorCounter,
} from '../../../../../api/origin-errors/counts.ts';
import type { OriginError } from '../../../../../api/origin-errors/origin-errors.ts';
import { createSeenIds } from '../../../../../api/origin-errors/seen-ids.ts';
import { findBusiest } from '../../../../../api/zones/bandwidth.ts';
import { dayMs, hourMs, shiftDay, startOfDay, toUtcDay } from '../../../../../lib/time.ts';
import { type Comparison, compareWithPast, type Earlier, findEarlier, noise } from '../../figures.ts';
import { flattenName, type Named, toNamed } from '../../names.ts';
import { type CollectInput, type CollectResult, OutOfTime, readEach } from '../kind.ts';
import { type CodeBaseline, findNewCodes, type NewCode } from './new-codes.ts';

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
  /** Its most frequent code. */
  readonly mostly?: string | undefined;
  /** The CDN holds more than it gave. */
  readonly partial?: boolean;
}

/** Zones whose logs are read in one run: a log is up to hundreds of megabytes a day. */
const mostZones = 25;
const mostDays = 7;
const mostCodes = 12;
const mostPrefixes = 5;

type Input = CollectInput<ErrorFigures, CodeBaseline>;

export async function collectErrors(input: Input): Promise<CollectResult<ErrorFigures, CodeBaseline>> {
  const { now, patienceMs, baseline: before } = input;
  const { zones, of } = await chooseZones(input);
  const scope = input.targets.zones.toSorted().join(' ');
  const past = findEarlier(input, (errors) => (errors.scope === scope ? errors : undefined));
  const from = past.base ? Math.max(past.base.at, now.getTime() - mostDays * dayMs) : now.getTime() - dayMs;
  const begun = performance.now();
  const { results, failures } = await readEach(
    zones,
    ({ name, id }) => name || id,
    async (zone) => {
      if (performance.now() - begun >= patienceMs) throw new OutOfTime();
      return readZone(input, zone, from);
    },
  );
  if (!results) return { figures: undefined, failures };
  const { fresh, baseline } = findNewCodes(results, before, now);
  const sums = summarize(results, { from, now, past });
  const figures = { scope, since: past.since, asked: zones.length, of, fresh, ...sums };
  return { figures, baseline, failures };
}

/** The chosen zones, whose ids are enough where the list cannot be read; else the busiest of all. */
async function chooseZones({ targets, zoneList }: Input) {
  if (targets.zones.length === 0) {
    const { zones } = await zoneList();
    return { zones: findBusiest(zones, mostZones), of: zones.length };
  }
  const list = await zoneList().catch(() => undefined);
  const names = new Map(list?.zones.map(({ id, name }) => [id, name]));
  const zones = targets.zones.map((id) => ({ id, name: names.get(id) ?? '' }));
  return { zones: zones.slice(0, mostZones), of: zones.length };
}

/** Counts by hour from the hour of that moment on. */
function createCounter(from: number, now: Date): OriginErrorCounter {
  const start = startOfHour(from);
  return createOriginErrorCounter({ start, hours: Math.ceil((now.getTime() - start) / hourMs) });
}

function startOfHour(at: number): number {
  return Math.floor(at / hourMs) * hourMs;
}

type ReadZone = Awaited<ReturnType<typeof readZone>>;

async function readZone({ cdn, now }: Input, zone: Named, from: number) {
  const counter = createCounter(from, now);
  const ids = createSeenIds();
  let partial = false;
  for (let day = toUtcDay(new Date(from)); day <= toUtcDay(now); day = shiftDay(day, 1)) {
    // An entry without a time belongs to its day; the previous run reported most of the first day.
    const isWholeDay = startOfDay(day) >= from;
    const isWanted = ({ at }: OriginError): boolean => (at === undefined ? isWholeDay : at >= from);
    const { moreExist } = await countDay(cdn.originErrors, zone.id, day, ids, counter, isWanted);
    partial ||= moreExist;
  }
  const { total, codes } = counter.result();
  return { zone, counter, total, codes, partial };
}

function summarize(
  read: readonly ReadZone[],
  { from, now, past }: { readonly from: number; readonly now: Date; readonly past: Earlier<ErrorFigures> },
) {
  const whole = createCounter(from, now);
  for (const { counter } of read) whole.merge(counter);
  const { total, hours, codes, prefixes } = whole.result();
  const compare = (count: number, find: (found: ErrorFigures) => Comparison | undefined): Comparison => {
    const perDay = Math.round((count / ((now.getTime() - from) / dayMs)) * 10) / 10;
    return compareWithPast(perDay, past, find, noise.errors);
  };
  const zones = read.map(({ zone, partial, total, codes }): ZoneErrors => {
    const perDay = compare(total, (found) => found.zones.find(({ id }) => id === zone.id)?.perDay);
    const [most] = [...codes].toSorted((a, b) => b[1] - a[1]);
    const mostly = most && { mostly: flattenName(most[0]) };
    return { ...toNamed(zone), total, perDay, ...mostly, ...(partial ? { partial } : {}) };
  });
  return {
    from: new Date(from).toISOString(),
    total,
    perDay: compare(total, (found) => found.perDay),
    read: read.length,
    zones: zones.toSorted((a, b) => b.total - a.total),
    codes: flattenNames(
      [...codes].toSorted((a, b) => b[1] - a[1]),
      mostCodes,
    ),
    prefixes: flattenNames(prefixes, mostPrefixes),
    hours,
    firstHour: startOfHour(from),
  };
}

function flattenNames(
  counts: readonly (readonly [name: string, count: number])[],
  most: number,
): (readonly [string, number])[] {
  return counts.slice(0, most).map(([name, count]) => [flattenName(name), count]);
}
