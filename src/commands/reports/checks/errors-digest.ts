import { dayMs, hourMs } from '../../../lib/time.ts';
import type { MessageBlock } from '../../../views/blocks/blocks.ts';
import { renderChart, sumBuckets } from '../../../views/blocks/chart.ts';
import { formatInteger, formatNumber, pluralize } from '../../../views/blocks/format.ts';
import { renderTable } from '../../../views/blocks/table.ts';
import { formatCode, truncateLines } from '../../../views/blocks/text.ts';
import {
  describeComparison,
  describeName,
  describeRate,
  isIncrease,
  listNames,
} from '../../../views/reports/digests/comparisons.ts';
import type { Detail, Finding } from '../../../views/reports/digests/post.ts';
import { formatRunTime } from '../../../views/reports/digests/schedule.ts';
import { type CollectInput, type CollectResult, type DigestKind, OutOfTime } from './digest-kind.ts';
import { addCounts, type CodeMemory, codeMemory, findNewCodes, type ReadZone, readErrors } from './errors.ts';
import {
  type Comparison,
  compareWithPast,
  type Earlier,
  findEarlier,
  flattenName,
  hasMoved,
  maxNamed,
  type Named,
  type NamedGroup,
  noise,
  toNamed,
} from './figures.ts';

const mostDays = 7;
const mostCodes = 12;
const mostPrefixes = 5;
const mostNewCodes = 10;

/** What a run found in the logs of some zones. */
interface ErrorFigures {
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
  /** Codes that a zone did not have for 28 days. */
  readonly fresh: readonly NewCode[];
  readonly prefixes: readonly (readonly [prefix: string, count: number])[];
  /** By hour, the last one the current hour. */
  readonly hours: readonly number[];
  /** When the first hour began, in epoch ms. */
  readonly firstHour: number;
  /** Entries without a time that can be read, which are in no hour. */
  readonly undated?: number | undefined;
}

interface ZoneErrors extends Named {
  readonly total: number;
  readonly perDay: Comparison;
  /** Its most frequent code. */
  readonly mostly?: string | undefined;
  /** The CDN holds more than it gave. */
  readonly partial?: boolean;
}

interface NewCode {
  readonly code: string;
  readonly count: number;
  readonly zones: NamedGroup;
}

/** Origin errors since the previous run, of the chosen zones or of those that matter most. */
export const errorsDigest: DigestKind<'errors', ErrorFigures, CodeMemory> = {
  name: 'errors',
  label: 'Origin errors',
  words: /error/iu,
  target: 'zones',
  troubles: 'origin errors',
  collect: collectErrors,
  describe(figures, timeZone) {
    const { total, perDay, read, asked, of, zones, from, since, undated = 0 } = figures;
    const failing = zones.filter((zone) => zone.total > 0).length;
    const isPartial = total > 0 && (read < asked || zones.some(({ partial }) => partial));
    const counted = total === 0 ? 'No origin errors' : pluralize(total, 'origin error');
    // Without a time they may be of these days or not: never "none".
    const what =
      total === 0 && undated > 0 ? `${pluralize(undated, 'origin error')} at an unknown time` : counted;
    const when = since === undefined ? 'in 24 hours' : `since ${formatRunTime(new Date(from), timeZone)}`;
    return {
      troubles: total + undated,
      since: [since],
      findings: listFindings(figures),
      number: [
        `*${isPartial ? 'At least ' : ''}${what}* ${when}`,
        total > 0 && of !== 1 ? `, in ${formatInteger(failing)} of ${pluralize(read, 'zone')}` : '',
        total > 0 && undated > 0 ? ` (and ${formatInteger(undated)} at an unknown time)` : '',
        read < asked ? ` (${formatInteger(read)} of ${pluralize(asked, 'log')} read)` : '',
        asked < of ? ` · ${formatInteger(of - asked)} of ${pluralize(of, 'zone')} not checked` : '',
      ].join(''),
      compared: describeRate(perDay, formatNumber, 'a day'),
      detail: () => renderDetail(figures, timeZone),
    };
  },
  // Codes that are new to a silent run are still to be reported.
  keepUnreported: (before, found) => ({
    zones: { ...found.zones, ...codeMemory.safeParse(before).data?.zones },
  }),
};

async function collectErrors(
  input: CollectInput<ErrorFigures, CodeMemory>,
): Promise<CollectResult<ErrorFigures, CodeMemory>> {
  const { now, patienceMs, account, targets, baseline } = input;
  const scope = targets.zones.toSorted().join(' ');
  const past = findEarlier(input, (errors) => (errors.scope === scope ? errors : undefined));
  const from = past.base ? Math.max(past.base.at, now.getTime() - mostDays * dayMs) : now.getTime() - dayMs;
  const begun = performance.now();
  const assertTime = (): void => {
    if (performance.now() - begun >= patienceMs) throw new OutOfTime();
  };
  const facts = await readErrors(account, { targets: targets.zones, since: from, assertTime });
  const failures = facts.failures.map(({ item, reason }) => ({ what: item.name, reason }));
  if (facts.read.length === 0 && failures.length > 0) return { figures: undefined, failures };
  const { found, memory } = findNewCodes(facts.read, codeMemory.safeParse(baseline).data);
  const { asked, of } = facts;
  const fresh = nameNewCodes(found);
  const counted = summarize(facts.read, { from, now, past });
  return { figures: { scope, since: past.since, asked, of, fresh, ...counted }, baseline: memory, failures };
}

function nameNewCodes(found: ReturnType<typeof findNewCodes>['found']): NewCode[] {
  const all = found.flatMap(({ zone, codes }) =>
    codes.map((code) => ({
      zone: toNamed(zone),
      code: flattenName(code),
      count: zone.counts.sum(zone.counts.since).codes.get(code) ?? 0,
    })),
  );
  return [...Map.groupBy(all, ({ code }) => code)]
    .map(([code, ofCode]) => ({
      code,
      count: ofCode.reduce((sum, { count }) => sum + count, 0),
      zones: { count: ofCode.length, first: ofCode.slice(0, maxNamed).map(({ zone }) => zone) },
    }))
    .toSorted((a, b) => b.count - a.count)
    .slice(0, mostNewCodes);
}

/** By whole five minutes, so that what came after the last run is in this one. */
function summarize(
  read: readonly ReadZone[],
  { from, now, past }: { readonly from: number; readonly now: Date; readonly past: Earlier<ErrorFigures> },
) {
  const compare = (count: number, find: (found: ErrorFigures) => Comparison | undefined): Comparison => {
    const perDay = Math.round((count / ((now.getTime() - from) / dayMs)) * 10) / 10;
    return compareWithPast(perDay, past, find, noise.errors);
  };
  const codes = new Map<string, number>();
  const prefixes = new Map<string, number>();
  const firstHour = Math.floor(from / hourMs) * hourMs;
  const hours = Array.from({ length: Math.ceil((now.getTime() - firstHour) / hourMs) }, () => 0);
  let undated = 0;
  const zones = read.map(({ id, name, counts }) => {
    const sum = counts.sum(from, now.getTime());
    addCounts(codes, sum.codes);
    if (sum.total > 0) addCounts(prefixes, counts.prefixes(from));
    counts.forEach(from, now.getTime(), (at, count) => {
      const hour = Math.floor((at - firstHour) / hourMs);
      hours[hour] = (hours[hour] ?? 0) + count;
    });
    undated += sum.undated;
    const perDay = compare(sum.total, (found) => found.zones.find((zone) => zone.id === id)?.perDay);
    const [most] = rank(sum.codes, 1);
    const zone = toNamed({ id, name: name === `zone ${id}` ? '' : name });
    return {
      ...zone,
      total: sum.total,
      perDay,
      ...(most && { mostly: most[0] }),
      ...(sum.partial && { partial: true }),
    };
  });
  const total = zones.reduce((sum, zone) => sum + zone.total, 0);
  return {
    from: new Date(from).toISOString(),
    total,
    perDay: compare(total, (found) => found.perDay),
    read: read.length,
    zones: zones.toSorted((a, b) => b.total - a.total),
    codes: rank(codes, mostCodes),
    prefixes: rank(prefixes, mostPrefixes),
    hours,
    firstHour,
    ...(undated > 0 ? { undated } : {}),
  };
}

function rank(counts: ReadonlyMap<string, number>, most: number): (readonly [string, number])[] {
  const ranked = [...counts].toSorted((a, b) => b[1] - a[1]).slice(0, most);
  return ranked.map(([name, count]) => [flattenName(name), count]);
}

function listFindings({ fresh, zones, perDay: total }: ErrorFigures): Finding[] {
  const newCodes = fresh.map(({ code, count, zones }): Finding => {
    const what = `:new: ${formatCode(code, 60)} ${pluralize(count, 'time')} in`;
    return { weight: 2, line: (most) => `${what} ${listNames(zones, most)}` };
  });
  const moved = zones.flatMap((zone): Finding[] => {
    const { perDay } = zone;
    if (!hasMoved(perDay, noise.errors)) return [];
    const name = `*${describeName(zone)}*`;
    const text =
      perDay.now === 0
        ? `:white_check_mark: ${name}: no errors any more`
        : `${isIncrease(perDay) ? ':boom:' : ':arrow_down:'} ${name}: ${describeComparison(perDay, formatNumber, ' errors a day')}`;
    return [{ weight: 3, isWholeTotal: perDay.now === total.now, line: () => text }];
  });
  return [...newCodes, ...moved, ...(hasMoved(total, noise.errors) ? [{ weight: 7 }] : [])];
}

function renderDetail(errors: ErrorFigures, timeZone: string): Detail {
  const { zones, asked, of, codes, prefixes, undated = 0 } = errors;
  const partial = zones.filter((zone) => zone.partial).map((zone) => describeName(zone));
  const logs = `Checked: ${formatInteger(asked)} of ${pluralize(of, 'zone')}, those with errors lately first. `;
  return {
    lines: [
      codes.length > 0 && `By error: ${listCounts(codes, 'no code')}`,
      prefixes.length > 0 && `By path: ${listCounts(prefixes, 'none')}`,
      undated > 0 && `${pluralize(undated, 'error')} without a time that can be read`,
      partial.length > 0 && `The CDN holds more than it gave: ${truncateLines(partial, 1000, ', ')}`,
    ],
    table: renderTable({
      caption: 'Zones with most errors',
      columns: ['Zone', 'Errors', 'Mostly'],
      rows: zones
        .filter(({ total }) => total > 0)
        .map(({ id, name, total, mostly }) => [
          name || `zone ${id}`,
          { number: total, text: formatInteger(total) },
          mostly || 'no code',
        ]),
    }),
    note: `${asked < of ? logs : ''}\`/cdn errors &lt;zone&gt;\` shows samples.`,
    chart: renderHourChart(errors, timeZone),
  };
}

/** `dns_lookup 61, http_timeout 20` */
function listCounts(counts: readonly (readonly [name: string, count: number])[], unnamed: string): string {
  const words = counts.map(
    ([name, count]) => `${name ? formatCode(name, 60) : unnamed} ${formatInteger(count)}`,
  );
  return truncateLines(words, 1000, ', ');
}

/** Hours of a bar, so that about twelve stand beside each other: a run reports at most seven days. */
const bucketHours = [1, 2, 6, 12] as const;
const mostBars = 13;

function renderHourChart({ hours, firstHour, total }: ErrorFigures, timeZone: string): MessageBlock[] {
  if (hours.every((count) => count === 0)) return [];
  const size = bucketHours.find((size) => hours.length / size <= mostBars) ?? 12;
  const sums = sumBuckets(hours, size);
  const starts = sums.map((_, nth) =>
    formatRunTime(new Date(firstHour + nth * size * hourMs), timeZone).split(' '),
  );
  const labels = starts.map(([weekday, , , time], nth) => {
    // The day where it begins.
    const day = weekday === starts[nth - 1]?.[0] ? '' : `${weekday} `;
    return `${day}${time}${nth === sums.length - 1 ? '–now' : ''}`;
  });
  return renderChart({
    kind: 'bar',
    title: pluralize(total, 'origin error'),
    unit: `Errors ${size === 1 ? 'an hour' : `each ${size} hours`}, ${timeZone}`,
    labels,
    series: [{ name: 'Errors', values: sums }],
  });
}
