import type { ZoneSummary } from '../../../../../api/zones/summary.ts';
import { UserError } from '../../../../../errors.ts';
import { formatMoney, pluralize } from '../../../../../views/blocks/format.ts';
import type { Condition } from '../condition.ts';
import { listMissing, nameOf, noneThere, showZone, toNote } from './look.ts';

const initial = 100;
const mostZones = 20;

/** Charges of this month so far, of the chosen zones or of all together. */
export const charges: Condition<'charges'> = {
  name: 'charges',
  label: 'Charges this month',
  words: /charge|\bbill|\bspend/iu,
  target: 'zones',
  threshold: { label: 'More than', unit: 'dollars this month', initial, least: 1, most: 1_000_000 },
  leastEvery: 60,
  damping: { open: [1, 1], close: 1 },
  describe: ({ threshold = initial }) => `more than ${formatMoney(threshold)} of charges this month`,
  async evaluate({ account, subject: { targets, threshold = initial } }) {
    const { zones: all, skipped } = await account.pullZones.all();
    const missing = new Set(targets);
    const zones = targets.length === 0 ? all : all.filter(({ id }) => missing.delete(id));
    if (targets.length > 0 && zones.length === 0) throw noneThere();
    const reported = zones.filter((zone) => zone.charges !== undefined);
    if (reported.length === 0 && zones.length > 0)
      throw new UserError('The CDN reports no charges of these zones.', 'Look at them in its control panel.');
    const sum = reported.reduce((total, zone) => total + chargesOf(zone), 0);
    const [only] = targets.length === 1 ? zones : [];
    const name = only ? nameOf(only) : targets.length === 0 ? 'All zones' : pluralize(zones.length, 'zone');
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
        ...most.map((zone) => toNote(nameOf(zone), formatMoney(chargesOf(zone)))),
      ],
    };
  },
  formatValue: (dollars) => formatMoney(dollars),
  unit: 'Dollars',
  next: (part) =>
    part && part.id !== 'all' ? showZone(part, 'zones') : { label: 'Show zones', command: 'zones' },
};

function chargesOf(zone: ZoneSummary): number {
  return zone.charges ?? 0;
}

function findMostCharged(zones: readonly ZoneSummary[]): ZoneSummary[] {
  return zones.toSorted((a, b) => chargesOf(b) - chargesOf(a)).slice(0, mostZones);
}
