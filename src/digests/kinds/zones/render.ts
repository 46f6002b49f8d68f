import type { Attention } from '../../../api/zones/summary.ts';
import {
  formatBytes,
  formatInteger,
  formatMoney,
  formatShortDay,
  pluralize,
} from '../../../views/blocks/format.ts';
import { capitalize, escapeMrkdwn } from '../../../views/blocks/text.ts';
import {
  describeComparison,
  describeRate,
  formatDifference,
  inBrackets,
  isAllZero,
  isIncrease,
  renderTrend,
} from '../../../views/digests/comparisons.ts';
import { describeName, listNames, mostListed, withMore } from '../../../views/digests/names.ts';
import { type Comparison, hasMoved, noise, type Point } from '../../figures.ts';
import type { NamedGroup } from '../../names.ts';
import type { Detail, Finding, NumberLine } from '../kind.ts';
import type { LimitFigures, ZoneUse } from './bandwidth.ts';
import type { ByAttention, ZoneNews } from './baseline.ts';

export interface ZoneFigures {
  /** The chosen zones; empty for all. Figures of another scope are not compared with. */
  readonly scope: string;
  /** When the digest last reported them, as ISO text; absent in the first run. */
  readonly since?: string | undefined;
  readonly zones: number;
  readonly skipped: number;
  /** Bytes this month; absent where no zone reports any. */
  readonly used?: number | undefined;
  /** Dollars this month, likewise. */
  readonly charges?: number | undefined;
  /** Those of the previous run, where they are of this month. */
  readonly chargesBefore?: number | undefined;
  readonly attention: number;
  /** Bytes a day since the last run that is at least six hours old. */
  readonly perDay?: Comparison | undefined;
  /** Dollars a day likewise. */
  readonly chargesPerDay?: Comparison | undefined;
  /** Those that used most, the most first. */
  readonly busiest: readonly ZoneUse[];
  /** Zones that reached their monthly limit, or will, the soonest first. */
  readonly limits: readonly LimitFigures[];
  readonly moreLimits: number;
  readonly states: ByAttention;
  /** Chosen, and not in the account. */
  readonly missing: readonly string[];
  /** Against what the digest last reported; absent in the first run. */
  readonly news?: ZoneNews | undefined;
  /** Bytes a day, run by run. */
  readonly trend: readonly Point[];
}

const limit = '80 % of the limit';
/** Names of the states, the most urgent first. */
const stateWords = (
  [
    ['suspended', 0, ':no_entry:', 'suspended', 'newly suspended', 'no longer suspended'],
    ['disabled', 0, ':rotating_light:', 'disabled', 'newly disabled', 'enabled again'],
    [
      'no-certificate',
      2,
      ':unlock:',
      'without certificate',
      'newly without certificate',
      'with certificate again',
    ],
    ['near-limit', 3, ':warning:', `above ${limit}`, `now above ${limit}`, `below ${limit} again`],
  ] as const satisfies [Attention, number, ...string[]][]
).map(([state, weight, sign, is, became, recovered]) => ({ state, weight, sign, is, became, recovered }));

export function listZoneFindings(figures: ZoneFigures): Finding[] {
  const { since, news, limits, busiest, perDay: total, chargesPerDay } = figures;
  const newLimits = limits
    .filter(({ isNew }) => isNew)
    .map(
      (limit): Finding => ({
        weight: limit.reaches === undefined ? 0 : 3,
        about: limit,
        isFirst: since === undefined,
        line: () => renderLimit(limit),
      }),
    );
  const moved = busiest.flatMap((zone): Finding[] => {
    const { perDay } = zone;
    if (!perDay || !hasMoved(perDay, noise.bytes)) return [];
    const sign = isIncrease(perDay) ? ':chart_with_upwards_trend:' : ':chart_with_downwards_trend:';
    const text = `${sign} *${describeName(zone)}*: ${describeComparison(perDay, formatBytes, ' a day')}`;
    return [{ weight: 5, about: zone, isWholeTotal: perDay.now === total?.now, line: () => text }];
  });
  return [
    ...newLimits,
    ...(news ? listNews(news) : []),
    ...moved,
    ...(hasMoved(total, noise.bytes) ? [{ weight: 7 }] : []),
    ...(hasMoved(chargesPerDay, noise.dollars) ? [{ weight: 7 }] : []),
  ];
}

function listNews(news: ZoneNews): Finding[] {
  return [
    ...stateWords.flatMap(({ state, weight, sign, became }) =>
      listGroup(weight, news.became[state], sign, became),
    ),
    ...stateWords.flatMap(({ state, recovered }) =>
      listGroup(6, news.recovered[state], ':white_check_mark:', recovered),
    ),
    ...listGroup(4, news.left, ':heavy_minus_sign:', 'gone'),
    ...listGroup(6, news.joined, ':heavy_plus_sign:', 'new'),
  ];
}

/** `Newly disabled: shop`; of several the number first: `*3* newly disabled: shop, docs and media`. */
function listGroup(weight: number, zones: NamedGroup, sign: string, what: string): Finding[] {
  if (zones.count === 0) return [];
  const words = zones.count > 1 ? `*${formatInteger(zones.count)}* ${what}` : capitalize(what);
  return [{ weight, about: zones, line: (most) => `${sign} ${words}: ${listNames(zones, most)}` }];
}

/** `At this rate shop reaches its limit of 500 GB on 27 Nov`. */
function renderLimit(limit: LimitFigures): string {
  const name = `*${describeName(limit)}*`;
  return limit.reaches === undefined
    ? `:rotating_light: ${name} reached its limit: ${formatBytes(limit.used)} of ${formatBytes(limit.limit)}`
    : `:hourglass: At this rate ${name} reaches its limit of ${formatBytes(limit.limit)} on ${formatShortDay(limit.reaches.slice(0, 10))}`;
}

export function renderZoneLine(figures: ZoneFigures): NumberLine {
  const { zones, used, charges, chargesBefore, attention, perDay, chargesPerDay, skipped } = figures;
  if (zones === 0 && skipped === 0) return { number: '*No zones*', compared: '' };
  const onlyChargesMoved = hasMoved(chargesPerDay, noise.dollars) && !hasMoved(perDay, noise.bytes);
  return {
    number: [
      `*${pluralize(zones, 'zone')}*`,
      used === undefined ? 'bandwidth not reported' : `${formatBytes(used)} this month`,
      charges === undefined
        ? 'charges not reported'
        : `${formatMoney(charges)} so far${formatDifference(charges, chargesBefore, formatMoney)}`,
      ...(attention > 0
        ? [`:warning: ${formatInteger(attention)} ${attention === 1 ? 'needs' : 'need'} attention`]
        : []),
      ...(skipped > 0 ? [`:warning: ${pluralize(skipped, 'zone')} could not be read`] : []),
    ].join(' · '),
    compared: onlyChargesMoved
      ? describeRate(chargesPerDay, formatMoney, 'a day')
      : describeRate(perDay, formatBytes, 'a day'),
  };
}

export function renderZoneDetail(
  figures: ZoneFigures,
  reported: ReadonlySet<unknown>,
  timeZone: string,
): Detail {
  const { limits, moreLimits, busiest, missing, perDay, chargesPerDay, trend } = figures;
  const isTotalReported = busiest.some((zone) => reported.has(zone) && zone.perDay?.now === perDay?.now);
  const limitLines = limits.filter((limit) => !reported.has(limit)).map(renderLimit);
  const notInAccount = missing.slice(0, 30).map((id) => escapeMrkdwn(id, 20));
  const forecast = ' A limit’s day: if the rest of the month goes like the month so far.';
  const title = `Bandwidth: ${formatBytes(perDay?.now ?? 0)} a day`;
  const points = trend.map(([at, bytes]): Point => [at, Math.round(bytes / 1e7) / 100]);
  return {
    title: 'Zones',
    parts: {
      Limits: withMore(limitLines, moreLimits, 'zone'),
      'Needs attention': listAttention(figures, reported),
      'Most bandwidth this month': busiest.slice(0, mostListed).map((zone) => {
        const { perDay: rate } = zone;
        const isShown = rate && !isAllZero(rate) && !reported.has(zone);
        const compared = isShown ? `, ${formatBytes(rate.now)} a day${inBrackets(rate, formatBytes)}` : '';
        return `*${formatBytes(zone.used)}* · ${describeName(zone)}${compared}`;
      }),
      'All together': [
        ...(isTotalReported ? [] : listTotal(perDay, formatBytes)),
        ...listTotal(chargesPerDay, formatMoney),
      ],
      'Not in the account': missing.length > 0 ? [notInAccount.join(', ')] : [],
    },
    note: `Months are UTC, as the CDN counts them.${limits.length > 0 ? forecast : ''}`,
    chart: renderTrend({ title, unit: 'GB a day' }, [{ name: 'Bandwidth', points }], timeZone),
  };
}

/** Zones that need attention now, without those whose line of the changes lists all of them. */
function listAttention({ states: groups, news }: ZoneFigures, reported: ReadonlySet<unknown>): string[] {
  return stateWords.flatMap(({ state, is }) => {
    const zones = groups[state];
    const became = news?.became[state];
    const isReported = reported.has(became) && became?.count === zones.count;
    return zones.count > 0 && !isReported
      ? [`*${formatInteger(zones.count)}* ${is}: ${listNames(zones, mostListed)}`]
      : [];
  });
}

function listTotal(rate: Comparison | undefined, format: (value: number) => string): string[] {
  return rate && (rate.now > 0 || rate.before)
    ? [`*${format(rate.now)}* a day${inBrackets(rate, format)}`]
    : [];
}
