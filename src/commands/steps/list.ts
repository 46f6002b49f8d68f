import { UserError } from '../../errors.ts';
import { toUtcDay } from '../../lib/time.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { describeAttention, describeErrors } from '../../views/steps.ts';
import { everyZone } from '../../views/zones/query.ts';
import { toPeriod } from '../origin-errors/feature.ts';
import { createReport } from '../origin-errors/read.ts';
import { findPeriod } from '../periods.ts';
import { findZone } from '../tools/find-zone.ts';
import { readAllZones } from '../zones/lookup.ts';
import { selectZones } from '../zones/query.ts';
import { deletionStep } from './deletion.ts';
import { defineStep, type Step } from './step.ts';

const zonesStep = defineStep({
  id: 'zones_needing_attention',
  title: 'Find zones that need attention',
  description: 'Pull zones that are disabled, suspended, near their limit or without a certificate',
  needs: 'read',
  inputs: {},
  outputs: {
    count: { type: 'integer', title: 'Zones that need attention', description: 'How many, 0 or more' },
    zones: { type: 'integer', title: 'All zones', description: 'How many zones there are' },
    list: { type: 'string', title: 'List', description: 'A line for each: name, ID and what it needs' },
    summary: { type: 'string', title: 'Summary', description: 'One sentence' },
  },
  async run(_, context) {
    const { zones, skipped } = await readAllZones(context);
    const found = selectZones(zones, { ...everyZone, only: 'attention' });
    return { outputs: describeAttention(found, { all: zones.length, skipped }) };
  },
});

const originErrorsStep = defineStep({
  id: 'origin_errors',
  title: 'Count origin errors of a zone',
  description: 'How often the origin of a pull zone failed, and with which error most often',
  needs: 'read',
  inputs: {
    zone: { type: 'string', title: 'Zone', description: 'Its name, a hostname or its ID' },
    days: {
      type: 'string',
      title: 'Days',
      description: 'today, yesterday, 2026-11-20 or last 3 days (UTC); today if empty',
      optional: true,
    },
  },
  outputs: {
    count: { type: 'integer', title: 'Origin errors', description: 'How many, 0 or more' },
    code: {
      type: 'string',
      title: 'Most frequent error code',
      description: 'Not set where there is none',
      optional: true,
    },
    summary: { type: 'string', title: 'Summary', description: 'A few sentences' },
  },
  async run({ zone: typed, days: typedDays = 'today' }, context) {
    const clock = { now: context.now(), timeZone: 'UTC' };
    const typedPeriod = findPeriod(typedDays, clock);
    if (!typedPeriod)
      throw new UserError(
        `${formatCode(typedDays, 60)} is not a day I can read.`,
        'Whoever builds the workflow can write `today`, `yesterday`, a day such as `2026-11-20`, or `last 3 days`.',
      );
    const zone = await findZone(typed, context);
    const period = toPeriod(typedPeriod, clock);
    const report = await createReport({ zone, period, filters: {} }, context);
    return { outputs: describeErrors(report, toUtcDay(context.now())) };
  },
});

/** Every step of Workflow Builder. A new one is an object, a line here, and the same in manifest.yml. */
export const steps: readonly Step[] = [zonesStep, originErrorsStep, deletionStep];

export function findStep(id: string): Step | undefined {
  return steps.find((step) => step.id === id);
}
