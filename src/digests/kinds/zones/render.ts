import type { Attention } from '../../../api/zones/summary.ts';
import { formatShortDay } from '../../../views/blocks/dates.ts';
import type { Message } from '../../../views/blocks/message.ts';
import {
  escapeMrkdwn,
  formatBytes,
  formatInteger,
  formatMoney,
  pluralize,
} from '../../../views/blocks/text.ts';
import {
  describeChange,
  describeName,
  describeRate,
  formatDifference,
  inBrackets,
  isAllZero,
  isIncrease,
  listNames,
} from '../../../views/digests/comparisons.ts';
import { dateRange, mostListed, renderDetail, trendChart } from '../../../views/digests/detail.ts';
import type { NamedGroup } from '../../figures/compact-ids.ts';
import { type Comparison, hasMoved, noise } from '../../figures/series.ts';
import type { Finding, NumberLine } from '../kind.ts';
import type { LimitFigures, ZoneFigures } from './figures.ts';

interface StateWords {
  readonly sign: string;
  readonly weight: number;
  readonly is: string;
  readonly became: string;
  readonly recovered: string;
}

/** The most urgent first. */
const states: Readonly<Record<Attention, StateWords>> = {
  suspended: {
    sign: ':no_entry:',
    weight: 0,
    is: 'suspended',
    became: 'newly suspended',
    recovered: 'no longer suspended',
  },
  disabled: {
    sign: ':rotating_light:',
    weight: 0,
    is: 'disabled',
    became: 'newly disabled',
    recovered: 'enabled again',
  },
  'no-certificate': {
    sign: ':unlock:',
    weight: 2,
    is: 'without certificate',
    became: 'newly without certificate',
    recovered: 'with certificate again',
  },
  'near-limit': {
    sign: ':warning:',
    weight: 3,
    is: 'above 80 % of the limit',
    became: 'now above 80 % of the limit',
    recovered: 'below 80 % of the limit again',
  },
};
const stateWords = Object.entries(states) as [Attention, StateWords][];

export function listZoneFindings(figures: ZoneFigures): Finding[] {
  const { news, limits, busiest, perDay, chargesPerDay } = figures;
  return [
    ...limits
      .filter(({ isNew }) => isNew)
      .map(
        (limit): Finding => ({
          weight: limit.reaches === undefined ? 0 : 3,
          about: limit,
          line: () => renderLimit(limit),
        }),
      ),
    ...(news
      ? [
          ...stateWords.flatMap(([state, words]) =>
            listGroup(words.weight, news.became[state], words.sign, words.became),
          ),
          ...stateWords.flatMap(([state, { recovered }]) =>
            listGroup(6, news.recovered[state], ':white_check_mark:', recovered),
          ),
          ...listGroup(4, news.left, ':heavy_minus_sign:', 'gone'),
          ...listGroup(6, news.joined, ':heavy_plus_sign:', 'new'),
        ]
      : []),
    ...busiest.flatMap((zone): Finding[] => {
      if (!zone.perDay || !hasMoved(zone.perDay, noise.bytes)) return [];
      const sign = isIncrease(zone.perDay) ? ':chart_with_upwards_trend:' : ':chart_with_downwards_trend:';
      const rate = `${formatBytes(zone.perDay.now)} a day, ${describeChange(zone.perDay, formatBytes)}`;
      return [
        {
          weight: 5,
          about: zone,
          isWholeTotal: zone.perDay.now === perDay?.now,
          line: () => `${sign} *${describeName(zone)}*: ${rate}`,
        },
      ];
    }),
    ...(perDay && hasMoved(perDay, noise.bytes) ? [{ weight: 7 }] : []),
    ...(chargesPerDay && hasMoved(chargesPerDay, noise.dollars) ? [{ weight: 7 }] : []),
  ];
}

function listGroup(weight: number, zones: NamedGroup, sign: string, what: string): Finding[] {
  return zones.count === 0
    ? []
    : [{ weight, about: zones, line: (most) => `${sign} ${describeGroup(zones, what, most)}` }];
}

/** `Newly disabled: shop`; of several the number first: `*3* newly disabled: shop, docs and media`. */
function describeGroup(zones: NamedGroup, what: string, most: number): string {
  const words =
    zones.count > 1 ? `*${formatInteger(zones.count)}* ${what}` : what[0]?.toUpperCase() + what.slice(1);
  return `${words}: ${listNames(zones, most)}`;
}

/** `At this rate shop reaches its limit of 500 GB on 27 Nov`. */
function renderLimit(limit: LimitFigures): string {
  const name = `*${describeName(limit)}*`;
  return limit.reaches === undefined
    ? `:rotating_light: ${name} reached its limit: ${formatBytes(limit.used)} of ${formatBytes(limit.limit)}`
    : `:hourglass: At this rate ${name} reaches its limit of ${formatBytes(limit.limit)} on ${formatShortDay(limit.reaches.slice(0, 10))}`;
}

export function renderZoneLine(figures: ZoneFigures): NumberLine {
  const { zones, used, charges, attention, before, newMonth, perDay, chargesPerDay, skipped } = figures;
  if (zones === 0 && skipped === 0) return { number: '*No zones*', compared: '' };
  const chargesBefore = newMonth ? undefined : before?.charges;
  const onlyChargesMoved =
    chargesPerDay !== undefined &&
    hasMoved(chargesPerDay, noise.dollars) &&
    !(perDay && hasMoved(perDay, noise.bytes));
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

export function renderZoneThread(
  zones: ZoneFigures,
  findings: readonly Finding[],
  timeZone: string,
): Message {
  const { limits, moreLimits, busiest, missing, perDay, chargesPerDay, trend } = zones;
  // In a first run nothing changed.
  const changed = zones.since === undefined ? [] : findings;
  const reported = new Set(changed.map(({ about }) => about));
  const forecast = 'A limit’s day: if the rest of the month goes like the month so far.';
  return renderDetail({
    title: 'Zones',
    changed,
    parts: {
      Limits: [
        ...limits.filter((limit) => !reported.has(limit)).map(renderLimit),
        ...(moreLimits > 0 ? [`and ${pluralize(moreLimits, 'more zone')}`] : []),
      ],
      'Needs attention': listAttention(zones, reported),
      'Most bandwidth this month': busiest.slice(0, mostListed).map((zone) => {
        const { perDay: rate } = zone;
        const isShown = rate && !isAllZero(rate) && !reported.has(zone);
        const compared = isShown ? `, ${formatBytes(rate.now)} a day${inBrackets(rate, formatBytes)}` : '';
        return `*${formatBytes(zone.used)}* · ${describeName(zone)}${compared}`;
      }),
      'All together': [
        ...(changed.some(({ isWholeTotal }) => isWholeTotal) ? [] : listTotal(perDay, formatBytes)),
        ...listTotal(chargesPerDay, formatMoney),
      ],
      'Not in the account':
        missing.length > 0
          ? [
              missing
                .slice(0, 30)
                .map((id) => escapeMrkdwn(id, 20))
                .join(', '),
            ]
          : [],
    },
    note: `Months are UTC, as the CDN counts them.${limits.length > 0 ? ` ${forecast}` : ''}`,
    charts: [
      trendChart(trend, timeZone, {
        name: 'bandwidth.png',
        title: 'Bandwidth a day',
        axis: 'GB a day',
        series: 'Bandwidth',
        altText: `Line chart of bandwidth a day, ${dateRange(trend, timeZone)}`,
        format: formatBytes,
        unit: 1e9,
      }),
    ],
  });
}

/** Zones that need attention now, without those whose line of the changes lists all of them. */
function listAttention({ states: groups, news }: ZoneFigures, reported: ReadonlySet<unknown>): string[] {
  return stateWords.flatMap(([state, { is }]) => {
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
