import { setImmediate as breathe } from 'node:timers/promises';
import { sumTotals } from '../../api/zones/attention.ts';
import type { ZoneSummary } from '../../api/zones/summary.ts';
import { nameIds } from '../figures/compact-ids.ts';
import type { Comparison, ZoneFigures, ZoneUse } from '../figures/figures.ts';
import { createMonth, findLimits, type LimitBaseline } from '../figures/forecast.ts';
import {
  apartMs,
  compareWithPast,
  dayMs,
  type Earlier,
  estimateNoise,
  findEarlier,
  type Past,
} from '../figures/series.ts';
import type { CollectInput, DigestSubject } from '../model.ts';
import {
  createZoneBaseline,
  hasFlag,
  readFlags,
  readZoneBaseline,
  type ZoneBaseline,
  type ZoneBaselineReader,
} from './zone-baseline.ts';
import { findZoneNews, readStates } from './zone-news.ts';

const mostBusiest = 30;
const mostPoints = 30;

/** The overview of some zones, or of all: what there is, what changed, where it leads; and what to remember of it. */
export async function collectZones(
  list: { readonly zones: readonly ZoneSummary[]; readonly skipped: number },
  subject: DigestSubject,
  input: CollectInput,
): Promise<{ readonly figures: ZoneFigures; readonly book: ZoneBaseline }> {
  const { now, book } = input;
  const wanted = new Set(subject.targets.zones);
  const scope = [...wanted].toSorted().join(' ');
  const zones = wanted.size === 0 ? list.zones : list.zones.filter(({ id }) => wanted.has(id));
  const known = book?.zones?.scope === scope ? await readZoneBaseline(book.zones) : undefined;
  // Somebody else took the digest over: theirs is another account altogether.
  const isOther =
    known && known.count > 0 && zones.length > 0 && !zones.some(({ id }) => known.placeOf(id) !== undefined);
  const before = isOther ? undefined : known;
  const since = before && book?.zones ? book.zones.since : now.toISOString();
  const past = findEarlier(input, ({ zones: found, at }) =>
    before && found?.scope === scope && at >= since ? found : undefined,
  );
  const previous = past.previous?.figures;
  const marks = await readFlags(zones, now);
  const { attention } = sumTotals(zones);
  await breathe();
  const used = sum(zones.map(({ bandwidthUsed }) => bandwidthUsed));
  const charges = sum(zones.map((zone) => zone.charges));
  const perDay = ratesOf(used, past, now, (found) => found, estimateNoise.bytes);
  const chargesPerDay = ratesOf(
    charges,
    past,
    now,
    (found) => ({ used: found.charges, perDay: found.chargesPerDay }),
    estimateNoise.dollars,
  );
  await breathe();
  const limits = findLimits(zones, now, (id) => saidOfLimit(before, id));
  await breathe();
  const busy = busiestOf(zones, past, now);
  await breathe();
  const here = new Set(zones.map(({ id }) => id));
  const figures: ZoneFigures = {
    scope,
    ...(before && book?.zones ? { since: book.zones.at } : {}),
    zones: zones.length,
    skipped: list.skipped,
    ...(used === undefined ? {} : { used }),
    ...(charges === undefined ? {} : { charges }),
    attention,
    ...(previous ? { before: pick(previous) } : {}),
    newMonth: past.previous !== undefined && past.previous.at < createMonth(now).start,
    ...(perDay ? { perDay } : {}),
    ...(chargesPerDay ? { chargesPerDay } : {}),
    busiest: busy,
    limits: limits.limits,
    moreLimits: limits.more,
    states: readStates(zones, marks),
    missing: [...wanted].filter((id) => !here.has(id)),
    ...(before ? { news: await findZoneNews(zones, marks, before) } : {}),
    trend: trendOf(past, perDay, now),
  };
  return { figures, book: await createZoneBaseline(zones, marks, { scope, at: now.toISOString(), since }) };
}

function saidOfLimit(before: ZoneBaselineReader | undefined, id: string): LimitBaseline {
  const place = before?.placeOf(id);
  if (before === undefined || place === undefined) return 'nothing';
  const marks = before.marksAt(place);
  if (hasFlag(marks, 'limit-reached')) return 'reached';
  return hasFlag(marks, 'limit-foretold') ? 'foretold' : 'nothing';
}

function busiestOf(zones: readonly ZoneSummary[], past: Earlier<ZoneFigures>, now: Date): ZoneUse[] {
  const busy = zones.filter(({ bandwidthUsed }) => (bandwidthUsed ?? 0) > 0);
  return findBusiest(busy, mostBusiest).map((zone) => {
    const used = zone.bandwidthUsed ?? 0;
    const find = (found: ZoneFigures) => found.busiest.find(({ id }) => id === zone.id);
    const perDay = ratesOf(used, past, now, find, estimateNoise.bytes);
    return { ...nameIds(zone), used, ...(perDay ? { perDay } : {}) };
  });
}

const used = (zone: ZoneSummary | undefined): number => zone?.bandwidthUsed ?? 0;

/** Those with the most bandwidth, the most first: one pass, since sorting fifty thousand holds everybody up. */
export function findBusiest(zones: readonly ZoneSummary[], most: number): ZoneSummary[] {
  const found: ZoneSummary[] = [];
  for (const zone of zones) {
    if (found.length >= most && used(zone) <= used(found.at(-1))) continue;
    const at = found.findIndex((other) => used(other) < used(zone));
    found.splice(at === -1 ? found.length : at, 0, zone);
    if (found.length > most) found.pop();
  }
  return found;
}

interface Counting {
  readonly used?: number | undefined;
  readonly perDay?: Comparison | undefined;
}

/** How fast a counter that begins anew each month goes, compared with how fast it went in earlier runs. */
function ratesOf(
  used: number | undefined,
  past: Earlier<ZoneFigures>,
  now: Date,
  find: (found: ZoneFigures) => Counting | undefined,
  floor: number,
): Comparison | undefined {
  const rate = perDayOf(used, past.base, now, (found) => find(found)?.used);
  return rate === undefined
    ? undefined
    : compareWithPast(rate, past, (found) => find(found)?.perDay?.now, floor);
}

/**
 * What a counter grows a day since an earlier run. Where it began anew with the month since: what it grew a day in this
 * month, from six hours on. Undefined where nobody can tell: it fell within a month, or did not with a new one, since it
 * may have grown past what it was or not have begun anew yet.
 */
function perDayOf(
  used: number | undefined,
  base: Past<ZoneFigures> | undefined,
  now: Date,
  read: (found: ZoneFigures) => number | undefined,
): number | undefined {
  const before = base && read(base.figures);
  if (used === undefined || base === undefined || before === undefined) return undefined;
  const { start } = createMonth(now);
  const isNewMonth = base.at < start;
  if (isNewMonth !== used < before) return undefined;
  const since = isNewMonth ? start : base.at;
  const grown = isNewMonth ? used : used - before;
  const elapsed = now.getTime() - since;
  return elapsed < apartMs ? undefined : rounded((grown / elapsed) * dayMs);
}

function trendOf(past: Earlier<ZoneFigures>, perDay: Comparison | undefined, now: Date): [number, number][] {
  const points = past.series.flatMap(({ at, figures }): [number, number][] =>
    figures.perDay ? [[at, figures.perDay.now]] : [],
  );
  const latest: [number, number][] = perDay ? [[now.getTime(), perDay.now]] : [];
  return [...points.slice(0, mostPoints - 1).toReversed(), ...latest];
}

function pick({ zones, used, charges }: ZoneFigures): NonNullable<ZoneFigures['before']> {
  return {
    zones,
    ...(used === undefined ? {} : { used }),
    ...(charges === undefined ? {} : { charges }),
  };
}

/** Undefined where nobody reports any: that is no zero. Without zones it is. */
function sum(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((one) => one !== undefined);
  if (known.length === 0 && numbers.length > 0) return undefined;
  return rounded(known.reduce((total, one) => total + one, 0));
}

/** To a hundredth: what lies behind it is the computer's. */
function rounded(number: number): number {
  return Math.round(number * 100) / 100;
}
