import { z } from 'zod';
import type { Right } from '../auth/policy/policy.ts';
import { UserError } from '../errors.ts';
import { parseJson } from '../lib/canonical-json.ts';
import { minuteMs, toUtcDay } from '../lib/time.ts';
import { hasCdnKey } from '../secrets/key-in-text.ts';
import { findSecretKinds } from '../secrets/scanner.ts';
import { say } from '../views/blocks/blocks.ts';
import { formatCount } from '../views/blocks/format.ts';
import { formatCode } from '../views/blocks/text.ts';
import { renderProposed, renderStepRequest, type StepRequest } from '../views/operations/approvals.ts';
import { describeAttention, describeErrors, describeUnconfirmed } from '../views/steps.ts';
import { everyZone } from '../views/zones/list.ts';
import type { Context, Feature } from './define.ts';
import { resolveAppToDelete } from './names.ts';
import { loadPreview, volumeDeletion, volumeIds } from './operations/kinds/volume.ts';
import { rejectStepRun } from './operations/messages.ts';
import { longestReason, proposeChange } from './operations/propose.ts';
import { limitPeriod } from './origin-errors/feature.ts';
import { createReport } from './origin-errors/read.ts';
import { findPeriod } from './periods.ts';
import { findZone } from './tools/tool.ts';
import { readAllZones } from './zones/lookup.ts';
import { selectZones } from './zones/query.ts';

type StepOutputs = Readonly<Record<string, string | number | undefined>>;

/**
 * `late`: where nobody pressed a button `until` then. `ask` sends it after `late` is stored, so that a press counts.
 */
type StepEnd =
  | { readonly outputs: StepOutputs }
  | 'with its operation'
  | { readonly until: Date; readonly late: StepOutputs; readonly ask: () => Promise<void> };

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
    const found = selectZones(zones, { ...everyZone, only: 'attention' });
    return { outputs: describeAttention(found, { all: zones.length, skipped }) };
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

// Approvers see it: the requester pressed a button and typed nothing.
const origin = 'By a workflow: ';

/** The ids are written by the workflow's author, so the approvers decide, or the person confirms by a button. */
const deletionStep: Step = {
  id: 'delete_volume',
  needs: 'destroy',
  inputs: { app: 'App', volume: 'Volume', reason: 'Reason' },
  async run({ app = '', volume = '', reason = '' }, context, run) {
    const appId = await resolveAppToDelete(app, context);
    const ids = volumeIds.safeParse({ appId, volumeId: volume });
    if (!ids.success)
      throw new UserError(
        `${formatCode(app, 60)} and ${formatCode(volume, 60)} cannot be the IDs of an app and a volume.`,
        'The workflow’s author can write in the right ones; `/cdn app` offers the apps.',
      );
    const asked = { ...ids.data, run, reason: `${origin}${reason}` };
    if (asked.reason.length > longestReason)
      throw new UserError(
        `The reason is too long: at most ${formatCount(longestReason - origin.length, 'character')}.`,
        'The workflow’s author can shorten it.',
      );
    const preview = await loadPreview(asked, context);
    if (preview.needs.needed > 0) {
      await propose(asked, preview, context);
      return 'with its operation';
    }
    const until = new Date(context.now().getTime() + preview.needs.minutes * minuteMs);
    const question = renderStepRequest(asked, preview.shown, until);
    return {
      until,
      late: describeUnconfirmed('expired', asked),
      async ask() {
        if (await context.post(context.person.userId, question)) return;
        throw new UserError(
          'The bot could not write to you, and you have to confirm a deletion.',
          'Nothing was asked for. Run the workflow again, or type `/cdn volume delete`.',
        );
      },
    };
  },
};

function propose(
  { run, reason, ...ids }: StepRequest,
  { needs: { policy, approvers }, shown }: Awaited<ReturnType<typeof loadPreview>>,
  context: Context,
) {
  return proposeChange(
    { kind: volumeDeletion, request: ids, reason, snapshot: shown, policy, approvers, stepRun: run },
    context,
  );
}

export const stepRequests: Feature = {
  name: 'steps',
  commands: [],
  actions: [
    {
      id: 'steps:confirm',
      needs: 'destroy',
      changesHome: true,
      async run(value, context) {
        const asked = parseButton(value);
        return renderProposed(await propose(asked, await loadPreview(asked, context), context));
      },
    },
    {
      id: 'steps:reject',
      needs: 'none',
      async run(value, { ledger, person }) {
        const asked = parseButton(value);
        await rejectStepRun(ledger, asked.run, person, describeUnconfirmed('cancelled', asked));
        return say(`Not deleted: volume ${formatCode(asked.volumeId, 60)}. The workflow was notified.`);
      },
    },
  ],
};

const buttonSchema = volumeIds.extend({ run: z.string().min(1), reason: z.string().max(longestReason) });

function parseButton(value: string): StepRequest {
  const { data } = buttonSchema.safeParse(parseJson(value));
  if (data) return data;
  throw new UserError('This button is from an older version of the bot.', 'Type `/cdn volume delete`.');
}

/** A new one is an object, a line here, and a function in manifest.yml. */
export const steps: readonly Step[] = [zonesStep, originErrorsStep, deletionStep];

export function findStep(id: string): Step | undefined {
  return steps.find((step) => step.id === id);
}
