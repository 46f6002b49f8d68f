import { UserError } from '../../errors.ts';
import { toUtcDay } from '../../lib/time.ts';
import { pluralize } from '../../views/blocks/format.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { describeErrors } from '../../views/steps.ts';
import type { UnclearZone } from '../../views/zones/rows.ts';
import type { Context } from '../define.ts';
import { toPeriod } from '../origin-errors/feature.ts';
import { createReport } from '../origin-errors/read.ts';
import { findPeriod } from '../periods.ts';
import { lookUpZone } from '../zones/lookup.ts';
import { defineStep } from './step.ts';

export const originErrorsStep = defineStep({
  id: 'origin_errors',
  title: 'Count origin errors of a zone',
  description: 'How often the origin of a pull zone failed, and with which error most often',
  needs: 'read',
  inputs: {
    zone: { type: 'string', title: 'Zone', description: 'Its name, a hostname or its id' },
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
  async run({ zone: typed, days: typedDays = 'today' }, context: Context) {
    const clock = { now: context.now(), timeZone: 'UTC' };
    const typedPeriod = findPeriod(typedDays, clock);
    if (!typedPeriod)
      throw new UserError(
        `${formatCode(typedDays, 60)} is no day that can be read.`,
        'Whoever builds the workflow can write `today`, `yesterday`, a day such as `2026-11-20`, or `last 3 days`.',
      );
    const found = await lookUpZone(typed, context);
    if (found.kind !== 'one') throw describeUnclear(found);
    const report = await createReport(
      { zone: found.zone, period: toPeriod(typedPeriod, clock), filters: {} },
      context,
    );
    return { outputs: describeErrors(report, toUtcDay(context.now())) };
  },
});

/** A step cannot ask back. */
function describeUnclear(found: UnclearZone): UserError {
  const names = found.kind === 'none' ? found.near : found.zones.map(({ name, id }) => name || id);
  const few = names.slice(0, 5).map((name) => formatCode(name, 60));
  return found.kind === 'none'
    ? new UserError(
        `No zone has the id, name or hostname ${formatCode(found.typed, 60)}.`,
        few.length > 0 ? `Near it: ${few.join(', ')}.` : '`/cdn zones` lists those your key sees.',
      )
    : new UserError(
        `${pluralize(found.zones.length, 'zone')} match ${formatCode(found.words, 60)}: ${few.join(', ')}${names.length > few.length ? ' …' : ''}`,
        'The step needs one: its whole name, a hostname or its id.',
      );
}
