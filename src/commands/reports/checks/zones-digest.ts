import {
  type Attention,
  attentionReasons,
  bandwidthOf,
  findBusiest,
  findLimit,
  monthOf,
  sumTotals,
  type ZoneSummary,
} from '../../../api/zones/summary.ts';
import { dayMs, yieldToEventLoop } from '../../../lib/time.ts';
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
import { type Cell, formatCell } from '../../../views/blocks/table.ts';
import { capitalize, escapeMrkdwn, join } from '../../../views/blocks/text.ts';
import {
  type Comparison,
  describeComparison,
  describeName,
  describeRate,
  type Finding,
  formatDifference,
  isIncrease,
  type Named,
  type Point,
} from '../../../views/reports/digests/post.ts';
import { describeUnreported } from '../../../views/zones/list.ts';
import {
  apartMs,
  type CollectInput,
  type CollectResult,
  createNoneThereError,
  type DigestKind,
  findEarlier,
  flattenName,
  hasMoved,
  maxNamed,
  noise,
  sumReported,
  toNamed,
} from './check.ts';

/** What later runs compare with. Figures of other chosen zones (`scope`) are not. */
interface PastZones {
  readonly scope: string;
  readonly used?: number | undefined;
  readonly charges?: number | undefined;
  readonly perDay?: Comparison | undefined;
  /** Absent in figures of before. */
  readonly isUnreported?: boolean;
  readonly busiest: readonly (Named & Pick<PastZones, 'used' | 'perDay'>)[];
}

interface ZoneBaseline {
  readonly scope: string;
  readonly at: string;
  /** The first run on this account, as ISO text: earlier figures are of another account. */
  readonly since: string;
  /** Absent in the form of 0.1.0. */
  readonly zones?: readonly StoredZone[];
}

type StoredZone = readonly [id: string, name: string, ...flags: Flag[]];

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

const states: readonly Attention[] = ['suspended', 'disabled', 'no-certificate', 'near-limit'];

type News = `${'is' | 'was'} ${Attention}` | 'gone' | 'new';

/** What zones are reported for, in order. */
const news: Readonly<Record<News, readonly [weight: number, sign: string, words: string]>> = {
  'is suspended': [0, ':no_entry:', 'newly suspended'],
  'is disabled': [0, ':rotating_light:', 'newly disabled'],
  'is no-certificate': [2, ':unlock:', 'newly without certificate'],
  'is near-limit': [3, ':warning:', 'now above 80% of the limit'],
  'was suspended': [6, ':white_check_mark:', 'no longer suspended'],
  'was disabled': [6, ':white_check_mark:', 'enabled again'],
  // The hostname, or the limit, may be gone.
  'was no-certificate': [6, ':white_check_mark:', 'with a certificate for every hostname'],
  'was near-limit': [6, ':white_check_mark:', 'no longer above 80% of a limit'],
  gone: [4, ':heavy_minus_sign:', 'gone'],
  new: [6, ':heavy_plus_sign:', 'new'],
};

const mostTroubled = 40;
const mostLimits = 10;
const mostBusiest = 30;
const mostRows = 50;

export const zonesDigest: DigestKind<'zones', PastZones, ZoneBaseline> = {
  name: 'zones',
  label: 'Zones overview',
  words: /zones|overview|^zone$/iu,
  target: 'zones',
  troubles: 'zones that need attention',
  collect: collectZones,
  // What was told of other zones, or of another account, is nothing to compare with.
  keepUnreported: (told, found) => (told.scope === found.scope && told.since === found.since ? told : found),
};

async function collectZones({
  account,
  targets,
  baseline,
  ...input
}: CollectInput<PastZones, ZoneBaseline>): Promise<CollectResult<PastZones, ZoneBaseline>> {
  const { now } = input;
  const { zones: all, skipped } = await account.pullZones.all();
  if (all.length === 0 && skipped > 0) throw createNoneThereError(skipped);
  const wanted = new Set(targets.zones);
  const scope = [...wanted].toSorted().join(' ');
  const zones = wanted.size === 0 ? all : all.filter(({ id }) => wanted.has(id));
  const stored = baseline?.scope === scope ? baseline.zones : undefined;
  const known = stored && new Map(stored.map(([id, name, ...flags]) => [id, { id, name, flags }]));
  // Another owner's account has none of the known zones.
  const isOtherAccount =
    known && known.size > 0 && zones.length > 0 && !zones.some(({ id }) => known.has(id));
  const before = isOtherAccount ? undefined : known;
  const at = now.toISOString();
  const since = before && baseline ? baseline.since : at;
  const past = findEarlier(input, (found, at) =>
    before && found.scope === scope && at >= Date.parse(since) ? found : undefined,
  );
  const month = monthOf(now);

  /**
   * How fast a monthly counter grows a day, since a run at least six hours ago or since the month began. Undefined where the
   * counter fell within a month, or did not fall with a new one.
   */
  function compareRate(
    used: number | undefined,
    find: (found: PastZones) => Pick<PastZones, 'used' | 'perDay'> | undefined,
  ): Comparison | undefined {
    const { base } = past;
    const usedBefore = base && find(base.figures)?.used;
    if (used === undefined || base === undefined || usedBefore === undefined) return undefined;
    const isNewMonth = base.at < month.start;
    if (isNewMonth !== used < usedBefore) return undefined;
    const elapsed = now.getTime() - (isNewMonth ? month.start : base.at);
    if (elapsed < apartMs) return undefined;
    const rate = roundToCents(((isNewMonth ? used : used - usedBefore) / elapsed) * dayMs);
    return past.compare(rate, (found) => find(found)?.perDay);
  }

  const { present, attention, changes, limits, troubled } = await walkZones(
    zones,
    before,
    now,
    skipped === 0,
  );
  const used = roundToCents(sumReported(zones.map(({ bandwidthUsed }) => bandwidthUsed)));
  const charges = roundToCents(sumReported(zones.map((zone) => zone.charges)));
  const isWhole = (member: 'bandwidthUsed' | 'charges'): boolean =>
    skipped === 0 && zones.every((zone) => zone[member] !== undefined);
  // Nothing is compared with the sum of some zones only.
  const wholeUsed = isWhole('bandwidthUsed') ? used : undefined;
  const wholeCharges = isWhole('charges') ? charges : undefined;
  const perDay = compareRate(wholeUsed, (found) => found);
  await yieldToEventLoop();
  const busiest = findBusiest(
    zones.filter(({ bandwidthUsed }) => (bandwidthUsed ?? 0) > 0),
    mostBusiest,
  ).map((zone) => ({
    zone,
    perDay: compareRate(zone.bandwidthUsed, (found) => found.busiest.find(({ id }) => id === zone.id)),
  }));
  const isSameMonth = past.previous !== undefined && past.previous.at >= month.start;
  const chargesBefore =
    isSameMonth && wholeCharges !== undefined ? past.previous?.figures.charges : undefined;
  // They are sums of some zones only where others do not report theirs.
  const leastOf = (member: 'bandwidthUsed' | 'charges'): string =>
    zones.some((zone) => zone[member] === undefined) ? 'at least ' : '';
  const unreported = describeUnreported(sumTotals(zones));
  const numbers = [
    `*${pluralize(zones.length, 'zone')}*`,
    used === undefined
      ? 'bandwidth not reported'
      : `${leastOf('bandwidthUsed')}${formatBytes(used)} this month`,
    charges === undefined
      ? 'charges not reported'
      : `${leastOf('charges')}${formatRoundMoney(charges)} so far${formatDifference(charges, chargesBefore, formatMoney)}`,
    attention > 0 && `:warning: ${formatInteger(attention)} ${agree(attention, 'needs', 'need')} attention`,
    skipped > 0 && `:warning: ${pluralize(skipped, 'zone')} could not be read`,
    unreported,
  ];
  // What is no longer reported did not stay as it was.
  const isLost = Boolean(unreported) && past.previous?.figures.isUnreported === false;
  const isEmpty = zones.length === 0 && skipped === 0;
  const trend = past.trend(perDay, (found) => found.perDay);
  const [unit, bytesOf] = Math.max(...trend.map(([, bytes]) => bytes)) >= 1e12 ? ['TB', 1e12] : ['GB', 1e9];
  const ids = new Set(zones.map(({ id }) => id));
  const missing = [...wanted].filter((id) => !ids.has(id)).slice(0, 30);
  const forecast = ' Forecast: if the rest of the month continues like this.';
  return {
    section: {
      troubles: attention,
      since: [before && baseline ? baseline.at : undefined],
      findings: [
        ...limits.filter(({ isNew }) => isNew).map(describeLimit),
        ...(before ? changes : []),
        ...busiest.flatMap(({ zone, perDay }) => describeMove(zone, perDay)),
        ...(hasMoved(perDay, noise.bytes) || isLost ? [{ weight: 7 }] : []),
      ],
      number: isEmpty ? '*No zones*' : join(numbers, ' · '),
      compared: isEmpty ? '' : describeRate(perDay, formatBytes, 'a day'),
      detail: {
        title: 'Zones',
        lines: [
          missing.length > 0 && `Not in the account: ${missing.map((id) => escapeMrkdwn(id, 20)).join(', ')}`,
        ],
        table: {
          caption: 'What needs attention, then the busiest',
          ...tabulate(troubled.slice(0, mostTroubled), busiest),
        },
        note: `Months are UTC, as the CDN counts them.${limits.some(({ reaches }) => reaches) ? forecast : ''}`,
        chart: {
          title: `Bandwidth: ${formatBytes(perDay?.now ?? 0)} a day`,
          unit: `${unit} per day`,
          series: [
            {
              name: 'Bandwidth',
              points: trend.map(([at, bytes]): Point => [at, Math.round((bytes / bytesOf) * 100) / 100]),
            },
          ],
        },
      },
    },
    figures: {
      scope,
      used: wholeUsed,
      charges: wholeCharges,
      perDay,
      isUnreported: Boolean(unreported),
      busiest: busiest.map(({ zone, perDay }) => ({ ...toNamed(zone), used: bandwidthOf(zone), perDay })),
    },
    baseline: { scope, at, since, zones: present },
  };
}

/** Reached (without `reaches`), or will be. `isNew`: the digest has not reported it yet. */
type Limit = Named & {
  readonly used: number;
  readonly limit: number;
  readonly reaches: string | undefined;
  readonly isNew: boolean;
};

interface Troubled {
  readonly zone: ZoneSummary;
  readonly flags: readonly Flag[];
  readonly why: string;
}

async function walkZones(
  zones: readonly ZoneSummary[],
  before: ReadonlyMap<string, KnownZone> | undefined,
  now: Date,
  isWhole: boolean,
) {
  const present: StoredZone[] = [];
  const limits: Limit[] = [];
  const troubled: Troubled[] = [];
  const told = new Map(Object.keys(news).map((what) => [what, [] as Named[]]));
  const tell = (what: News, zone: Named): void => void told.get(what)?.push(zone);
  const missing = new Map(before);
  let attention = 0;
  for (const [index, zone] of zones.entries()) {
    if (index % 2_500 === 0) await yieldToEventLoop();
    const were = before?.get(zone.id)?.flags ?? [];
    const flags: Flag[] = attentionReasons(zone);
    if (flags.length > 0) attention += 1;
    const reached = findLimit(zone, now);
    const reaches = reached?.reaches?.toISOString();
    if (reached) {
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
    if (flags.length > 0) troubled.push({ zone, flags, why: explainFlags(zone, flags, reaches) });
    if (!missing.delete(zone.id)) tell('new', zone);
    for (const state of states) {
      const [was, is] = [were.includes(state), flags.includes(state)];
      // A line about its limit says more.
      const hasLine = state === 'near-limit' && reached !== undefined;
      if (is && !was && !hasLine) tell(`is ${state}`, { ...zone, name: nameFor(zone, state) });
      if (was && !is && !isUnreported[state]) tell(`was ${state}`, zone);
    }
  }
  // In a list that is not whole nobody knows whether they left.
  for (const zone of missing.values())
    if (isWhole) tell('gone', zone);
    else present.push([zone.id, zone.name, ...zone.flags]);
  const rank = ({ flags }: Troubled): number => urgency.findIndex((flag) => flags.includes(flag));
  return {
    present,
    attention,
    troubled: troubled.toSorted((a, b) => rank(a) - rank(b)),
    // New ones first, should there be too many; then the soonest.
    limits: limits
      .toSorted(
        (a, b) => Number(b.isNew) - Number(a.isNew) || ((a.reaches ?? '') < (b.reaches ?? '') ? -1 : 1),
      )
      .slice(0, mostLimits),
    changes: Object.entries(news).flatMap(([what, about]) => describeNews(told.get(what) ?? [], about)),
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

/** Floating-point noise would differ from run to run. */
function roundToCents<Sum extends number | undefined>(sum: Sum): Sum {
  return (sum === undefined ? undefined : Math.round(sum * 100) / 100) as Sum;
}

/** `Newly disabled: shop`; of several the number first: `*3* newly disabled: shop, docs and media`. */
function describeNews(
  zones: readonly Named[],
  [weight, sign, what]: readonly [number, string, string],
): Finding[] {
  if (zones.length === 0) return [];
  const words = zones.length > 1 ? `*${formatInteger(zones.length)}* ${what}` : capitalize(what);
  const names = { count: zones.length, first: zones.slice(0, maxNamed).map(toNamed) };
  return [{ weight, text: `${sign} ${words}`, names }];
}

/** `At this rate shop reaches its limit of 500 GB on 27 Nov`. */
function describeLimit({ used, limit, reaches, ...zone }: Limit): Finding {
  const name = `*${describeName(zone)}*`;
  const [weight, text] =
    reaches === undefined
      ? [0, `:rotating_light: ${name} reached its limit: ${formatBytes(used)} of ${formatBytes(limit)}`]
      : [
          3,
          `:hourglass: At this rate ${name} reaches its limit of ${formatBytes(limit)} on ${formatShortDay(reaches.slice(0, 10))}`,
        ];
  return { weight, text };
}

function describeMove(zone: ZoneSummary, perDay: Comparison | undefined): Finding[] {
  if (!perDay || !hasMoved(perDay, noise.bytes)) return [];
  const sign = isIncrease(perDay) ? ':chart_with_upwards_trend:' : ':chart_with_downwards_trend:';
  const name = describeName(toNamed(zone));
  return [{ weight: 5, text: `${sign} *${name}*: ${describeComparison(perDay, formatBytes, ' a day')}` }];
}

function tabulate(
  troubled: readonly Troubled[],
  busiest: readonly { readonly zone: ZoneSummary; readonly perDay: Comparison | undefined }[],
) {
  const ids = new Set(troubled.map(({ zone }) => zone.id));
  const rates = new Map(busiest.map(({ zone, perDay }) => [zone.id, perDay?.now]));
  const hasRates = [...rates.values()].some((rate) => rate !== undefined);
  const others = busiest.filter(({ zone }) => !ids.has(zone.id)).map(({ zone }) => ({ zone, why: '' }));
  const rows = [...troubled, ...others].slice(0, mostRows).map(({ zone, why }): Cell[] => {
    const { id, bandwidthUsed: used, bandwidthLimit: limit, isUnlimited } = zone;
    const hasState = zone.enabled !== undefined || zone.suspended;
    const hasLimit = limit !== undefined || isUnlimited;
    const rate = rates.get(id);
    return [
      flattenName(zone.name) || `zone ${id}`,
      why || (hasState ? '' : 'state not reported'),
      formatCell(used, formatBytes),
      limit !== undefined && limit > 0 && used !== undefined
        ? { number: Math.min(used / limit, 1e9), text: formatPercent(used, limit) }
        : { number: 0, text: hasLimit ? 'no limit' : 'not reported' },
      ...(hasRates
        ? [rate === undefined ? { number: -1, text: 'not known' } : formatCell(rate, formatBytes)]
        : []),
    ];
  });
  return { columns: ['Zone', 'Why', 'Month', 'Of limit', ...(hasRates ? ['Per day'] : [])], rows };
}
