import { formatBytes } from '../../../../../views/blocks/format.ts';
import type { Condition } from '../condition.ts';
import { type JudgeZone, lookAtZones, nameOf, showZone } from './look.ts';

const initial = 90;

/** A zone that has used much of its monthly limit: at the limit the CDN disables it. */
export const zoneLimit: Condition<'zone-limit'> = {
  name: 'zone-limit',
  label: 'Share of the monthly limit',
  words: /^(?!.*(?:forecast|will reach)).*\blimit/iu,
  target: 'zones',
  threshold: {
    label: 'At least',
    unit: '% of the limit',
    initial,
    least: 1,
    most: 100,
    hint: 'The CDN disables a zone that reaches its limit. Zones without a limit are not looked at.',
  },
  damping: { open: [1, 1], close: 2 },
  describe: ({ threshold = initial }) => `a zone has used ${threshold} % of its monthly limit`,
  async evaluate(input) {
    const { threshold = initial } = input.subject;
    const judge: JudgeZone = (zone) => {
      const { bandwidthUsed: used, bandwidthLimit: limit } = zone;
      if (limit === undefined) return [];
      const about = { name: nameOf(zone), wrongIf: `${threshold} % or more` };
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
    const { wrong: _, highest, ...found } = await lookAtZones(input, judge, 'has no monthly limit');
    return { ...found, value: highest };
  },
  formatValue: (share) => `${share} %`,
  unit: '% of the limit',
  next: (part) => showZone(part, 'zones only:above-80'),
};
