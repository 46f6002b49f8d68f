import type { UploadScanningMetrics } from '../../../../api/upload-scanning.ts';
import { shiftDay, toUtcDay } from '../../../../lib/time.ts';
import type { MessageBlock } from '../../../../views/blocks/blocks.ts';
import { renderChart } from '../../../../views/blocks/chart.ts';
import {
  formatInteger,
  formatNumber,
  formatPercent,
  formatShortDay,
  pluralize,
} from '../../../../views/blocks/format.ts';
import { escapeMrkdwn } from '../../../../views/blocks/text.ts';
import {
  describeComparison,
  describeRate,
  inBrackets,
  sumReported,
} from '../../../../views/reports/digests/comparisons.ts';
import { type Comparison, countDaysSince, findEarlier, findOutlier, hasMoved, noise } from '../figures.ts';
import { type CollectInput, type DigestKind, type Finding, readEach } from './kind.ts';

/** Upload scanning of one shield zone: the CDN's own days, the last whole ones since the previous run. */
interface ScanFigures {
  readonly id: string;
  readonly since?: string | undefined;
  /** `2026-11-20`: the last whole day; absent where the CDN reports none. */
  readonly last?: string | undefined;
  readonly days: number;
  readonly scanned?: number | undefined;
  readonly blocked?: number | undefined;
  readonly perDay?: Comparison | undefined;
  /** Of the files scanned, where that is meaningful, from 0 to 1. */
  readonly share?: Comparison | undefined;
  readonly trend: readonly (readonly [day: string, blocked: number | null])[];
}

/** Of the chart; the days of further shield zones are not stored. */
const mostCharted = 6;
const daysCharted = 14;

export const uploadScanning: DigestKind<'scanning', readonly ScanFigures[]> = {
  name: 'scanning',
  label: 'Upload scanning',
  words: /scan/iu,
  target: 'shieldZones',
  missingTarget: 'Upload scanning needs the id of a shield zone: type it, then pick “Shield zone …”.',
  troubles: 'blocked uploads',

  async collect(input) {
    const { cdn, targets } = input;
    const { results, failures } = await readEach(targets.shieldZones, String, async (id) =>
      compareDays(id, await cdn.uploadScanning.metrics(id), input),
    );
    const figures = results?.map((scan, index) => (index < mostCharted ? scan : { ...scan, trend: [] }));
    return { figures, failures };
  },

  countTroubles: (scans) => sumReported(scans.map(({ blocked }) => blocked)) ?? 0,
  listSince: (scans) => scans.map(({ since }) => since),

  listFindings: (scans) =>
    scans.flatMap((scan): Finding[] => {
      const { id, since, perDay, share, blocked = 0, days } = scan;
      // A share of few files jumps: it counts only together with a number.
      const hasShareMoved = hasMoved(share, noise.share) && blocked > noise.blocked;
      if (!hasMoved(perDay, noise.blocked) && !hasShareMoved) return [];
      const rate = perDay
        ? describeComparison(perDay, formatNumber, ' blocked a day', daysBefore(days))
        : 'blocked uploads';
      return [
        {
          weight: 4,
          line: () => `:no_entry: Shield zone ${escapeMrkdwn(id, 20)}: ${rate}`,
          isWholeTotal: scans.length === 1,
          about: scan,
          // The CDN's own days have something unusual in a first run too.
          isFirst: since === undefined,
        },
      ];
    }),

  renderLine(scans) {
    const blocked = sumReported(scans.map((one) => one.blocked));
    const scanned = sumReported(scans.map((one) => one.scanned));
    if (blocked === undefined && scanned === undefined)
      return { number: '*Upload scanning:* nothing reported', compared: '' };
    const last = scans
      .flatMap(({ last }) => last ?? [])
      .toSorted()
      .at(-1);
    const days = Math.max(0, ...scans.map(({ days }) => days));
    const when = last === undefined ? '' : ` ${days > 1 ? 'in' : 'on'} ${describeDays(last, days)}`;
    const share =
      shareOf(blocked, scanned) === undefined ? '' : ` (${formatPercent(blocked ?? 0, scanned ?? 0)})`;
    const files =
      scanned === undefined
        ? 'files scanned: not reported'
        : `${pluralize(scanned, 'file')} scanned${when}${share}`;
    const uploads =
      blocked === undefined ? '*Blocked uploads:* not reported' : `*${pluralize(blocked, 'upload')} blocked*`;
    const only = scans.length === 1 ? scans[0] : undefined;
    return {
      number: `${uploads} · ${files}`,
      compared: describeRate(only?.perDay, formatNumber, 'blocked a day', daysBefore(days)),
    };
  },

  renderDetail(scans, reported) {
    if (scans.length === 0) return undefined;
    return {
      lines: scans.map((scan) => renderRow(scan, reported.has(scan))),
      table: [],
      note: 'By the CDN’s own days; today is not over and not counted.',
      chart: renderDayChart(scans),
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
  const { now } = input;
  const past = findEarlier(input, (scans) => scans.find((found) => found.id === id));
  const days = countDaysSince(past.base, now);
  const byDay = new Map(metrics.days.flatMap((day) => (day.day === undefined ? [] : [[day.day, day]])));
  // Today is not over.
  const whole = [...byDay.keys()].filter((day) => day < toUtcDay(now)).toSorted();
  const last = whole.at(-1);
  const countBlockedOn = (day: string): number | undefined => byDay.get(day)?.blockedRequests;
  const trend = whole.slice(-daysCharted).map((day) => [day, countBlockedOn(day) ?? null] as const);
  if (last === undefined) return { id, since: past.since, days, trend };
  /** Of as many days, the last of them so many before the last one. */
  const sum = (member: 'filesScanned' | 'blockedRequests', daysBack = 0): number | undefined =>
    sumReported(
      Array.from({ length: days }, (_, index) => byDay.get(shiftDay(last, -daysBack - index))?.[member]),
    );
  const compare = (read: (daysBack: number) => number | undefined): Comparison | undefined => {
    const value = read(0);
    return value === undefined ? undefined : { now: value, before: read(days), weekBefore: read(7) };
  };
  const perDay = compare((daysBack) => {
    const found = sum('blockedRequests', daysBack);
    return found === undefined ? undefined : Math.round((found / days) * 10) / 10;
  });
  const earlier = whole.slice(0, -days).toReversed();
  const series = earlier.flatMap((day) => countBlockedOn(day) ?? []);
  const outlier = { series, weekBefore: perDay?.weekBefore, floor: noise.blocked };
  return {
    id,
    since: past.since,
    days,
    trend,
    last,
    scanned: sum('filesScanned'),
    blocked: sum('blockedRequests'),
    perDay: perDay && { ...perDay, usual: findOutlier(perDay.now, outlier) },
    share: compare((daysBack) => shareOf(sum('blockedRequests', daysBack), sum('filesScanned', daysBack))),
  };
}

function shareOf(blocked: number | undefined, scanned: number | undefined): number | undefined {
  if (blocked === undefined || scanned === undefined || scanned <= 0 || blocked > scanned) return undefined;
  return Math.round((blocked / scanned) * 10_000) / 10_000;
}

/** The days before, to compare the CDN's own days with. */
function daysBefore(days: number): string {
  return days > 1 ? `the ${days} days before` : 'the day before';
}

function describeDays(last: string, days: number): string {
  return days > 1 ? `${days} days to ${formatShortDay(last)}` : formatShortDay(last);
}

function renderRow({ id, scanned, blocked, last, days, perDay }: ScanFigures, isReported: boolean): string {
  const when = last === undefined ? 'no day reported' : describeDays(last, days);
  const [uploads, files] = [blocked, scanned].map((one) =>
    one === undefined ? 'not reported' : formatInteger(one),
  );
  const numbers =
    blocked === undefined && scanned === undefined
      ? 'Nothing reported'
      : `*${uploads}* blocked of ${files} files scanned`;
  const compared = isReported ? '' : inBrackets(perDay, formatNumber, daysBefore(days));
  return `${numbers}, ${when} · shield zone ${escapeMrkdwn(id, 20)}${compared}`;
}

function renderDayChart(scans: readonly ScanFigures[]): MessageBlock[] {
  const days = [...new Set(scans.flatMap(({ trend }) => trend.map(([day]) => day)))].toSorted();
  const all = scans.flatMap(({ trend }) => trend.map(([, blocked]) => blocked ?? 0));
  if (all.every((blocked) => blocked === 0)) return [];
  return renderChart({
    kind: 'bar',
    title: `Blocked uploads: ${formatInteger(Math.max(...all))} on the worst day`,
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
