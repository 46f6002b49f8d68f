import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { findLimit, monthOf } from '../../../api/zones/summary.ts';
import { UserError } from '../../../errors.ts';
import { dayMs, yieldToEventLoop } from '../../../lib/time.ts';
import { formatBytes, formatMoney, formatUtc, pluralize } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import type { ZoneList } from '../../zones/zone-cache.ts';
import type { Condition, Evidence, LookInput, Observation } from '../alerts/conditions/condition.ts';
import {
  assertListed,
  createNoneThereError,
  defineCondition,
  type JudgeInput,
  type JudgeSettings,
  listMissing,
  moreThan,
  nameZone,
  showZone,
  toNote,
} from './check.ts';

const mostParts = 50;
const mostEvidence = 30;

/** A figure of one zone against the condition. `severity` orders: the highest is the worst. */
interface ZoneFigure extends Evidence {
  readonly id?: string;
  readonly text?: string;
  readonly severity: number;
  readonly value?: number;
  /** The CDN did not report it: neither wrong nor fine. */
  readonly isUnknown?: boolean;
}

interface ZoneCondition<Name extends string>
  extends Omit<Condition<Name>, 'target' | 'describe' | 'evaluate' | 'next' | 'isEvent'> {
  readonly describe: (settings: JudgeSettings) => string;
  readonly judgeZone: (zone: ZoneSummary, input: JudgeInput) => readonly ZoneFigure[];
  readonly absent: string;
  /** What the chart draws: how many figures are wrong, or the highest value. */
  readonly charts: 'wrong' | 'highest';
  /** Zones to show as the next step where there are none. */
  readonly only: string;
}

function readZones({ account }: Pick<LookInput<unknown>, 'account'>): Promise<ZoneList> {
  return account.pullZones.all().then(assertListed);
}

function defineZoneCondition<Name extends string>(condition: ZoneCondition<Name>) {
  const { judgeZone, absent, charts, only, ...about } = condition;
  return defineCondition({
    ...about,
    target: 'zones',
    read: readZones,
    judge: (list: ZoneList, input: JudgeInput) => judgeZones(list, input, { judgeZone, absent, charts }),
    next: (part) => showZone(part, `zones only:${only}`),
  });
}

interface Found {
  readonly zone: ZoneSummary;
  readonly figure: ZoneFigure;
}

/**
 * Judges the chosen zones, or all: what is wrong, and the figures nearest to it. A chosen zone that is gone is not wrong.
 *
 * @throws UserError where no chosen zone is there, and where no figure is reported.
 */
async function judgeZones(
  { zones, skipped }: ZoneList,
  input: JudgeInput,
  { judgeZone, absent, charts }: Pick<ZoneCondition<string>, 'judgeZone' | 'absent' | 'charts'>,
): Promise<Observation> {
  const chosen = new Set(input.targets);
  const missing = new Set(chosen);
  const found: Found[] = [];
  const rest: Evidence[] = [];
  const unread: string[] = [];
  let [wrong, judged] = [0, 0];
  let highest: number | undefined;
  for (const [index, zone] of zones.entries()) {
    if (index % 2_500 === 0) await yieldToEventLoop();
    if (chosen.size > 0 && !missing.delete(zone.id)) continue;
    const figures = judgeZone(zone, input);
    if (chosen.size > 0 && figures.length === 0) rest.push(toNote(nameZone(zone), absent));
    for (const figure of figures) {
      if (figure.isUnknown) unread.push(figure.id ?? zone.id);
      else judged += 1;
      if (figure.isWrong) wrong += 1;
      if (figure.value !== undefined) highest = Math.max(highest ?? figure.value, figure.value);
      found.push({ zone, figure });
    }
    // Sorted now and then, so that fifty thousand zones are not kept.
    if (found.length > 4 * mostParts) keepWorst(found);
  }
  keepWorst(found);
  if (chosen.size > 0 && missing.size === chosen.size) throw createNoneThereError();
  if (unread.length > 0 && judged === 0)
    throw new UserError('The CDN did not report what this alert checks.', 'Look at the zone itself.');
  const [open, fine] = [true, false].map((isOpen) =>
    found.flatMap(({ figure: { name, is, wrongIf, isWrong, isUnknown = false } }): Evidence[] =>
      (isWrong || isUnknown) === isOpen ? [{ name: truncate(name, 60), is, wrongIf, isWrong }] : [],
    ),
  );
  return {
    value: charts === 'wrong' ? wrong : highest,
    // A zone of the list that could not be read may be a chosen one.
    unread: skipped > 0 ? [...unread, ...missing] : unread,
    parts: found.flatMap(({ zone, figure: { id = zone.id, name, is, text = is, isWrong, value } }) =>
      isWrong ? [{ id, name: truncate(name, 60), text, value }] : [],
    ),
    evidence: [...(open ?? []), ...listMissing(missing, skipped), ...(fine ?? []), ...rest].slice(
      0,
      mostEvidence,
    ),
  };
}

function keepWorst(found: Found[]): void {
  found.sort((a, b) => b.figure.severity - a.figure.severity || (a.figure.name < b.figure.name ? -1 : 1));
  found.splice(mostParts);
}

export const zoneState = defineZoneCondition({
  name: 'zone-state',
  label: 'Zone disabled or suspended',
  words: /disabled|suspended|\bstate/iu,
  damping: { open: [1, 1], close: 2 },
  describe: () => 'a zone is disabled or suspended',
  judgeZone(zone) {
    const { suspended = false, enabled } = zone;
    const about = { name: nameZone(zone), wrongIf: 'disabled or suspended' };
    if (suspended) return [{ ...about, is: 'suspended', isWrong: true, severity: 3 }];
    if (enabled === undefined)
      return [{ ...about, is: 'not reported', isWrong: false, isUnknown: true, severity: 1 }];
    return [
      { ...about, is: enabled ? 'delivers' : 'disabled', isWrong: !enabled, severity: enabled ? 0 : 2 },
    ];
  },
  absent: 'not reported',
  charts: 'wrong',
  formatValue: (zones) => pluralize(zones, 'zone'),
  unit: 'Zones',
  only: 'attention',
});

/** Judges the use of a zone that has a monthly limit. */
function judgeUse(
  zone: ZoneSummary,
  wrongIf: string,
  judge: (used: number, limit: number) => Omit<ZoneFigure, 'name' | 'wrongIf'>,
): readonly ZoneFigure[] {
  const { bandwidthUsed: used, bandwidthLimit: limit, isUnlimited = false } = zone;
  if (isUnlimited) return [];
  const about = { name: nameZone(zone), wrongIf };
  if (used !== undefined && limit !== undefined) return [{ ...about, ...judge(used, limit) }];
  const is = limit === undefined ? 'limit not reported' : `use not reported, of ${formatBytes(limit)}`;
  return [{ ...about, is, isWrong: false, isUnknown: true, severity: -1 }];
}

const ofLimits = { absent: 'has no monthly limit', only: 'above-80' } as const;

/** A zone that has used much of its monthly limit: at the limit the CDN disables it. */
export const zoneLimit = defineZoneCondition({
  ...ofLimits,
  name: 'zone-limit',
  label: 'Share of the monthly limit',
  words: /^(?!.*(?:forecast|will reach)).*\blimit/iu,
  threshold: {
    label: 'At least',
    unit: '% of the limit',
    initial: 90,
    least: 1,
    most: 100,
    hint: 'The CDN disables a zone that reaches its limit. Zones without a limit are not checked.',
  },
  damping: { open: [1, 1], close: 2 },
  describe: ({ threshold }) => `a zone has used ${threshold} % of its monthly limit`,
  judgeZone: (zone, { threshold }) =>
    judgeUse(zone, `${threshold} % or more`, (used, limit) => {
      // Rounded down, as everywhere: 100 % is reached.
      const share = Math.floor((used / limit) * 100);
      const amount = `${formatBytes(used)} of ${formatBytes(limit)}`;
      return {
        is: `${share} %: ${amount}`,
        text: `${share} % of its limit: ${amount}`,
        isWrong: share >= threshold,
        severity: used / limit,
        value: share,
      };
    }),
  charts: 'highest',
  formatValue: (share) => `${share} %`,
  unit: '% of the limit',
});

/** A zone that reaches its monthly limit before the month ends, if the rest goes like the month so far. */
export const zoneForecast = defineZoneCondition({
  ...ofLimits,
  name: 'zone-forecast',
  label: 'Will reach its monthly limit',
  words: /forecast|will reach/iu,
  leastEvery: 60,
  // Near the end of the month a forecast wavers around it.
  damping: { open: [2, 3], close: 3 },
  describe: () => 'a zone will reach its limit before the month ends',
  judgeZone: (zone, { now }) =>
    judgeUse(zone, 'reached before the month ends (UTC)', (used, limit) => {
      const amount = `${formatBytes(used)} of ${formatBytes(limit)}`;
      const found = findLimit(zone, now);
      if (!found) return { is: amount, isWrong: false, severity: used / limit };
      const { reaches = now } = found;
      const when = found.reaches ? `reaches its limit about ${formatUtc(reaches)}` : 'has reached it';
      const daysLeft = (monthOf(now).end - reaches.getTime()) / dayMs;
      return { is: `${when}: ${amount}`, isWrong: true, severity: 2 + daysLeft };
    }),
  charts: 'wrong',
  formatValue: (zones) => pluralize(zones, 'zone'),
  unit: 'Zones',
});

/** A hostname of the customer's own without a certificate: browsers refuse it. */
export const missingCertificates = defineZoneCondition({
  name: 'certificate-missing',
  label: 'Hostname without certificate',
  words: /^(?!.*(?:\bend|expir)).*certificate/iu,
  // A new hostname gets its certificate some minutes later.
  damping: { open: [3, 3], close: 2 },
  describe: () => 'a hostname has no certificate',
  judgeZone(zone) {
    const { hostnames, hostnamesWithoutCertificate: without } = zone;
    const wrongIf = 'a hostname without';
    if (without.length === 0 && hostnames.length > 0)
      return [{ name: nameZone(zone), is: 'each hostname has one', wrongIf, isWrong: false, severity: 0 }];
    const is = `no certificate (zone ${nameZone(zone)})`;
    return without.map((name) => ({
      id: `${zone.id}/${name}`,
      name,
      is,
      wrongIf,
      isWrong: true,
      severity: 1,
    }));
  },
  absent: 'has no hostname',
  charts: 'wrong',
  formatValue: (hostnames) => pluralize(hostnames, 'hostname'),
  unit: 'Hostnames',
  only: 'no-certificate',
});

const mostCharged = 20;

export const charges = defineCondition({
  name: 'charges',
  label: 'Charges this month',
  words: /charge|\bbill|\bspend/iu,
  target: 'zones',
  threshold: moreThan('dollars this month', 100),
  leastEvery: 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold }) => `more than ${formatMoney(threshold)} of charges this month`,
  read: readZones,
  judge({ zones: all, skipped }: ZoneList, { targets, threshold }: JudgeInput): Observation {
    const missing = new Set(targets);
    const zones = targets.length === 0 ? all : all.filter(({ id }) => missing.delete(id));
    if (targets.length > 0 && zones.length === 0) throw createNoneThereError();
    const reported = zones.flatMap((zone) =>
      zone.charges === undefined ? [] : [{ name: nameZone(zone), charges: zone.charges }],
    );
    const unreported = zones.length - reported.length;
    if (reported.length === 0 && unreported > 0)
      throw new UserError('The CDN reports no charges of these zones.', 'Check its control panel.');
    const sum = reported.reduce((total, zone) => total + zone.charges, 0);
    const [only] = targets.length === 1 ? zones : [];
    const name = only ? nameZone(only) : targets.length === 0 ? 'All zones' : pluralize(zones.length, 'zone');
    const amount = `${unreported > 0 ? 'at least ' : ''}${formatMoney(sum)} this month`;
    const isWrong = sum > threshold;
    const most = only ? [] : reported.toSorted((a, b) => b.charges - a.charges).slice(0, mostCharged);
    return {
      parts: isWrong ? [{ id: only?.id ?? 'all', name, text: amount, value: sum }] : [],
      value: sum,
      evidence: [
        { name, is: amount, wrongIf: `more than ${formatMoney(threshold)}`, isWrong },
        ...listMissing(missing, skipped).slice(0, 5),
        ...(unreported > 0 ? [toNote(pluralize(unreported, 'zone'), 'charges not reported')] : []),
        ...most.map((zone) => toNote(zone.name, formatMoney(zone.charges))),
      ],
    };
  },
  formatValue: (dollars) => formatMoney(dollars),
  unit: 'Dollars',
  next: (part) => showZone(part?.id === 'all' ? undefined : part, 'zones'),
});
