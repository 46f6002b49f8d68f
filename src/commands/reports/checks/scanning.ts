import type { ScanDay, UploadScanningMetrics } from '../../../api/upload-scanning.ts';
import { UserError } from '../../../errors.ts';
import { dayMs, shiftDay, toUtcDay } from '../../../lib/time.ts';
import type { MessageBlock } from '../../../views/blocks/blocks.ts';
import { renderChart } from '../../../views/blocks/chart.ts';
import {
  agree,
  formatCount,
  formatInteger,
  formatNumber,
  formatPercent,
  formatShortDay,
  pluralize,
} from '../../../views/blocks/format.ts';
import { escapeMrkdwn } from '../../../views/blocks/text.ts';
import { describeComparison, describeRate, inBrackets } from '../../../views/reports/digests/comparisons.ts';
import type { Observation, Part } from '../alerts/conditions/condition.ts';
import {
  defineCondition,
  explainFailures,
  type JudgeInput,
  moreThan,
  type ReadParts,
  readEach,
  toNote,
} from './check.ts';
import { type CollectInput, collectEach, type DigestKind } from './digest-kind.ts';
import {
  type Comparison,
  findEarlier,
  findOutlier,
  hasMoved,
  noise,
  type Past,
  sumReported,
} from './figures.ts';

type Scans = ReadParts<string, UploadScanningMetrics>;

/** Uploads that scanning blocked in a day of the CDN's (UTC): today, and days not yet reported at the last check. */
export const scanning = defineCondition({
  name: 'scanning',
  label: 'Uploads blocked by scanning',
  words: /scan|upload|blocked/iu,
  target: 'shieldZones',
  missingTarget: 'Choose a shield zone: the CDN has no list of them.',
  threshold: moreThan('blocked uploads in a day (UTC)', 10, { least: 0 }),
  leastEvery: 15,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold }) => `more than ${formatCount(threshold, 'blocked upload')} in a day`,
  read: ({ account, subject }): Promise<Scans> =>
    readEach([...new Set(subject.targets)], (id) => account.uploadScanning.metrics(id)),
  judge(scans: Scans, { threshold, now, lookedAt }: JudgeInput): Observation {
    const wrongIf = `more than ${formatInteger(threshold)} in a day (UTC)`;
    const unread = explainFailures(scans);
    const found = scans.read.map(({ item: id, value }) => ({ id, days: findDays(value, now, lookedAt) }));
    const silent = found.filter(({ days }) => days.length === 0);
    if (silent.length === found.length)
      throw new UserError(
        'The CDN reports no upload scanning of today or yesterday.',
        'Look at the shield zone in its control panel.',
      );
    const worst = found
      .flatMap(({ id, days }) => days.map((one) => ({ id, name: `shield zone ${id}`, ...one })))
      .map((one) => ({
        ...one,
        text: `${formatCount(one.blocked, 'upload')} blocked on ${one.day}`,
        isWrong: one.blocked > threshold,
      }))
      .toSorted((a, b) => b.blocked - a.blocked);
    // The worst day of each shield zone.
    const wrong = new Map<string, Part>();
    for (const { id, name, text, blocked, isWrong } of worst)
      if (isWrong && !wrong.has(id)) wrong.set(id, { id, name, text, value: blocked });
    return {
      parts: [...wrong.values()],
      value: worst[0]?.blocked,
      unread: [...unread.map(({ item }) => item), ...silent.map(({ id }) => id)],
      evidence: [
        ...worst.map(({ name, text: is, isWrong }) => ({ name, is, wrongIf, isWrong })),
        ...silent.map(({ id }) => toNote(`shield zone ${id}`, 'nothing reported of today or yesterday')),
        ...unread.map(({ item, why }) => toNote(`shield zone ${item}`, why)),
      ].slice(0, 30),
    };
  },
  formatValue: (blocked) => `${formatInteger(blocked)} blocked`,
  unit: 'Blocked uploads a day',
  next: (part) => ({ label: 'Show upload scanning', command: part ? `scanning ${part.id}` : 'scanning' }),
});

/** Today and the days since the last check; yesterday where today is not reported yet. */
function findDays({ days }: UploadScanningMetrics, now: Date, lookedAt: Date | undefined) {
  const today = toUtcDay(now);
  const reported = days.flatMap(({ day, blockedRequests: blocked }: ScanDay) =>
    day !== undefined && blocked !== undefined && day <= today ? [{ day, blocked }] : [],
  );
  const first = reported.some(({ day }) => day === today) ? today : shiftDay(today, -1);
  const since = lookedAt ? toUtcDay(lookedAt) : first;
  return reported.filter(({ day }) => day >= (since < first ? since : first));
}

/** Upload scanning of one shield zone: the CDN's own days, the last whole ones since the previous run. */
interface ScanFigures {
  readonly id: string;
  readonly since?: string | undefined;
  /** `2026-11-20`: the last whole day; absent where the CDN reports none. */
  readonly last?: string | undefined;
  readonly days: number;
  readonly scanned?: number | undefined;
  readonly blocked?: number | undefined;
  /** Some of these days do not say how many were blocked. */
  readonly isPartial?: boolean;
  readonly perDay?: Comparison | undefined;
  /** Of the files scanned, where that is meaningful, from 0 to 1. */
  readonly share?: Comparison | undefined;
  readonly trend: readonly (readonly [day: string, blocked: number | null])[];
}

const daysCharted = 14;

export const scanningDigest: DigestKind<'scanning', readonly ScanFigures[]> = {
  name: 'scanning',
  label: 'Upload scanning',
  words: /scan/iu,
  target: 'shieldZones',
  missingTarget: 'Upload scanning needs the ID of a shield zone: type it, then pick “Shield zone …”.',
  troubles: 'blocked uploads',

  collect: (input) =>
    collectEach(
      input.targets.shieldZones,
      (id) => input.account.uploadScanning.metrics(id),
      (id, metrics) => compareDays(id, metrics, input),
    ),

  describe(scans) {
    const moved = scans.filter(({ perDay, share, blocked = 0 }) => {
      // A share of few files jumps: it counts only together with a number.
      return hasMoved(perDay, noise.blocked) || (hasMoved(share, noise.share) && blocked > noise.blocked);
    });
    const blocked = sumReported(scans.map((one) => one.blocked));
    const scanned = sumReported(scans.map((one) => one.scanned));
    const isPartial = scans.some((one) => one.isPartial);
    const days = Math.max(0, ...scans.map((one) => one.days));
    const last = scans
      .flatMap((one) => one.last ?? [])
      .toSorted()
      .at(-1);
    const when = last === undefined ? '' : ` ${agree(days, 'on', 'in')} ${describeDays(last, days)}`;
    const share = shareOf(blocked, scanned) === undefined ? '' : formatPercent(blocked ?? 0, scanned ?? 0);
    const numbers = [
      blocked === undefined
        ? '*Blocked uploads:* not reported'
        : `*${isPartial ? 'At least ' : ''}${pluralize(blocked, 'upload')} blocked*`,
      scanned === undefined
        ? 'files scanned: not reported'
        : `${pluralize(scanned, 'file')} scanned${when}${share && ` (${share})`}`,
    ];
    const [only] = scans.length === 1 ? scans : [];
    const isReported = blocked !== undefined || scanned !== undefined;
    return {
      troubles: blocked ?? 0,
      since: scans.map(({ since }) => since),
      findings: moved.map(({ id, perDay, days, since }) => ({
        weight: 4,
        line: () =>
          `:no_entry: Shield zone ${escapeMrkdwn(id, 20)}: ${perDay ? describeComparison(perDay, formatNumber, ' blocked a day', daysBefore(days)) : 'blocked uploads'}`,
        isWholeTotal: scans.length === 1,
        // The CDN's own days have something unusual in a first run too.
        isFirst: since === undefined,
      })),
      number: isReported ? numbers.join(' · ') : '*Upload scanning:* nothing reported',
      compared: isReported ? describeRate(only?.perDay, formatNumber, 'blocked a day', daysBefore(days)) : '',
      detail:
        scans.length === 0
          ? undefined
          : () => ({
              // A line above it tells what moved.
              lines: scans.map((scan) => renderScan(scan, scan.since !== undefined && moved.includes(scan))),
              table: [],
              note: 'By the CDN’s own days; today is not over and not counted.',
              chart: renderDayChart(scans),
            }),
    };
  },
};

/**
 * One shield zone on the whole days since the previous run. The CDN keeps 28 days, so that even a first run compares:
 * `before` are as many days before these, `weekBefore` the same days a week before.
 */
function compareDays(
  id: string,
  metrics: UploadScanningMetrics,
  input: CollectInput<readonly ScanFigures[]>,
): ScanFigures {
  const { since, base } = findEarlier(input, (scans) => scans.find((found) => found.id === id));
  const days = countDaysSince(base, input.now);
  const byDay = new Map(metrics.days.flatMap((day) => (day.day === undefined ? [] : [[day.day, day]])));
  const whole = [...byDay.keys()].filter((day) => day < toUtcDay(input.now)).toSorted();
  const last = whole.at(-1);
  const trend = whole
    .slice(-daysCharted)
    .map((day) => [day, byDay.get(day)?.blockedRequests ?? null] as const);
  if (last === undefined) return { id, since, days, trend };
  /** Of as many days, the last of them so many before the last one. */
  const sum = (member: 'filesScanned' | 'blockedRequests', daysBack = 0): number | undefined =>
    sumReported(
      Array.from({ length: days }, (_, index) => byDay.get(shiftDay(last, -daysBack - index))?.[member]),
    );
  const reported = Array.from({ length: days }, (_, nth) => byDay.get(shiftDay(last, -nth))?.blockedRequests);
  const compare = (read: (daysBack: number) => number | undefined): Comparison | undefined => {
    const value = read(0);
    return value === undefined ? undefined : { now: value, before: read(days), weekBefore: read(7) };
  };
  const perDay = compare((daysBack) => {
    const found = sum('blockedRequests', daysBack);
    return found === undefined ? undefined : Math.round((found / days) * 10) / 10;
  });
  const earlier = whole.slice(0, -days).toReversed();
  const series = earlier.flatMap((day) => byDay.get(day)?.blockedRequests ?? []);
  const outlier = { series, weekBefore: perDay?.weekBefore, floor: noise.blocked };
  return {
    id,
    since,
    days,
    trend,
    last,
    scanned: sum('filesScanned'),
    blocked: sum('blockedRequests'),
    ...(reported.includes(undefined) && { isPartial: true }),
    perDay: perDay && { ...perDay, usual: findOutlier(perDay.now, outlier) },
    share: compare((daysBack) => shareOf(sum('blockedRequests', daysBack), sum('filesScanned', daysBack))),
  };
}

/** The whole days that a run reports: those since the previous run, from 1 to 7. */
export function countDaysSince(base: Past<unknown> | undefined, now: Date): number {
  if (!base) return 1;
  return Math.min(7, Math.max(1, Math.round((now.getTime() - base.at) / dayMs)));
}

function shareOf(blocked: number | undefined, scanned: number | undefined): number | undefined {
  if (blocked === undefined || scanned === undefined || scanned <= 0 || blocked > scanned) return undefined;
  return Math.round((blocked / scanned) * 10_000) / 10_000;
}

function daysBefore(days: number): string {
  return `the ${agree(days, 'day', formatCount(days, 'day'))} before`;
}

function describeDays(last: string, days: number): string {
  return days > 1 ? `${formatCount(days, 'day')} to ${formatShortDay(last)}` : formatShortDay(last);
}

function renderScan(
  { id, scanned, blocked, isPartial, last, days, perDay }: ScanFigures,
  isToldAbove: boolean,
): string {
  const when = last === undefined ? 'no day reported' : describeDays(last, days);
  const least = isPartial && blocked !== undefined ? 'at least ' : '';
  const isReported = blocked !== undefined || scanned !== undefined;
  const numbers = isReported
    ? `*${least}${pluralize(blocked, 'upload')} blocked*, ${pluralize(scanned, 'file')} scanned`
    : 'Nothing reported';
  const compared = isToldAbove ? '' : inBrackets(perDay, formatNumber, daysBefore(days));
  return `${numbers}, ${when} · shield zone ${escapeMrkdwn(id, 20)}${compared}`;
}

function renderDayChart(scans: readonly ScanFigures[]): MessageBlock[] {
  const days = [...new Set(scans.flatMap(({ trend }) => trend.map(([day]) => day)))].toSorted();
  const all = scans.flatMap(({ trend }) => trend.map(([, blocked]) => blocked ?? 0));
  if (all.every((blocked) => blocked === 0)) return [];
  return renderChart({
    kind: 'bar',
    title: `Blocked uploads, ${formatShortDay(days[0] ?? '')}–${formatShortDay(days.at(-1) ?? '')}: ${formatInteger(Math.max(...all))} on the worst day`,
    unit: 'Blocked uploads a day',
    labels: days.map(formatShortDay),
    series: scans
      .filter(({ trend }) => trend.length > 0)
      .map(({ id, trend }) => {
        const byDay = new Map(trend);
        return { name: `Shield zone ${id}`, values: days.map((day) => byDay.get(day) ?? undefined) };
      }),
    newest: daysCharted,
  });
}
