import { findLimit, monthOf } from '../../../../../api/zones/bandwidth.ts';
import { dayMs } from '../../../../../lib/time.ts';
import { formatBytes, formatUtc, pluralize } from '../../../../../views/blocks/format.ts';
import type { Condition } from '../condition.ts';
import { type JudgeZone, lookAtZones, nameOf, showZone } from './look.ts';

/** A zone that reaches its monthly limit before the month ends, if the rest goes like the month so far. */
export const zoneForecast: Condition<'zone-forecast'> = {
  name: 'zone-forecast',
  label: 'Will reach its monthly limit',
  words: /forecast|will reach/iu,
  target: 'zones',
  leastEvery: 60,
  // Near the end of the month a forecast wavers around it.
  damping: { open: [2, 3], close: 3 },
  describe: () => 'a zone will reach its limit before the month ends',
  async evaluate(input) {
    const { now } = input;
    const { end } = monthOf(now);
    const judge: JudgeZone = (zone) => {
      const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
      if (limit === undefined) return [];
      const about = { name: nameOf(zone), wrongIf: 'reached before the month ends (UTC)' };
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
    const { wrong, highest: _, ...found } = await lookAtZones(input, judge, 'has no monthly limit');
    return { ...found, value: wrong };
  },
  formatValue: (zones) => pluralize(zones, 'zone'),
  unit: 'Zones',
  next: (part) => showZone(part, 'zones only:above-80'),
};
