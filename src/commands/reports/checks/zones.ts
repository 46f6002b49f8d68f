import { findLimit, monthOf } from '../../../api/zones/bandwidth.ts';
import type { ZoneSummary } from '../../../api/zones/summary.ts';
import { UserError } from '../../../errors.ts';
import { dayMs, yieldToEventLoop } from '../../../lib/time.ts';
import { formatBytes, formatMoney, formatUtc, pluralize } from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import type { Evidence, LookInput, Observation, Part } from '../alerts/conditions/condition.ts';
import {
  createNoneThereError,
  defineCondition,
  type JudgeInput,
  listMissing,
  nameZone,
  showZone,
  toNote,
} from './check.ts';

interface ZoneList {
  readonly zones: readonly ZoneSummary[];
  /** Unreadable zones that are left out. */
  readonly skipped: number;
}

const initial = { limit: 90, charges: 100 } as const;

/** Bounds of what is stored of one check. */
const mostParts = 50;
const mostEvidence = 30;

/** A figure of one zone against the condition. `severity` orders: the highest is the worst. */
interface ZoneFigure extends Evidence {
  /** Of its part; the zone's by default. */
  readonly id?: string;
  readonly text: string;
  readonly severity: number;
  readonly value?: number | undefined;
  /** The CDN did not report it: neither wrong nor fine. */
  readonly isUnknown?: boolean;
}

type JudgeZone = (zone: ZoneSummary) => readonly ZoneFigure[];

interface ZoneVerdict {
  readonly parts: readonly Part[];
  readonly evidence: readonly Evidence[];
  readonly unread: readonly string[];
  /** How many figures are wrong. */
  readonly wrong: number;
  /** The highest value of all figures. */
  readonly highest: number | undefined;
}

interface Found {
  readonly zone: ZoneSummary;
  readonly figure: ZoneFigure;
}

/**
 * Judges the chosen zones, or all: what is wrong, and the figures nearest to it. `judge` returns nothing for a zone
 * that has no such figure; `absent` says so of a chosen one. A chosen zone that is gone is not wrong.
 *
 * @throws UserError where no chosen zone is there, and where no figure is reported.
 */
async function judgeZones(
  { zones, skipped }: ZoneList,
  targets: readonly string[],
  judge: JudgeZone,
  absent = 'not reported',
): Promise<ZoneVerdict> {
  const missing = new Set(targets);
  const isChosen = missing.size > 0;
  const found: Found[] = [];
  const rest: Evidence[] = [];
  const unread: string[] = [];
  let [wrong, judged] = [0, 0];
  let highest: number | undefined;
  for (const [index, zone] of zones.entries()) {
    if (index % 2_500 === 0) await yieldToEventLoop();
    if (isChosen && !missing.delete(zone.id)) continue;
    const figures = judge(zone);
    if (isChosen && figures.length === 0) rest.push(toNote(nameZone(zone), absent));
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
  if (isChosen && missing.size === new Set(targets).size) throw createNoneThereError();
  if (unread.length > 0 && judged === 0)
    throw new UserError('The CDN did not report what this alert checks.', 'Look at the zone itself.');
  const isOpen = ({ figure: { isWrong, isUnknown = false } }: Found) => isWrong || isUnknown;
  return {
    wrong,
    highest,
    // A zone of the list that could not be read may be a chosen one.
    unread: skipped > 0 ? [...unread, ...missing] : unread,
    parts: found.flatMap(({ zone, figure: { id = zone.id, name, isWrong, text, value } }) =>
      isWrong ? [{ id, name: truncate(name, 60), text, value }] : [],
    ),
    evidence: [
      ...found.filter(isOpen).map(toEvidence),
      ...listMissing(missing, skipped),
      ...found.filter((one) => !isOpen(one)).map(toEvidence),
      ...rest,
    ].slice(0, mostEvidence),
  };
}

function toEvidence({ figure: { name, is, wrongIf, isWrong } }: Found): Evidence {
  return { name: truncate(name, 60), is, wrongIf, isWrong };
}

function keepWorst(found: Found[]): void {
  found.sort((a, b) => b.figure.severity - a.figure.severity || (a.figure.name < b.figure.name ? -1 : 1));
  found.splice(mostParts);
}

const readZones = ({ account }: Pick<LookInput<unknown>, 'account'>): Promise<ZoneList> =>
  account.pullZones.all();

/** A zone that delivers nothing. */
export const zoneState = defineCondition({
  name: 'zone-state',
  label: 'Zone disabled or suspended',
  words: /disabled|suspended|\bstate/iu,
  target: 'zones',
  damping: { open: [1, 1], close: 2 },
  describe: () => 'a zone is disabled or suspended',
  read: readZones,
  async judge(list: ZoneList, input: JudgeInput): Promise<Observation> {
    const { wrong, ...found } = await judgeZones(list, input.subject.targets, (zone) => {
      const { suspended = false, enabled } = zone;
      const state = suspended ? 'suspended' : enabled ? 'delivers' : enabled === false && 'disabled';
      const isWrong = state === 'suspended' || state === 'disabled';
      const text = state || 'not reported';
      return [
        {
          name: nameZone(zone),
          is: text,
          wrongIf: 'disabled or suspended',
          isWrong,
          text,
          isUnknown: state === false,
          severity: suspended ? 3 : isWrong ? 2 : Number(state === false),
        },
      ];
    });
    return { ...found, value: wrong };
  },
  formatValue: (zones) => pluralize(zones, 'zone'),
  unit: 'Zones',
  next: (part) => showZone(part, 'zones only:attention'),
});

/** A zone that has used much of its monthly limit: at the limit the CDN disables it. */
export const zoneLimit = defineCondition({
  name: 'zone-limit',
  label: 'Share of the monthly limit',
  words: /^(?!.*(?:forecast|will reach)).*\blimit/iu,
  target: 'zones',
  threshold: {
    label: 'At least',
    unit: '% of the limit',
    initial: initial.limit,
    least: 1,
    most: 100,
    hint: 'The CDN disables a zone that reaches its limit. Zones without a limit are not looked at.',
  },
  damping: { open: [1, 1], close: 2 },
  describe: ({ threshold = initial.limit }) => `a zone has used ${threshold} % of its monthly limit`,
  read: readZones,
  async judge(list: ZoneList, input: JudgeInput): Promise<Observation> {
    const { threshold = initial.limit } = input.subject;
    const judge: JudgeZone = (zone) => {
      const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
      if (limit === undefined) return [];
      const about = { name: nameZone(zone), wrongIf: `${threshold} % or more` };
      const most = formatBytes(limit);
      if (used === undefined) {
        const text = `use not reported, of ${most}`;
        return [{ ...about, is: text, text, isWrong: false, isUnknown: true, severity: -1 }];
      }
      // Rounded down, as everywhere: 100 % is reached.
      const share = Math.floor((used / limit) * 100);
      const text = `${share} % of its limit: ${formatBytes(used)} of ${most}`;
      return [
        {
          ...about,
          is: `${share} %: ${formatBytes(used)} of ${most}`,
          text,
          isWrong: share >= threshold,
          severity: used / limit,
          value: share,
        },
      ];
    };
    const {
      wrong: _,
      highest,
      ...found
    } = await judgeZones(list, input.subject.targets, judge, 'has no monthly limit');
    return { ...found, value: highest };
  },
  formatValue: (share) => `${share} %`,
  unit: '% of the limit',
  next: (part) => showZone(part, 'zones only:above-80'),
});

/** A zone that reaches its monthly limit before the month ends, if the rest goes like the month so far. */
export const zoneForecast = defineCondition({
  name: 'zone-forecast',
  label: 'Will reach its monthly limit',
  words: /forecast|will reach/iu,
  target: 'zones',
  leastEvery: 60,
  // Near the end of the month a forecast wavers around it.
  damping: { open: [2, 3], close: 3 },
  describe: () => 'a zone will reach its limit before the month ends',
  read: readZones,
  async judge(list: ZoneList, input: JudgeInput): Promise<Observation> {
    const { now } = input;
    const { end } = monthOf(now);
    const judge: JudgeZone = (zone) => {
      const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
      if (limit === undefined) return [];
      const about = { name: nameZone(zone), wrongIf: 'reached before the month ends (UTC)' };
      if (used === undefined) {
        const text = `use not reported, of ${formatBytes(limit)}`;
        return [{ ...about, is: text, text, isWrong: false, isUnknown: true, severity: -1 }];
      }
      const amount = `${formatBytes(used)} of ${formatBytes(limit)}`;
      const reached = findLimit(zone, now);
      const days = reached?.reaches ? (reached.reaches.getTime() - now.getTime()) / dayMs : 0;
      const when = reached?.reaches
        ? `reaches its limit about ${formatUtc(reached.reaches)}`
        : 'has reached it';
      const text = reached ? `${when}: ${amount}` : amount;
      const severity = reached ? 2 + (end - now.getTime()) / dayMs - days : used / limit;
      return [{ ...about, is: text, text, isWrong: reached !== undefined, severity }];
    };
    const {
      wrong,
      highest: _,
      ...found
    } = await judgeZones(list, input.subject.targets, judge, 'has no monthly limit');
    return { ...found, value: wrong };
  },
  formatValue: (zones) => pluralize(zones, 'zone'),
  unit: 'Zones',
  next: (part) => showZone(part, 'zones only:above-80'),
});

/** A hostname of the customer's own without a certificate: browsers refuse it. */
export const missingCertificates = defineCondition({
  name: 'certificate-missing',
  label: 'Hostname without certificate',
  words: /^(?!.*(?:\bend|expir)).*certificate/iu,
  target: 'zones',
  // A new hostname gets its certificate some minutes later.
  damping: { open: [3, 3], close: 2 },
  describe: () => 'a hostname has no certificate',
  read: readZones,
  async judge(list: ZoneList, input: JudgeInput): Promise<Observation> {
    const {
      wrong,
      highest: _,
      ...found
    } = await judgeZones(list, input.subject.targets, judgeHostnames, 'has no hostname');
    return { ...found, value: wrong };
  },
  formatValue: (hostnames) => pluralize(hostnames, 'hostname'),
  unit: 'Hostnames',
  next: (part) => showZone(part, 'zones only:no-certificate'),
});

const judgeHostnames: JudgeZone = (zone) => {
  const { hostnames, hostnamesWithoutCertificate: without } = zone;
  const wrongIf = 'a hostname without';
  if (without.length === 0 && hostnames.length > 0) {
    const is = 'each hostname has one';
    return [{ name: nameZone(zone), is, wrongIf, isWrong: false, text: is, severity: 0 }];
  }
  return without.map((hostname) => {
    const text = `no certificate (zone ${nameZone(zone)})`;
    const id = `${zone.id}/${hostname}`;
    return { id, name: hostname, is: text, wrongIf, isWrong: true, text, severity: 1 };
  });
};

const mostZones = 20;

/** Charges of this month so far, of the chosen zones or of all together. */
export const charges = defineCondition({
  name: 'charges',
  label: 'Charges this month',
  words: /charge|\bbill|\bspend/iu,
  target: 'zones',
  threshold: {
    label: 'More than',
    unit: 'dollars this month',
    initial: initial.charges,
    least: 1,
    most: 1_000_000,
  },
  leastEvery: 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold = initial.charges }) => `more than ${formatMoney(threshold)} of charges this month`,
  read: readZones,
  judge({ zones: all, skipped }: ZoneList, { subject }: JudgeInput): Observation {
    const { targets, threshold = initial.charges } = subject;
    const missing = new Set(targets);
    const zones = targets.length === 0 ? all : all.filter(({ id }) => missing.delete(id));
    if (targets.length > 0 && zones.length === 0) throw createNoneThereError();
    const reported = zones.filter((zone) => zone.charges !== undefined);
    if (reported.length === 0 && zones.length > 0)
      throw new UserError('The CDN reports no charges of these zones.', 'Look at them in its control panel.');
    const sum = reported.reduce((total, zone) => total + chargesOf(zone), 0);
    const [only] = targets.length === 1 ? zones : [];
    const name = only ? nameZone(only) : targets.length === 0 ? 'All zones' : pluralize(zones.length, 'zone');
    const unreported = zones.length - reported.length;
    const amount = `${unreported > 0 ? 'at least ' : ''}${formatMoney(sum)} this month`;
    const isWrong = sum > threshold;
    const most = only ? [] : findMostCharged(reported);
    return {
      parts: isWrong ? [{ id: only?.id ?? 'all', name, text: amount, value: sum }] : [],
      value: sum,
      evidence: [
        { name, is: amount, wrongIf: `more than ${formatMoney(threshold)}`, isWrong },
        ...listMissing(missing, skipped).slice(0, 5),
        ...(unreported > 0 ? [toNote(pluralize(unreported, 'zone'), 'charges not reported')] : []),
        ...most.map((zone) => toNote(nameZone(zone), formatMoney(chargesOf(zone)))),
      ],
    };
  },
  formatValue: (dollars) => formatMoney(dollars),
  unit: 'Dollars',
  next: (part) =>
    part && part.id !== 'all' ? showZone(part, 'zones') : { label: 'Show zones', command: 'zones' },
});

function chargesOf(zone: ZoneSummary): number {
  return zone.charges ?? 0;
}

function findMostCharged(zones: readonly ZoneSummary[]): ZoneSummary[] {
  return zones.toSorted((a, b) => chargesOf(b) - chargesOf(a)).slice(0, mostZones);
}
