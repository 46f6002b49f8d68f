import type { Right } from '../auth/policy/policy.ts';
import { UserError } from '../errors.ts';
import { toUtcDay } from '../lib/time.ts';
import { hasCdnKey } from '../secrets/key-in-text.ts';
import { findSecretKinds } from '../secrets/scanner.ts';
import { formatCount } from '../views/blocks/format.ts';
import { formatCode } from '../views/blocks/text.ts';
import { byWorkflow } from '../views/operations/describe.ts';
import { describeAttention, describeErrors } from '../views/steps.ts';
import { everyZone } from '../views/zones/list.ts';
import type { Context } from './define.ts';
import { resolveAppToDelete } from './names.ts';
import { loadPreview, volumeDeletion, volumeIds } from './operations/kinds/volume.ts';
import { longestReason, proposeChange } from './operations/propose.ts';
import { limitPeriod } from './origin-errors/feature.ts';
import { createReport } from './origin-errors/read.ts';
import { findPeriod } from './periods.ts';
import { findZone } from './tools/tool.ts';
import { readAllZones } from './zones/lookup.ts';
import { selectZones } from './zones/query.ts';

type StepOutputs = Readonly<Record<string, string | number | undefined>>;

type StepEnd = { readonly outputs: StepOutputs } | 'with its operation';

/** A function in manifest.yml, which has what people see of it. */
export interface Step {
  /** Renaming it, an input or an output breaks the workflows that use it. */
  readonly id: string;
  /** A workflow has no channel, so no channel's cap applies. */
  readonly needs: Right;
  /** Titles by name. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly optional?: readonly string[];
  /** With the key of who runs the workflow; a UserError ends the step. `runId`: Slack's `function_execution_id`. */
  readonly run: (inputs: StepInputs, context: Context, runId: string) => Promise<StepEnd>;
}

type StepInputs = Readonly<Record<string, string>>;

/** @throws UserError for one that is empty, or looks like a key */
export function readInputs(
  { inputs, optional = [] }: Step,
  given: Readonly<Record<string, unknown>>,
): StepInputs {
  const read = Object.entries(inputs).flatMap(([name, title]) => {
    const value = given[name];
    const text = typeof value === 'string' ? value.trim() : '';
    if (hasCdnKey(text) || findSecretKinds(text).length > 0)
      throw new UserError(
        `The input “${title}” of this step looks like a CDN key, so nothing was done with it.`,
        'The workflow’s author can take it out: keys go into `/cdn connect` and nowhere else.',
      );
    if (text !== '' || optional.includes(name)) return text === '' ? [] : [[name, text] as const];
    throw new UserError(
      `The input “${title}” of this step is empty.`,
      'The workflow’s author can fill it in.',
    );
  });
  return Object.fromEntries(read);
}

/** Slack fills it in; authors of workflows see no such field. */
export const personInput = { name: 'person', type: 'slack#/types/user_context' } as const;

const zonesStep: Step = {
  id: 'zones_needing_attention',
  needs: 'read',
  inputs: {},
  async run(_, context) {
    const { zones, skipped } = await readAllZones(context);
    const { zones: found, unknown } = selectZones(zones, { ...everyZone, only: 'attention' });
    return { outputs: describeAttention(found, { all: zones.length, skipped, unknown }) };
  },
};

const originErrorsStep: Step = {
  id: 'origin_errors',
  needs: 'read',
  inputs: { zone: 'Zone', days: 'Days' },
  optional: ['days'],
  async run({ zone: typed = '', days: typedDays = 'today' }, context) {
    const clock = { now: context.now(), timeZone: 'UTC' };
    const typedPeriod = findPeriod(typedDays, clock);
    if (!typedPeriod)
      throw new UserError(
        `${formatCode(typedDays, 60)} is not a day I can read.`,
        'The workflow’s author can write `today`, `yesterday`, a day such as `2026-11-20`, or `last 3 days`.',
      );
    const zone = await findZone(typed, context);
    const period = limitPeriod(typedPeriod, clock);
    const report = await createReport({ zone, period, filters: {} }, context);
    return { outputs: describeErrors(report, toUtcDay(context.now())) };
  },
};

/** The ids are written by the workflow's author, so the approvers decide, or the person confirms. */
const deletionStep: Step = {
  id: 'delete_volume',
  needs: 'destroy',
  inputs: { app: 'App', volume: 'Volume', reason: 'Reason' },
  async run({ app = '', volume = '', reason = '' }, context, stepRun) {
    const appId = await resolveAppToDelete(app, context);
    const { data: request } = volumeIds.safeParse({ appId, volumeId: volume });
    if (!request)
      throw new UserError(
        `${formatCode(app, 60)} and ${formatCode(volume, 60)} cannot be the IDs of an app and a volume.`,
        'The workflow’s author can enter the right ones; `/cdn app` offers the apps.',
      );
    if (reason.length > longestReason)
      throw new UserError(
        `The reason is too long: at most ${formatCount(longestReason, 'character')}.`,
        'The workflow’s author can shorten it.',
      );
    const { needs, shown: snapshot } = await loadPreview(request, context);
    const { policy, approvers } = needs;
    const asked = { kind: volumeDeletion, request, reason, snapshot, policy, approvers };
    await proposeChange({ ...asked, stepRun, via: byWorkflow }, context);
    return 'with its operation';
  },
};

/** A new one is an object, a line here, and a function in manifest.yml. */
export const steps: readonly Step[] = [zonesStep, originErrorsStep, deletionStep];

export function findStep(id: string): Step | undefined {
  return steps.find((step) => step.id === id);
}
