import { pluralize } from '../../../../../views/blocks/format.ts';
import type { Condition } from '../condition.ts';
import { lookAtZones, nameOf, showZone } from './look.ts';

/** A zone that delivers nothing. */
export const zoneState: Condition<'zone-state'> = {
  name: 'zone-state',
  label: 'Zone disabled or suspended',
  words: /disabled|suspended|\bstate/iu,
  target: 'zones',
  damping: { open: [1, 1], close: 2 },
  describe: () => 'a zone is disabled or suspended',
  async evaluate(input) {
    const { wrong, ...found } = await lookAtZones(input, (zone) => {
      const { suspended = false, enabled } = zone;
      const state = suspended ? 'suspended' : enabled ? 'delivers' : enabled === false && 'disabled';
      const isWrong = state === 'suspended' || state === 'disabled';
      const text = state || 'not reported';
      return [
        {
          name: nameOf(zone),
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
};
