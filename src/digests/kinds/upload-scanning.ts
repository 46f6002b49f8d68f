import type { ScanDay, UploadScanningMetrics } from '../../api/upload-scanning.ts';
import { shiftDay, toUtcDay } from '../../lib/time.ts';
import { formatShortDay } from '../../views/blocks/dates.ts';
import type { Attachment } from '../../views/blocks/message.ts';
import { escapeMrkdwn, formatInteger, formatPercent, pluralize, truncate } from '../../views/blocks/text.ts';
import {
  describeChange,
  describeRate,
  formatNumber,
  inBrackets,
  sumReported,
} from '../../views/digests/comparisons.ts';
import { attachChart, fewestPoints, renderDetail } from '../../views/digests/detail.ts';
import {
  type Comparison,
  countDaysSince,
  findEarlier,
  findOutlier,
  hasMoved,
  noise,
} from '../figures/series.ts';
import { type CollectInput, type DigestKind, type Finding, readEach } from './kind.ts';

/** Upload scanning of one shield zone: the CDN's own days, the last whole ones since the previous run. */
export interface ScanFigures {
  readonly id: string;
  readonly since?: string | undefined;
  /** `2026-11-20`: the last whole day; absent where the CDN reports none. */
  readonly last?: string | undefined;
  readonly days: number;
  readonly scanned?: number | undefined;
  readonly logged?: number | undefined;
  readonly blocked?: number | undefined;
  readonly perDay?: Comparison | undefined;
  /** Of the files scanned, where that is meaningful, from 0 to 1. */
  readonly share?: Comparison | undefined;
  readonly trend: readonly (readonly [day: string, scanned: number | null, blocked: number | null])[];
}

type Figures = readonly ScanFigures[];

/** A chart each; the days of further ones are not stored. */
const mostCharts = 3;

export const uploadScanning: DigestKind<'scanning', Figures> = {
  name: 'scanning',
  label: 'Upload scanning',
  words: /scan/iu,
  target: 'shieldZones',
  missingTarget: 'Upload scanning needs the id of a shield zone: type it, then pick “Shield zone …”.',
  troubles: 'blocked uploads',

  async collect(input) {
    const ids = input.targets.shieldZones;
    const { signal } = input;
    const { results, failures } = await readEach(ids, { signal, nameOf: (id) => id }, async (id) =>
      compareDays(id, await input.cdn.uploadScanning.metrics(id), input),
    );
    if (results.length === 0 && ids.length > 0) return { figures: undefined, failures };
    const drawn = results.map((scan, index) => (index < mostCharts ? scan : { ...scan, trend: [] }));
    return { figures: drawn, failures };
  },

  countTroubles: (scans) => sumReported(scans.map(({ blocked }) => blocked)) ?? 0,
  listSince: (scans) => scans.map(({ since }) => since),

  listFindings: (scans) =>
    scans.flatMap((scan): Finding[] => {
      const { id, perDay, share, blocked = 0, days } = scan;
      // A share of few files jumps: it counts only together with a number.
      const isShareMoved = share && hasMoved(share, noise.share) && blocked > noise.blocked;
      if (!(perDay && hasMoved(perDay, noise.blocked)) && !isShareMoved) return [];
      const rate = perDay
        ? `${formatNumber(perDay.now)} blocked a day, ${describeChange(perDay, formatNumber, daysBefore(days))}`
        : 'blocked uploads';
      const text = `:no_entry: Shield zone ${escapeMrkdwn(id, 20)}: ${rate}`;
      return [{ weight: 4, line: () => text, isWholeTotal: scans.length === 1, about: scan }];
    }),

  renderLine(scans) {
    const blocked = sumReported(scans.map((one) => one.blocked));
    const scanned = sumReported(scans.map((one) => one.scanned));
    if (blocked === undefined && scanned === undefined)
      return { number: '*Upload scanning:* nothing reported', compared: '' };
    const [last] = scans.flatMap(({ last }) => last ?? []).toSorted((a, b) => (a < b ? 1 : -1));
    const days = Math.max(0, ...scans.map(({ days }) => days));
    const when = last === undefined ? '' : ` ${days > 1 ? 'in' : 'on'} ${describeDays(last, days)}`;
    const share =
      blocked !== undefined && scanned !== undefined && scanned > 0 && blocked <= scanned
        ? ` (${formatPercent(blocked, scanned)})`
        : '';
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

  renderThread(scans, findings) {
    if (scans.length === 0) return undefined;
    // The CDN's own days have something unusual in a first run too: then it stands beside the number.
    const changed = findings.filter(({ about }) => (about as ScanFigures).since !== undefined);
    const reported = new Set(changed.map(({ about }) => about));
    return renderDetail({
      title: 'Upload scanning',
      changed,
      parts: { 'By shield zone': scans.map((scan) => renderRow(scan, reported.has(scan))) },
      note: 'By the CDN’s own days; today is not over and not counted.',
      charts: scans.slice(0, mostCharts).map(renderChart),
    });
  },
};

type Member = 'filesScanned' | 'loggedRequests' | 'blockedRequests';

/**
 * One shield zone on the whole days since the previous run. The CDN keeps 28 days, so that even a first run compares:
 * `before` are as many days before these, `weekBefore` the same days a week before.
 */
function compareDays(
  id: string,
  metrics: UploadScanningMetrics,
  input: CollectInput<Figures, never>,
): ScanFigures {
  const { now } = input;
  const past = findEarlier(input, (scans) => scans.find((found) => found.id === id));
  const days = countDaysSince(past.base, now);
  const byDay = new Map(metrics.days.flatMap((day) => (day.day === undefined ? [] : [[day.day, day]])));
  // Today is not over.
  const whole = [...byDay.keys()].filter((day) => day < toUtcDay(now)).toSorted();
  const last = whole.at(-1);
  const trend = whole.slice(-28).map((day) => {
    const found = byDay.get(day);
    return [day, found?.filesScanned ?? null, found?.blockedRequests ?? null] as const;
  });
  const base = { id, since: past.since, days, trend };
  if (last === undefined) return base;
  const total = (member: Member, daysBack = 0): number | undefined =>
    sumDays(
      Array.from({ length: days }, (_, index) => byDay.get(shiftDay(last, -daysBack - index))),
      member,
    );
  const rate = (daysBack: number): number | undefined => {
    const found = total('blockedRequests', daysBack);
    return found === undefined ? undefined : Math.round((found / days) * 10) / 10;
  };
  const share = (daysBack: number): number | undefined =>
    shareOf(total('blockedRequests', daysBack), total('filesScanned', daysBack));
  const series = whole
    .slice(0, -days)
    .toReversed()
    .flatMap((day) => byDay.get(day)?.blockedRequests ?? []);
  return {
    ...base,
    last,
    scanned: total('filesScanned'),
    logged: total('loggedRequests'),
    blocked: total('blockedRequests'),
    perDay: compare(rate, days, series),
    share: compare(share, days, []),
  };
}

function compare(
  read: (daysBack: number) => number | undefined,
  days: number,
  series: readonly number[],
): Comparison | undefined {
  const [now, before, weekBefore] = [read(0), read(days), read(7)];
  if (now === undefined) return undefined;
  return { now, before, weekBefore, usual: findOutlier(now, { series, weekBefore, floor: noise.blocked }) };
}

/** Undefined where no day reports it: that is no zero. */
function sumDays(days: readonly (ScanDay | undefined)[], member: Member): number | undefined {
  const known = days.flatMap((day) => day?.[member] ?? []);
  return known.length === 0 ? undefined : sumReported(known);
}

function shareOf(blocked: number | undefined, scanned: number | undefined): number | undefined {
  if (blocked === undefined || scanned === undefined || scanned <= 0 || blocked > scanned) return undefined;
  return Math.round((blocked / scanned) * 10_000) / 10_000;
}

/** What the CDN's own days are compared with. */
function daysBefore(days: number): string {
  return days > 1 ? `the ${days} days before` : 'the day before';
}

function describeDays(last: string, days: number): string {
  return days > 1 ? `${days} days to ${formatShortDay(last)}` : formatShortDay(last);
}

function renderRow({ id, scanned, blocked, last, days, perDay }: ScanFigures, isReported: boolean): string {
  const when = last === undefined ? 'no day reported' : describeDays(last, days);
  const numbers =
    blocked === undefined && scanned === undefined
      ? 'Nothing reported'
      : `*${formatReported(blocked)}* blocked of ${formatReported(scanned)} files scanned`;
  const compared = isReported ? '' : inBrackets(perDay, formatNumber, daysBefore(days));
  return `${numbers}, ${when} · shield zone ${escapeMrkdwn(id, 20)}${compared}`;
}

function formatReported(number: number | undefined): string {
  return number === undefined ? 'not reported' : formatInteger(number);
}

function renderChart({ id, trend }: ScanFigures): Attachment | undefined {
  const [first, last] = [trend.at(0), trend.at(-1)];
  const blocked = trend.map(([, , value]) => value);
  if (!first || !last || trend.length < fewestPoints || !blocked.some((value) => (value ?? 0) > 0))
    return undefined;
  const range = `${formatShortDay(first[0])} to ${formatShortDay(last[0])}`;
  const highest = trend.reduce((best, one) => ((one[2] ?? 0) > (best[2] ?? 0) ? one : best), first);
  return attachChart(
    `upload-scanning-${id.replaceAll(/\D/gu, '').slice(0, 20)}.png`,
    {
      title: `Blocked uploads, shield zone ${truncate(id, 20)}`,
      subtitle: range,
      labels: trend.map(([day]) => formatShortDay(day)),
      panels: [
        bars('Blocked', blocked),
        bars(
          'Files scanned',
          trend.map(([, scanned]) => scanned),
        ),
      ],
    },
    `Bar charts of blocked uploads and files scanned by day, ${range}: most blocked on ${formatShortDay(highest[0])} (${formatInteger(highest[2] ?? 0)}).`,
  );
}

function bars(name: string, values: readonly (number | null)[]) {
  return { kind: 'bars', name, series: [{ name, values }] } as const;
}
