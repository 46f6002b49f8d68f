import { countDay, createSeenIds } from '../../api/origin-errors/count-day.ts';
import { createOriginErrorCounter, type OriginErrorCounter } from '../../api/origin-errors/counts.ts';
import type { OriginError } from '../../api/origin-errors/origin-errors.ts';
import { dayMs, hourMs, shiftDay, startOfDay, toUtcDay } from '../../lib/time.ts';
import type { Attachment } from '../../views/blocks/message.ts';
import { formatCode, formatInteger, pluralize, truncate, truncateLines } from '../../views/blocks/text.ts';
import {
  describeChange,
  describeName,
  describeRate,
  formatNumber,
  inBrackets,
  isIncrease,
  listNames,
} from '../../views/digests/comparisons.ts';
import { attachChart, mostListed, renderDetail } from '../../views/digests/detail.ts';
import { formatRunTime } from '../../views/digests/schedule.ts';
import { flattenName, type Named, toNamed } from '../figures/compact-ids.ts';
import {
  type Comparison,
  compareWithPast,
  type Earlier,
  findEarlier,
  hasMoved,
  noise,
} from '../figures/series.ts';
import {
  type CodeBaseline,
  dropUnreportedCodes,
  findNewCodes,
  type NewCode,
  updateCodeBaseline,
} from './error-codes.ts';
import { type CollectInput, type DigestKind, type Finding, OutOfTime, readEach } from './kind.ts';
import { findBusiest } from './zones/traffic.ts';

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

/** Origin errors since the previous run, of the chosen zones or of the busiest. */
export const originErrors: DigestKind<'errors', ErrorFigures, CodeBaseline> = {
  name: 'errors',
  label: 'Origin errors',
  words: /error/iu,
  target: 'zones',
  troubles: 'origin errors',

  async collect(input) {
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
  },

  countTroubles: ({ total }) => total,
  listSince: ({ since }) => [since],
  keepUnreported: dropUnreportedCodes,
  shrink: (errors) => ({
    ...errors,
    fresh: errors.fresh.map(({ zones: { count, first }, ...one }) => ({
      ...one,
      zones: { count, first: first.slice(0, 3) },
    })),
  }),

  listFindings({ fresh, zones, perDay: total }) {
    return [
      ...fresh.map(
        ({ code, count, zones }): Finding => ({
          weight: 2,
          line: (most) =>
            `:new: ${formatCode(code, 60)} ${pluralize(count, 'time')} in ${listNames(zones, most)}`,
        }),
      ),
      ...zones.flatMap((zone): Finding[] => {
        const { perDay } = zone;
        if (!hasMoved(perDay, noise.errors)) return [];
        const text =
          perDay.now === 0
            ? `:white_check_mark: *${describeName(zone)}*: no errors any more`
            : `${isIncrease(perDay) ? ':boom:' : ':arrow_down:'} *${describeName(zone)}*: ${formatNumber(perDay.now)} errors a day, ${describeChange(perDay, formatNumber)}`;
        return [{ weight: 3, about: zone, isWholeTotal: perDay.now === total.now, line: () => text }];
      }),
      ...(hasMoved(total, noise.errors) ? [{ weight: 7 }] : []),
    ];
  },

  renderLine({ total, perDay, read, asked, of, zones, from, since }, timeZone) {
    const failing = zones.filter((zone) => zone.total > 0).length;
    const isPartial = total > 0 && (read < asked || zones.some(({ partial }) => partial));
    const when = since === undefined ? 'in 24 hours' : `since ${formatRunTime(new Date(from), timeZone)}`;
    return {
      number: [
        `*${isPartial ? 'At least ' : ''}${total === 0 ? 'No origin errors' : pluralize(total, 'origin error')}* ${when}`,
        total > 0 && of !== 1 ? `, in ${formatInteger(failing)} of ${pluralize(read, 'zone')}` : '',
        read < asked ? ` (${formatInteger(read)} of ${pluralize(asked, 'log')} read)` : '',
        asked < of ? ` (the busiest of ${formatInteger(of)})` : '',
      ].join(''),
      compared: describeRate(perDay, formatNumber, 'a day'),
    };
  },

  renderThread(errors, changed, timeZone) {
    const reported = new Set(changed.map(({ about }) => about));
    const failing = errors.zones.filter(({ total }) => total > 0);
    const more = failing.length - mostListed;
    const partial = errors.zones.filter((zone) => zone.partial);
    const busiest =
      errors.asked < errors.of
        ? `The logs of the ${formatInteger(errors.asked)} busiest of ${pluralize(errors.of, 'zone')}. `
        : '';
    return renderDetail({
      title: 'Origin errors',
      changed,
      parts: {
        'By zone': [
          ...failing.slice(0, mostListed).map((zone) => {
            const compared = reported.has(zone) ? '' : inBrackets(zone.perDay, formatNumber);
            return formatCount(zone.total, `${describeName(zone)}${compared}`);
          }),
          ...(more > 0 ? [`and ${pluralize(more, 'more zone')}`] : []),
        ],
        'By error': errors.codes.map(([code, times]) =>
          formatCount(times, code ? formatCode(code, 60) : 'no code'),
        ),
        'By address': errors.prefixes.map(([prefix, times]) => formatCount(times, formatCode(prefix, 60))),
        'The CDN holds more than it gave':
          partial.length > 0
            ? [
                truncateLines(
                  partial.map((zone) => describeName(zone)),
                  1000,
                  ', ',
                ),
              ]
            : [],
      },
      note: `${busiest}\`/cdn errors &lt;zone&gt;\` shows samples.`,
      charts: [renderChart(errors, timeZone)],
    });
  },
};

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

function formatCount(times: number, what: string): string {
  return `*${formatInteger(times)}* · ${what}`;
}

function renderChart({ hours, firstHour, total }: ErrorFigures, timeZone: string): Attachment | undefined {
  const highest = Math.max(0, ...hours);
  if (highest === 0) return undefined;
  const at = (hour: number): string => formatRunTime(new Date(firstHour + hour * hourMs), timeZone);
  const title = pluralize(total, 'origin error');
  const range = `${at(0)} to ${at(hours.length - 1)}`;
  return attachChart(
    'origin-errors.png',
    {
      title,
      subtitle: truncate(`${range}, ${timeZone}`, 50),
      labels: hours.map((_, hour) => at(hour).slice(-5)),
      panels: [{ kind: 'bars', name: 'Errors in each hour', series: [{ name: 'errors', values: hours }] }],
    },
    `Bar chart of ${title} by hour, ${range}: most at ${at(hours.indexOf(highest))} (${formatInteger(highest)}).`,
  );
}
