import type { Attention } from '../../../../../api/zones/summary.ts';
import type { MessageBlock } from '../../../../../views/blocks/blocks.ts';
import {
  formatBytes,
  formatInteger,
  formatMoney,
  formatPercent,
  formatRoundMoney,
  formatShortDay,
  pluralize,
} from '../../../../../views/blocks/format.ts';
import { formatCell, renderTable } from '../../../../../views/blocks/table.ts';
import { capitalize, escapeMrkdwn, join } from '../../../../../views/blocks/text.ts';
import {
  describeComparison,
  describeRate,
  formatDifference,
  inBrackets,
  isIncrease,
  renderTrend,
} from '../../../../../views/reports/digests/comparisons.ts';
import { describeName, listNames } from '../../../../../views/reports/digests/names.ts';
import { type Comparison, hasMoved, noise, type Point } from '../../figures.ts';
import type { NamedGroup } from '../../names.ts';
import type { Detail, Finding, NumberLine } from '../kind.ts';
import type { LimitFigures, ZoneUse } from './bandwidth.ts';
import { hasFlag, type TroubledZone, type ZoneNews } from './baseline.ts';

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
  /** Zones with a reason to look at them, the most urgent first. */
  readonly troubled: readonly TroubledZone[];
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
        : `${formatRoundMoney(charges)} so far${formatDifference(charges, chargesBefore, formatMoney)}`,
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
  const { limits, busiest, missing, perDay, chargesPerDay, trend } = figures;
  const isTotalReported = busiest.some((zone) => reported.has(zone) && zone.perDay?.now === perDay?.now);
  const notInAccount = missing.slice(0, 30).map((id) => escapeMrkdwn(id, 20));
  const forecast = ' A limit’s day: if the rest of the month goes like the month so far.';
  const title = `Bandwidth: ${formatBytes(perDay?.now ?? 0)} a day`;
  const [unit, bytesOf] = Math.max(...trend.map(([, bytes]) => bytes)) >= 1e12 ? ['TB', 1e12] : ['GB', 1e9];
  const points = trend.map(([at, bytes]): Point => [at, Math.round((bytes / bytesOf) * 100) / 100]);
  return {
    title: 'Zones',
    lines: [
      ...(isTotalReported ? [] : listTotal(perDay, formatBytes)),
      ...listTotal(chargesPerDay, formatMoney),
      missing.length > 0 && `Not in the account: ${notInAccount.join(', ')}`,
    ],
    table: renderZoneTable(figures),
    note: `Months are UTC, as the CDN counts them.${limits.some(({ reaches }) => reaches) ? forecast : ''}`,
    chart: renderTrend({ title, unit: `${unit} a day` }, [{ name: 'Bandwidth', points }], timeZone),
  };
}

const mostRows = 50;

/** What needs attention first, then the busiest. */
function renderZoneTable({ troubled, busiest, limits }: ZoneFigures): MessageBlock[] {
  const reaches = new Map(limits.map((limit) => [limit.id, limit.reaches]));
  const ids = new Set(troubled.map(({ id }) => id));
  const rates = new Map(busiest.map(({ id, perDay }) => [id, perDay?.now]));
  const shown: readonly (Omit<TroubledZone, 'flags'> & { readonly flags?: number })[] = [
    ...troubled,
    ...busiest.filter(({ id }) => !ids.has(id)),
  ];
  const hasRates = [...rates.values()].some((rate) => rate !== undefined);
  return renderTable({
    caption: 'What needs attention, then the busiest',
    columns: ['Zone', 'Why', 'Month', 'Of limit', ...(hasRates ? ['A day'] : [])],
    rows: shown.slice(0, mostRows).map((zone) => {
      const { id, name, flags = 0, used, limit } = zone;
      const rate = rates.get(id);
      return [
        name || `zone ${id}`,
        explainFlags(flags, zone, reaches.get(id)),
        formatCell(used, formatBytes),
        limit !== undefined && limit > 0 && used !== undefined
          ? { number: Math.min(used / limit, 1e9), text: formatPercent(used, limit) }
          : { number: 0, text: 'no limit' },
        ...(hasRates
          ? [rate === undefined ? { number: -1, text: 'not known' } : formatCell(rate, formatBytes)]
          : []),
      ];
    }),
  });
}

/** `disabled, at limit`, `limit on 27 Nov`, `fine` */
function explainFlags(
  flags: number,
  { used = 0, limit = 0 }: Pick<TroubledZone, 'used' | 'limit'>,
  reaches: string | undefined,
): string {
  const isNear = hasFlag(flags, 'near-limit') && !hasFlag(flags, 'limit-reached');
  const reasons = [
    hasFlag(flags, 'suspended') && 'suspended',
    hasFlag(flags, 'disabled') && 'disabled',
    hasFlag(flags, 'limit-reached') && 'at limit',
    isNear && `${formatPercent(used, limit)} of limit`,
    hasFlag(flags, 'limit-foretold') &&
      (reaches ? `limit on ${formatShortDay(reaches.slice(0, 10))}` : 'limit this month'),
    hasFlag(flags, 'no-certificate') && 'no certificate',
  ];
  return join(reasons, ', ') || 'fine';
}

function listTotal(rate: Comparison | undefined, format: (value: number) => string): string[] {
  return rate && (rate.now > 0 || rate.before)
    ? [`All together *${format(rate.now)}* a day${inBrackets(rate, format)}`]
    : [];
}
