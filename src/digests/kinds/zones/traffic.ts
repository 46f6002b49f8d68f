import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { dayMs } from '../../../lib/time.ts';
import { toNamed } from '../../figures/compact-ids.ts';
import {
  apartMs,
  type Comparison,
  compareWithPast,
  type Earlier,
  noise,
  type Past,
} from '../../figures/series.ts';
import type { ZoneFigures, ZoneUse } from './figures.ts';
import { monthOf } from './limits.ts';

const mostBusiest = 30;

/** The busiest zones with their bandwidth a day. */
export function compareBusiest(
  zones: readonly ZoneSummary[],
  past: Earlier<ZoneFigures>,
  now: Date,
): ZoneUse[] {
  const used = zones.filter(({ bandwidthUsed }) => (bandwidthUsed ?? 0) > 0);
  return findBusiest(used, mostBusiest).map((zone) => {
    const find = (found: ZoneFigures) => found.busiest.find(({ id }) => id === zone.id);
    return {
      ...toNamed(zone),
      used: usedBy(zone),
      perDay: compareRate(zone.bandwidthUsed, { past, now, find, floor: noise.bytes }),
    };
  });
}

/** Those with the most bandwidth, the most first. One pass: sorting 50,000 zones holds up the event loop. */
export function findBusiest(zones: readonly ZoneSummary[], most: number): ZoneSummary[] {
  const found: ZoneSummary[] = [];
  for (const zone of zones) {
    if (found.length >= most && usedBy(zone) <= usedBy(found.at(-1))) continue;
    const at = found.findIndex((other) => usedBy(other) < usedBy(zone));
    found.splice(at === -1 ? found.length : at, 0, zone);
    if (found.length > most) found.pop();
  }
  return found;
}

function usedBy(zone: ZoneSummary | undefined): number {
  return zone?.bandwidthUsed ?? 0;
}

interface Counter {
  readonly used?: number | undefined;
  readonly perDay?: Comparison | undefined;
}

/** How fast a monthly counter grows, compared with earlier runs. */
export function compareRate(
  used: number | undefined,
  about: {
    readonly past: Earlier<ZoneFigures>;
    readonly now: Date;
    readonly find: (found: ZoneFigures) => Counter | undefined;
    readonly floor: number;
  },
): Comparison | undefined {
  const { past, now, find, floor } = about;
  const rate = ratePerDay(used, past.base, now, (found) => find(found)?.used);
  return rate === undefined
    ? undefined
    : compareWithPast(rate, past, (found) => find(found)?.perDay?.now, floor);
}

/**
 * What a monthly counter grows a day since an earlier run; after the start of a new month, a day in this month, from six
 * hours on. Undefined where it cannot be known: the counter fell within a month, or did not fall with a new one, since it
 * may have grown past its earlier value or not have started again yet.
 */
function ratePerDay(
  used: number | undefined,
  base: Past<ZoneFigures> | undefined,
  now: Date,
  read: (found: ZoneFigures) => number | undefined,
): number | undefined {
  const before = base && read(base.figures);
  if (used === undefined || base === undefined || before === undefined) return undefined;
  const { start } = monthOf(now);
  const isNewMonth = base.at < start;
  if (isNewMonth !== used < before) return undefined;
  const elapsed = now.getTime() - (isNewMonth ? start : base.at);
  const grown = isNewMonth ? used : used - before;
  return elapsed < apartMs ? undefined : roundToCents((grown / elapsed) * dayMs);
}

/** Two decimals: floating-point noise behind them would differ from run to run. */
export function roundToCents(number: number): number {
  return Math.round(number * 100) / 100;
}
