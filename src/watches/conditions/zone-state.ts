import type { Condition } from './condition.ts';
import { lookAtZones, nameOf } from './zones.ts';

/** A zone that delivers nothing. */
export const zoneState: Condition<'zone-state'> = {
  name: 'zone-state',
  label: 'Zone disabled or suspended',
  words: /disabled|suspended|\bstate/iu,
  target: 'zones',
  damping: { open: [1, 1], close: 2 },
  describe: () => 'a zone is disabled or suspended',
  async evaluate(input) {
    const { parts, evidence, wrong } = await lookAtZones(input, (zone) => {
      const state = zone.suspended === true ? 'suspended' : zone.enabled === false ? 'disabled' : 'delivers';
      const isWrong = state !== 'delivers';
      return {
        name: nameOf(zone),
        is: state,
        wrongIf: 'disabled or suspended',
        isWrong,
        text: state,
        severity: state === 'suspended' ? 2 : Number(isWrong),
      };
    });
    return { parts, evidence, value: wrong };
  },
  formatValue: (zones) => `${zones} ${zones === 1 ? 'zone' : 'zones'}`,
  unit: 'Zones',
  next: (part) => ({
    label: 'Show zone',
    command: part ? `zone ${part.id}` : 'zones only:attention',
  }),
};
