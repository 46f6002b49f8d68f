import {
  type Attention,
  attentionReasons,
  bandwidthOf,
  findBusiest,
  findLimit,
  monthOf,
  type ZoneSummary,
} from '../../../api/zones/summary.ts';
import { dayMs, yieldToEventLoop } from '../../../lib/time.ts';
import type { MessageBlock } from '../../../views/blocks/blocks.ts';
import {
  agree,
  formatBytes,
  formatInteger,
  formatMoney,
  formatPercent,
  formatRoundMoney,
  formatShortDay,
  listSome,
  pluralize,
} from '../../../views/blocks/format.ts';
import { formatCell, renderTable } from '../../../views/blocks/table.ts';
import { capitalize, escapeMrkdwn, join } from '../../../views/blocks/text.ts';
import {
  type Comparison,
  type Detail,
  describeComparison,
  describeName,
  describeRate,
  type Finding,
  formatDifference,
  isIncrease,
  listNames,
  type Named,
  type NamedGroup,
  type Point,
  renderTrend,
} from '../../../views/reports/digests/post.ts';
import {
  apartMs,
  type CollectInput,
  compareWithPast,
  type DigestKind,
  type Earlier,
  findEarlier,
  flattenName,
  hasMoved,
  maxNamed,
  noise,
  sumReported,
  toNamed,
  trendOf,
} from './check.ts';

type ZoneFigures = NonNullable<Awaited<ReturnType<typeof collectZones>>['figures']>;

/** What later runs compare with. Figures of other chosen zones (`scope`) are not. */
interface PastZones {
  readonly scope: string;
  readonly used?: number | undefined;
  readonly charges?: number | undefined;
  readonly perDay?: Comparison | undefined;
  readonly busiest: readonly (Named & Pick<PastZones, 'perDay'> & { readonly used: number })[];
}

interface ZoneBaseline {
  readonly scope: string;
  readonly at: string;
  /** The first run on this account, as ISO text: earlier figures are of another account. */
  readonly since: string;
  readonly zones: readonly (readonly [id: string, name: string, ...flags: Flag[]])[];
}

/** Why a zone needs attention, and which limits were already reported; the most urgent first. */
const urgency = [
  'suspended',
  'disabled',
  'limit-reached',
  'near-limit',
  'limit-foretold',
  'no-certificate',
] as const;
type Flag = (typeof urgency)[number];

type KnownZone = Named & { readonly flags: readonly Flag[] };

/** As an earlier version stored it, by column: a line a zone, and in `flags` a character, whose bits are these. */
type OldBaseline = Readonly<Record<'ids' | 'names' | 'flags', string>>;
const oldFlags: readonly Flag[] = [
  'suspended',
  'disabled',
  'near-limit',
  'no-certificate',
  'limit-foretold',
  'limit-reached',
];
const oldCharacters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function readBaseline(stored: ZoneBaseline | OldBaseline): ReadonlyMap<string, KnownZone> {
  if ('zones' in stored)
    return new Map(stored.zones.map(([id, name, ...flags]) => [id, { id, name, flags }]));
  const names = stored.names.split('\n');
  const ids = stored.ids === '' ? [] : stored.ids.split('\n');
  return new Map(
    ids.map((id, nth) => {
      const bits = oldCharacters.indexOf(stored.flags.charAt(nth));
      const flags = oldFlags.filter((_, bit) => (bits & (1 << bit)) !== 0);
      return [id, { id, name: names[nth] ?? '', flags }];
    }),
  );
}

/** Reached (without `reaches`), or will be. `isNew`: the digest has not reported it yet. */
type Limit = {
  readonly used: number;
  readonly limit: number;
  readonly reaches?: string | undefined;
  readonly isNew: boolean;
};

const states = (
  [
    ['suspended', 0, ':no_entry:', 'newly suspended', 'no longer suspended'],
    ['disabled', 0, ':rotating_light:', 'newly disabled', 'enabled again'],
    ['no-certificate', 2, ':unlock:', 'newly without certificate', 'with certificate again'],
    ['near-limit', 3, ':warning:', 'now above 80% of the limit', 'below 80% of the limit again'],
  ] as const
).map(([state, weight, sign, became, recovered]) => ({ state, weight, sign, became, recovered }));

const mostTroubled = 40;
const mostLimits = 10;
const mostBusiest = 30;
const mostRows = 50;

export const zonesDigest: DigestKind<'zones', ZoneFigures, ZoneBaseline> = {
  name: 'zones',
  label: 'Zones overview',
  words: /zones|overview|^zone$/iu,
  target: 'zones',
  troubles: 'zones that need attention',
  collect: collectZones,

  describe(figures, timeZone) {
    const { since, zones, used, charges, chargesBefore, attention, perDay, skipped } = figures;
    const least = (sum: 'used' | 'charges'): string => (figures.partial[sum] ? 'at least ' : '');
    const numbers = [
      `*${pluralize(zones, 'zone')}*`,
      used === undefined ? 'bandwidth not reported' : `${least('used')}${formatBytes(used)} this month`,
      charges === undefined
        ? 'charges not reported'
        : `${least('charges')}${formatRoundMoney(charges)} so far${formatDifference(charges, chargesBefore, formatMoney)}`,
      attention > 0 && `:warning: ${formatInteger(attention)} ${agree(attention, 'needs', 'need')} attention`,
      skipped > 0 && `:warning: ${pluralize(skipped, 'zone')} could not be read`,
    ];
    const isEmpty = zones === 0 && skipped === 0;
    return {
      troubles: attention,
      since: [since],
      findings: listFindings(figures),
      number: isEmpty ? '*No zones*' : join(numbers, ' · '),
      compared: isEmpty ? '' : describeRate(perDay, formatBytes, 'a day'),
      detail: () => renderDetail(figures, timeZone),
    };
  },

  // What was told of other zones, or of another account, is nothing to compare with.
  keepUnreported: (told, found) => (told.scope === found.scope && told.since === found.since ? told : found),
};

async function collectZones({ account, targets, baseline, ...input }: CollectInput<PastZones, ZoneBaseline>) {
  const { now } = input;
  const { zones: all, skipped } = await account.pullZones.all();
  const wanted = new Set(targets.zones);
  const scope = [...wanted].toSorted().join(' ');
  const zones = wanted.size === 0 ? all : all.filter(({ id }) => wanted.has(id));
  const known = baseline?.scope === scope ? readBaseline(baseline) : undefined;
  // Another owner's account has none of the known zones.
  const isOtherAccount =
    known && known.size > 0 && zones.length > 0 && !zones.some(({ id }) => known.has(id));
  const before = isOtherAccount ? undefined : known;
  const at = now.toISOString();
  const since = before && baseline ? baseline.since : at;
  const past = findEarlier(input, (found, at) =>
    before && found.scope === scope && at >= Date.parse(since) ? found : undefined,
  );
  const { present, news, ...found } = await walkZones(zones, before, now, skipped === 0);
  const used = roundToCents(sumReported(zones.map(({ bandwidthUsed }) => bandwidthUsed)));
  const charges = roundToCents(sumReported(zones.map((zone) => zone.charges)));
  const perDay = compareRate(past, now, used, (found) => found);
  await yieldToEventLoop();
  const busiest = findBusiest(
    zones.filter(({ bandwidthUsed }) => (bandwidthUsed ?? 0) > 0),
    mostBusiest,
  );
  const ids = new Set(zones.map(({ id }) => id));
  const isSameMonth = past.previous !== undefined && past.previous.at >= monthOf(now).start;
  const figures = {
    scope,
    since: before && baseline ? baseline.at : undefined,
    zones: zones.length,
    skipped,
    used,
    charges,
    /** They are sums of some zones only: others do not report theirs. */
    partial: {
      used: zones.some(({ bandwidthUsed }) => bandwidthUsed === undefined),
      charges: zones.some((zone) => zone.charges === undefined),
    },
    chargesBefore: isSameMonth ? past.previous?.figures.charges : undefined,
    perDay,
    busiest: busiest.map((zone) => ({
      ...toUse(zone),
      used: bandwidthOf(zone),
      perDay: compareRate(past, now, zone.bandwidthUsed, ({ busiest }) =>
        busiest.find(({ id }) => id === zone.id),
      ),
    })),
    ...found,
    missing: [...wanted].filter((id) => !ids.has(id)),
    news: before && news,
    trend: trendOf(past, now, perDay, (found) => found.perDay),
  };
  return { figures, baseline: { scope, at, since, zones: present } as ZoneBaseline };
}

/** `hasState`, `hasLimit`: whether the CDN reports them. */
function toUse(zone: ZoneSummary) {
  const {
    bandwidthUsed: used,
    bandwidthLimit: limit,
    enabled,
    suspended = false,
    isUnlimited = false,
  } = zone;
  return {
    ...toNamed(zone),
    used,
    limit,
    hasState: enabled !== undefined || suspended,
    hasLimit: limit !== undefined || isUnlimited,
  };
}

type Group = { count: number; readonly first: Named[] };

const createGroup = (): Group => ({ count: 0, first: [] });
const createGroups = () =>
  Object.fromEntries(states.map(({ state }) => [state, createGroup()])) as Record<Attention, Group>;

function add(group: Group, { id, name }: Named): void {
  group.count += 1;
  if (group.first.length < maxNamed) group.first.push(toNamed({ id, name }));
}

async function walkZones(
  zones: readonly ZoneSummary[],
  before: ReadonlyMap<string, KnownZone> | undefined,
  now: Date,
  isWhole: boolean,
) {
  const present: ZoneBaseline['zones'][number][] = [];
  const limits: (Named & Limit)[] = [];
  const troubled: { readonly zone: ZoneSummary; readonly flags: readonly Flag[] }[] = [];
  const news = {
    joined: createGroup(),
    left: createGroup(),
    became: createGroups(),
    recovered: createGroups(),
  };
  const missing = new Map(before);
  let attention = 0;
  for (const [index, zone] of zones.entries()) {
    if (index % 2_500 === 0) await yieldToEventLoop();
    const were = before?.get(zone.id)?.flags ?? [];
    const flags: Flag[] = attentionReasons(zone);
    if (flags.length > 0) attention += 1;
    const reached = findLimit(zone, now);
    if (reached) {
      const reaches = reached.reaches?.toISOString();
      flags.push(reaches === undefined ? 'limit-reached' : 'limit-foretold');
      // New twice: foretold, and reached.
      const isNew = !were.includes('limit-reached') && (!were.includes('limit-foretold') || !reaches);
      limits.push({ ...toNamed(zone), used: reached.used, limit: reached.limit, reaches, isNew });
    }
    const isUnreported = {
      suspended: zone.suspended === undefined,
      disabled: zone.enabled === undefined,
      'no-certificate': zone.isCertificateUnreported,
      'near-limit': !zone.isUnlimited && !(zone.bandwidthLimit && zone.bandwidthUsed !== undefined),
    };
    // What is no longer reported has not recovered.
    const kept = were.filter((flag) => !flags.includes(flag) && isUnreported[flag as Attention]);
    present.push([zone.id, flattenName(zone.name), ...flags, ...kept]);
    if (flags.length > 0) troubled.push({ zone, flags });
    if (!missing.delete(zone.id)) add(news.joined, zone);
    for (const { state } of states) {
      const [was, is] = [were.includes(state), flags.includes(state)];
      // A line about its limit says more.
      const hasLine = state === 'near-limit' && reached !== undefined;
      if (is && !was && !hasLine) add(news.became[state], { ...zone, name: nameFor(zone, state) });
      if (was && !is && !isUnreported[state]) add(news.recovered[state], zone);
    }
  }
  // In a list that is not whole nobody knows whether they left.
  for (const zone of missing.values())
    if (isWhole) add(news.left, zone);
    else present.push([zone.id, zone.name, ...zone.flags]);
  const rank = ({ flags }: { readonly flags: readonly Flag[] }): number =>
    urgency.findIndex((flag) => flags.includes(flag));
  const reaches = new Map(limits.map((limit) => [limit.id, limit.reaches]));
  return {
    attention,
    present,
    troubled: troubled
      .toSorted((a, b) => rank(a) - rank(b))
      .slice(0, mostTroubled)
      .map(({ zone, flags }) => ({ ...toUse(zone), why: explainFlags(zone, flags, reaches.get(zone.id)) })),
    // New ones first, should there be too many; then the soonest.
    limits: limits
      .toSorted(
        (a, b) => Number(b.isNew) - Number(a.isNew) || ((a.reaches ?? '') < (b.reaches ?? '') ? -1 : 1),
      )
      .slice(0, mostLimits),
    news,
  };
}

/** `disabled, at limit`, `limit on 27 Nov` */
function explainFlags(
  { bandwidthUsed: used = 0, bandwidthLimit: limit = 0 }: ZoneSummary,
  flags: readonly Flag[],
  reaches: string | undefined,
): string {
  const words: Readonly<Record<Flag, string | false>> = {
    suspended: 'suspended',
    disabled: 'disabled',
    'limit-reached': 'at limit',
    'near-limit': !flags.includes('limit-reached') && `${formatPercent(used, limit)} of limit`,
    'limit-foretold': `limit on ${formatShortDay(reaches?.slice(0, 10) ?? '')}`,
    'no-certificate': 'no certificate',
  };
  return join(
    urgency.map((flag) => flags.includes(flag) && words[flag]),
    ', ',
  );
}

function nameFor({ name, hostnamesWithoutCertificate: without }: ZoneSummary, state: Attention): string {
  if (state !== 'no-certificate' || without.length === 0) return name;
  return `${name} (${listSome(without, 1)})`;
}

/**
 * How fast a monthly counter grows a day, since a run at least six hours ago or since the month began. Undefined where the
 * counter fell within a month, or did not fall with a new one.
 */
function compareRate(
  past: Earlier<PastZones>,
  now: Date,
  used: number | undefined,
  find: (found: PastZones) => Pick<PastZones, 'used' | 'perDay'> | undefined,
): Comparison | undefined {
  const { base } = past;
  const before = base && find(base.figures)?.used;
  if (used === undefined || base === undefined || before === undefined) return undefined;
  const { start } = monthOf(now);
  const isNewMonth = base.at < start;
  if (isNewMonth !== used < before) return undefined;
  const elapsed = now.getTime() - (isNewMonth ? start : base.at);
  if (elapsed < apartMs) return undefined;
  const rate = roundToCents(((isNewMonth ? used : used - before) / elapsed) * dayMs);
  return compareWithPast(rate, past, (found) => find(found)?.perDay);
}

/** Floating-point noise would differ from run to run. */
function roundToCents<Sum extends number | undefined>(sum: Sum): Sum {
  return (sum === undefined ? undefined : Math.round(sum * 100) / 100) as Sum;
}

function listFindings(figures: ZoneFigures): Finding[] {
  const { news, limits, busiest, perDay: total } = figures;
  const newLimits = limits
    .filter(({ isNew }) => isNew)
    .map(
      (limit): Finding => ({
        weight: limit.reaches === undefined ? 0 : 3,
        line: () => describeLimit(limit),
      }),
    );
  const moved = busiest.flatMap((zone): Finding[] => {
    const { perDay } = zone;
    if (!perDay || !hasMoved(perDay, noise.bytes)) return [];
    const sign = isIncrease(perDay) ? ':chart_with_upwards_trend:' : ':chart_with_downwards_trend:';
    const text = `${sign} *${describeName(zone)}*: ${describeComparison(perDay, formatBytes, ' a day')}`;
    return [{ weight: 5, line: () => text }];
  });
  return [
    ...newLimits,
    ...(news
      ? [
          ...states.flatMap(({ state, weight, sign, became }) =>
            listGroup(weight, news.became[state], sign, became),
          ),
          ...states.flatMap(({ state, recovered }) =>
            listGroup(6, news.recovered[state], ':white_check_mark:', recovered),
          ),
          ...listGroup(4, news.left, ':heavy_minus_sign:', 'gone'),
          ...listGroup(6, news.joined, ':heavy_plus_sign:', 'new'),
        ]
      : []),
    ...moved,
    ...(hasMoved(total, noise.bytes) ? [{ weight: 7 }] : []),
  ];
}

/** `Newly disabled: shop`; of several the number first: `*3* newly disabled: shop, docs and media`. */
function listGroup(weight: number, zones: NamedGroup, sign: string, what: string): Finding[] {
  if (zones.count === 0) return [];
  const words = zones.count > 1 ? `*${formatInteger(zones.count)}* ${what}` : capitalize(what);
  return [{ weight, line: (most) => `${sign} ${words}: ${listNames(zones, most)}` }];
}

/** `At this rate shop reaches its limit of 500 GB on 27 Nov`. */
function describeLimit(limit: Named & Limit): string {
  const name = `*${describeName(limit)}*`;
  return limit.reaches === undefined
    ? `:rotating_light: ${name} reached its limit: ${formatBytes(limit.used)} of ${formatBytes(limit.limit)}`
    : `:hourglass: At this rate ${name} reaches its limit of ${formatBytes(limit.limit)} on ${formatShortDay(limit.reaches.slice(0, 10))}`;
}

function renderDetail(figures: ZoneFigures, timeZone: string): Detail {
  const { limits, missing, perDay, trend } = figures;
  const notInAccount = missing.slice(0, 30).map((id) => escapeMrkdwn(id, 20));
  const forecast = ' Forecast: if the rest of the month continues like this.';
  const [unit, bytesOf] = Math.max(...trend.map(([, bytes]) => bytes)) >= 1e12 ? ['TB', 1e12] : ['GB', 1e9];
  const points = trend.map(([at, bytes]): Point => [at, Math.round((bytes / bytesOf) * 100) / 100]);
  return {
    title: 'Zones',
    lines: [missing.length > 0 && `Not in the account: ${notInAccount.join(', ')}`],
    table: renderZoneTable(figures),
    note: `Months are UTC, as the CDN counts them.${limits.some(({ reaches }) => reaches) ? forecast : ''}`,
    chart: renderTrend(
      { title: `Bandwidth: ${formatBytes(perDay?.now ?? 0)} a day`, unit: `${unit} per day` },
      [{ name: 'Bandwidth', points }],
      timeZone,
    ),
  };
}

function renderZoneTable({ troubled, busiest }: ZoneFigures): MessageBlock[] {
  const ids = new Set(troubled.map(({ id }) => id));
  const rates = new Map(busiest.map(({ id, perDay }) => [id, perDay?.now]));
  const hasRates = [...rates.values()].some((rate) => rate !== undefined);
  const others = busiest.filter(({ id }) => !ids.has(id)).map((zone) => ({ ...zone, why: '' }));
  return renderTable({
    caption: 'What needs attention, then the busiest',
    columns: ['Zone', 'Why', 'Month', 'Of limit', ...(hasRates ? ['Per day'] : [])],
    rows: [...troubled, ...others]
      .slice(0, mostRows)
      .map(({ id, name, used, limit, hasState, hasLimit, why }) => {
        const rate = rates.get(id);
        return [
          name || `zone ${id}`,
          why || (hasState ? '' : 'state not reported'),
          formatCell(used, formatBytes),
          limit !== undefined && limit > 0 && used !== undefined
            ? { number: Math.min(used / limit, 1e9), text: formatPercent(used, limit) }
            : { number: 0, text: hasLimit ? 'no limit' : 'not reported' },
          ...(hasRates
            ? [rate === undefined ? { number: -1, text: 'not known' } : formatCell(rate, formatBytes)]
            : []),
        ];
      }),
  });
}
