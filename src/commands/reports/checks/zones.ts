import { findLimit, monthOf, type ZoneSummary } from '../../../api/zones/summary.ts';
import { UserError } from '../../../errors.ts';
import { dayMs, toUtcDay, yieldToEventLoop } from '../../../lib/time.ts';
import {
  formatBytes,
  formatCount,
  formatMoney,
  formatShortDay,
  formatUtc,
  pluralize,
} from '../../../views/blocks/format.ts';
import { truncate } from '../../../views/blocks/text.ts';
import type { ConditionSettings } from '../../../views/reports/report.ts';
import type { ZoneList } from '../../zones/zone-cache.ts';
import {
  assertListed,
  type CheckInput,
  type Condition,
  createIsGone,
  createNoneThereError,
  defineCondition,
  type Judged,
  listMissing,
  moreThan,
  nameZone,
  type Observation,
  observe,
  showZone,
  toFact,
  toNote,
} from './check.ts';

/** A figure of one zone. `severity` orders: the highest is the worst. Without `name` and `id` it has the zone's. */
type ZoneFigure = Partial<Judged> & Pick<Judged, 'is' | 'isWrong'> & { readonly severity: number };

type ZoneCondition<Name extends string> = Omit<Condition<Name>, 'target' | 'check' | 'next'> & {
  readonly judgeZone: (zone: ZoneSummary, input: CheckInput) => readonly ZoneFigure[];
  readonly wrongIf: (settings: ConditionSettings) => string;
  /** Zones to show as the next step if empty. */
  readonly only: string;
};

function readZones({ account }: CheckInput): Promise<ZoneList> {
  return account.pullZones.all().then(assertListed);
}

function defineZoneCondition<Name extends string>(condition: ZoneCondition<Name>) {
  return defineCondition({
    ...condition,
    target: 'zones',
    check: (input) => checkZones(input, condition),
    next: (part) => showZone(part, `zones only:${condition.only}`),
  });
}

/** A chosen zone that is gone is not wrong. @throws UserError where none is there, and where no figure is reported. */
async function checkZones(
  input: CheckInput,
  { judgeZone, wrongIf, threshold }: ZoneCondition<string>,
): Promise<Observation> {
  const { zones, skipped } = await readZones(input);
  const chosen = new Set(input.targets);
  const missing = new Set(chosen);
  const found: (Judged & ZoneFigure)[] = [];
  for (const [index, zone] of zones.entries()) {
    if (index % 2_500 === 0) await yieldToEventLoop();
    if (chosen.size > 0 && !missing.delete(zone.id)) continue;
    for (const figure of judgeZone(zone, input)) {
      const { id = zone.id, name = nameZone(zone) } = figure;
      found.push({ ...figure, id, name: truncate(name, 60), wrongIf: wrongIf(input) });
    }
  }
  found.sort((a, b) => b.severity - a.severity || (a.name < b.name ? -1 : 1));
  const unread = found.flatMap(({ id, isWrong }) => (isWrong === undefined ? id : []));
  if (chosen.size > 0 && missing.size === chosen.size) throw createNoneThereError(skipped);
  if (unread.length > 0 && unread.length === found.length)
    throw new UserError('The CDN did not report what this alert checks.', 'Check the zone itself.');
  const highest = found.find(({ value }) => value !== undefined)?.value;
  return observe(found, {
    value: threshold ? highest : found.filter(({ isWrong }) => isWrong).length,
    isUnlisted(part) {
      const [id = ''] = part.split('/', 1);
      return unread.includes(id) || (skipped > 0 && !zones.some((zone) => zone.id === id));
    },
    isGone: createIsGone({ zones, skipped }),
    notes: listMissing(missing, skipped),
  });
}

const countsZones = {
  formatValue: (zones: number) => pluralize(zones, 'zone'),
  unit: 'Zones',
} as const;

export const zoneState = defineZoneCondition({
  ...countsZones,
  name: 'zone-state',
  label: 'Zone disabled or suspended',
  words: /disabled|suspended|\bstate/iu,
  damping: { open: [1, 1], close: 2 },
  describe: () => 'a zone is disabled or suspended',
  wrongIf: () => 'disabled or suspended',
  judgeZone({ suspended, enabled }): readonly ZoneFigure[] {
    if (suspended) return [{ is: 'suspended', isWrong: true, severity: 3 }];
    if (enabled === false) return [{ is: 'disabled', isWrong: true, severity: 2 }];
    if (enabled && suspended === false) return [{ is: 'delivers', isWrong: false, severity: 0 }];
    const is = enabled ? 'enabled, suspended not reported' : 'not reported';
    return [{ is, isWrong: undefined, severity: 1 }];
  },
  only: 'attention',
});

function judgeUse(
  { bandwidthUsed: used, bandwidthLimit: limit, isUnlimited }: ZoneSummary,
  judge: (used: number, limit: number, amount: string) => ZoneFigure,
): readonly ZoneFigure[] {
  if (isUnlimited) return [];
  if (used !== undefined && limit !== undefined)
    return [judge(used, limit, `${formatBytes(used)} of ${formatBytes(limit)}`)];
  const is = limit === undefined ? 'limit not reported' : `usage not reported, limit ${formatBytes(limit)}`;
  return [{ is, isWrong: undefined, severity: -1 }];
}

export const zoneLimit = defineZoneCondition({
  only: 'above-80',
  name: 'zone-limit',
  label: 'Share of the monthly limit',
  words: /\blimit|quota|bandwidth|traffic/iu,
  threshold: {
    label: 'At least',
    unit: '% of the limit',
    initial: 90,
    least: 1,
    most: 100,
    hint: 'The CDN disables a zone that reaches its limit. Zones without a limit are not checked.',
  },
  damping: { open: [1, 1], close: 2 },
  describe: ({ threshold }) => `a zone has used ${threshold}% of its monthly limit`,
  wrongIf: ({ threshold }) => `${threshold}% or more`,
  judgeZone: (zone, { threshold }) =>
    judgeUse(zone, (used, limit, amount) => {
      // Rounded down, as everywhere: 100% is reached.
      const share = Math.floor((used / limit) * 100);
      return {
        is: `${share}%: ${amount}`,
        text: `${share}% of its limit: ${amount}`,
        isWrong: share >= threshold,
        severity: used / limit,
        value: share,
      };
    }),
  formatValue: (share) => `${share}%`,
  unit: '% of the limit',
});

export const zoneForecast = defineZoneCondition({
  only: 'above-80',
  ...countsZones,
  name: 'zone-forecast',
  label: 'Will reach its monthly limit',
  words: /forecast|will (?:be )?reach/iu,
  leastEvery: 60,
  // Near the end of the month a forecast wavers around it.
  damping: { open: [2, 3], close: 3 },
  describe: () => 'a zone will reach its limit before the month ends',
  wrongIf: () => 'reached before the month ends (UTC)',
  judgeZone: (zone, { now }) =>
    judgeUse(zone, (used, limit, amount) => {
      const found = findLimit(zone, now);
      if (!found) return { is: amount, isWrong: false, severity: used / limit };
      const { reaches = now } = found;
      const when = found.reaches ? `reaches its limit about ${formatUtc(reaches)}` : 'has reached it';
      const daysLeft = (monthOf(now).end - reaches.getTime()) / dayMs;
      return { is: `${when}: ${amount}`, isWrong: true, severity: 2 + daysLeft };
    }),
});

/** A hostname of the customer's own without a certificate: browsers refuse it. */
export const missingCertificates = defineZoneCondition({
  name: 'certificate-missing',
  label: 'Hostname without certificate',
  words: /certificate|\b(?:certs?|ssl)\b/iu,
  // A new hostname gets its certificate some minutes later.
  damping: { open: [3, 3], close: 2 },
  describe: () => 'a hostname has no certificate',
  wrongIf: () => 'a hostname without',
  judgeZone(zone) {
    const { hostnames, hostnamesWithoutCertificate: without, isCertificateUnreported } = zone;
    if (without.length === 0 && !isCertificateUnreported && hostnames.length > 0)
      return [{ is: 'each hostname has one', isWrong: false, severity: 0 }];
    const wrong = { is: `no certificate (zone ${nameZone(zone)})`, isWrong: true, severity: 1 };
    const missing = without.map((name) => ({ ...wrong, id: `${zone.id}/${name}`, name }));
    const unreported = { is: 'certificates not reported', isWrong: undefined, severity: 0.5 };
    return isCertificateUnreported ? [...missing, unreported] : missing;
  },
  formatValue: (hostnames) => pluralize(hostnames, 'hostname'),
  unit: 'Hostnames',
  only: 'no-certificate',
});

export const charges = defineCondition({
  name: 'charges',
  label: 'Charges this month',
  words: /charge|invoice|\bbill|\bspend/iu,
  target: 'zones',
  threshold: moreThan('dollars this month', 100),
  leastEvery: 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold }) => `more than ${formatMoney(threshold)} of charges this month`,
  async check(input) {
    const { targets, threshold } = input;
    const { zones: all, skipped } = await readZones(input);
    const missing = new Set(targets);
    const zones = targets.length === 0 ? all : all.filter(({ id }) => missing.delete(id));
    if (targets.length > 0 && zones.length === 0) throw createNoneThereError(skipped);
    const reported = zones.flatMap((zone) =>
      zone.charges === undefined ? [] : [{ name: nameZone(zone), charges: zone.charges }],
    );
    const unreported = zones.length - reported.length;
    if (reported.length === 0 && unreported > 0)
      throw new UserError('The CDN reports no charges of these zones.', 'Check its control panel.');
    const value = reported.reduce((total, zone) => total + zone.charges, 0);
    const [only] = targets.length === 1 ? zones : [];
    const sum = {
      id: only?.id ?? 'all',
      name: only ? nameZone(only) : targets.length === 0 ? 'All zones' : pluralize(zones.length, 'zone'),
      is: `${unreported > 0 ? 'at least ' : ''}${formatMoney(value)} this month`,
      wrongIf: `more than ${formatMoney(threshold)}`,
      isWrong: value > threshold,
      value,
    };
    const most = only ? [] : reported.toSorted((a, b) => b.charges - a.charges);
    return observe([sum], {
      value,
      unread: !sum.isWrong && (unreported > 0 || skipped > 0) ? [sum.id] : [],
      notes: [
        ...listMissing(missing, skipped).slice(0, 3),
        ...(unreported > 0 ? [toNote(pluralize(unreported, 'zone'), 'charges not reported')] : []),
        ...most.map((zone) => toFact(zone.name, formatMoney(zone.charges))),
      ],
    });
  },
  formatValue: (dollars) => formatMoney(dollars),
  unit: 'Dollars',
  next: (part) => showZone(part?.id === 'all' ? undefined : part, 'zones'),
});

export const endingCertificates = defineCondition({
  name: 'certificate-ending',
  label: 'Certificate expires soon',
  words: /\bend(?:s|ing)?\b|expir/iu,
  target: 'zones',
  threshold: {
    label: 'Expires within',
    unit: 'days',
    initial: 14,
    least: 1,
    most: 90,
    hint: 'Once a day. The CDN’s answer carries private keys too: the bot drops them unread.',
  },
  leastEvery: 24 * 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold }) => `a certificate expires within ${formatCount(threshold, 'day')}`,
  async check({ account, targets, threshold, now }) {
    const { zones, skipped } = await account.pullZones.all();
    const names = new Map(zones.map((zone) => [zone.id, nameZone(zone)]));
    if (targets.length > 0 && !targets.some((id) => names.has(id))) throw createNoneThereError(skipped);
    const all = await account.pullZones.certificates();
    const certificates = all.filter(({ zoneId }) => targets.length === 0 || targets.includes(zoneId));
    const found = certificates
      .flatMap(({ endsAt, ...one }) => (endsAt ? [{ ...one, endsAt }] : []))
      .toSorted((a, b) => a.endsAt.getTime() - b.endsAt.getTime())
      .map(({ zoneId, hostname, endsAt }) => {
        const days = (endsAt.getTime() - now.getTime()) / dayMs;
        const is = describeEnd(endsAt, days);
        return {
          id: `${zoneId}/${hostname}`,
          name: truncate(hostname, 60),
          is,
          text: `certificate ${is} (zone ${names.get(zoneId) ?? zoneId})`,
          wrongIf: `in ${formatCount(threshold, 'day')} or less`,
          isWrong: days <= threshold,
        };
      });
    if (found.length === 0)
      throw new UserError(
        'The CDN reports no readable expiry date for any certificate of these zones.',
        'Edit the alert to choose other zones.',
      );
    const unreadable = certificates.filter(({ endsAt }) => !endsAt);
    const unreported = zones.flatMap(({ id, isCertificateUnreported }) =>
      isCertificateUnreported && (targets.length === 0 || targets.includes(id)) ? [id] : [],
    );
    const without = targets.filter(
      (id) => names.has(id) && !unreported.includes(id) && !certificates.some(({ zoneId }) => zoneId === id),
    );
    return observe(found, {
      unread: unreadable.map(({ zoneId, hostname }) => `${zoneId}/${hostname}`),
      isUnlisted(id) {
        const [zoneId = ''] = id.split('/', 1);
        if (unreported.includes(zoneId)) return !found.some((one) => one.id === id);
        return skipped > 0 && !names.has(zoneId);
      },
      isGone: createIsGone({ zones, skipped }),
      notes: [
        ...listMissing(
          targets.filter((id) => !names.has(id)),
          skipped,
        ),
        ...unreadable.map(({ hostname }) => toNote(truncate(hostname, 60), 'its expiry date is unreadable')),
        ...unreported.map((id) => toNote(names.get(id) ?? id, 'certificates not reported')),
        ...without.map((id) => toNote(names.get(id) ?? id, 'the CDN reports no certificate for it')),
      ],
    });
  },
  next: (part) => showZone(part, 'zones only:no-certificate'),
});

/** `expires in 10 days, on 3 Dec`, whole days, rounded down. */
function describeEnd(endsAt: Date, days: number): string {
  const day = toUtcDay(endsAt);
  if (days < 0) return `expired on ${day}`;
  const left = days < 1 ? 'less than a day' : formatCount(Math.floor(days), 'day');
  return `expires in ${left}, on ${formatShortDay(day)}`;
}
