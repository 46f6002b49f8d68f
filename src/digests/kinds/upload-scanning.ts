import type { ScanDay, UploadScanningMetrics } from '../../api/upload-scanning.ts';
import { shiftDay, utcDay } from '../../lib/days.ts';
import type { Comparison, ScanFigures } from '../figures/figures.ts';
import { countDaysSince, estimateNoise, findEarlier, findOutlier } from '../figures/series.ts';
import type { CollectInput } from '../model.ts';

type Member = 'filesScanned' | 'loggedRequests' | 'blockedRequests';

/**
 * Upload scanning of one shield zone on the whole days since the previous run. The CDN keeps 28 days, so that even a
 * first run compares: `before` are as many days before these, `weekBefore` the same days a week before.
 */
export function collectUploadScanning(
  id: string,
  metrics: UploadScanningMetrics,
  input: CollectInput,
): ScanFigures {
  const { now } = input;
  const past = findEarlier(input, ({ scanning }) => scanning?.find((found) => found.id === id));
  const length = countDaysSince(past.base, now);
  const byDay = new Map(metrics.days.flatMap((day) => (day.day === undefined ? [] : [[day.day, day]])));
  // Today is not over.
  const whole = [...byDay.keys()].filter((day) => day < utcDay(now)).toSorted();
  const last = whole.at(-1);
  const trend = whole.map((day) => {
    const found = byDay.get(day);
    return [day, found?.filesScanned ?? null, found?.blockedRequests ?? null] as const;
  });
  const base = {
    id,
    ...(past.previous ? { since: new Date(past.previous.at).toISOString() } : {}),
    days: length,
    trend: trend.slice(-28),
  };
  if (last === undefined) return base;
  const sum = (member: Member, back: number): number | undefined => {
    const days = Array.from({ length }, (_, index) => byDay.get(shiftDay(last, -back - index)));
    return total(days, member);
  };
  const [scanned, logged, blocked] = (['filesScanned', 'loggedRequests', 'blockedRequests'] as const).map(
    (member) => sum(member, 0),
  );
  const rate = (back: number): number | undefined => {
    const found = sum('blockedRequests', back);
    return found === undefined ? undefined : Math.round((found / length) * 10) / 10;
  };
  const share = (back: number) => shareOf(sum('blockedRequests', back), sum('filesScanned', back));
  const series = whole
    .slice(0, -length)
    .toReversed()
    .flatMap((day) => byDay.get(day)?.blockedRequests ?? []);
  const perDay = told(rate(0), rate(length), rate(7), series);
  const shares = told(share(0), share(length), share(7), []);
  return {
    ...base,
    last,
    ...(scanned === undefined ? {} : { scanned }),
    ...(logged === undefined ? {} : { logged }),
    ...(blocked === undefined ? {} : { blocked }),
    ...(perDay ? { perDay } : {}),
    ...(shares ? { share: shares } : {}),
  };
}

function told(
  now: number | undefined,
  before: number | undefined,
  weekBefore: number | undefined,
  series: readonly number[],
): Comparison | undefined {
  if (now === undefined) return undefined;
  const usual = findOutlier(now, { series, weekBefore, floor: estimateNoise.blocked });
  return {
    now,
    ...(before === undefined ? {} : { before }),
    ...(weekBefore === undefined ? {} : { weekBefore }),
    ...(usual === undefined ? {} : { usual }),
  };
}

/** Undefined where no day reports it: that is no zero. */
function total(days: readonly (ScanDay | undefined)[], member: Member): number | undefined {
  const known = days.flatMap((day) => day?.[member] ?? []);
  return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one, 0);
}

function shareOf(blocked: number | undefined, scanned: number | undefined): number | undefined {
  if (blocked === undefined || scanned === undefined || scanned <= 0 || blocked > scanned) return undefined;
  return Math.round((blocked / scanned) * 10_000) / 10_000;
}
