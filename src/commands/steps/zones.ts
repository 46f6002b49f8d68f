import { describeAttention } from '../../views/steps.ts';
import { everyZone } from '../../views/zones/query.ts';
import type { Context } from '../define.ts';
import { readAllZones } from '../zones/lookup.ts';
import { selectZones } from '../zones/query.ts';
import { defineStep } from './step.ts';

export const zonesStep = defineStep({
  id: 'zones_needing_attention',
  title: 'Find zones that need attention',
  description: 'Pull zones that are disabled, suspended, near their limit or without a certificate',
  needs: 'read',
  inputs: {},
  outputs: {
    count: { type: 'integer', title: 'Zones that need attention', description: 'How many, 0 or more' },
    zones: { type: 'integer', title: 'All zones', description: 'How many zones there are' },
    list: { type: 'string', title: 'List', description: 'A line for each: name, id and what it needs' },
    summary: { type: 'string', title: 'Summary', description: 'One sentence' },
  },
  async run(_, context: Context) {
    const { zones, skipped } = await readAllZones(context);
    const found = selectZones(zones, { ...everyZone, only: 'attention' });
    return { outputs: describeAttention(found, { all: zones.length, skipped }) };
  },
});
