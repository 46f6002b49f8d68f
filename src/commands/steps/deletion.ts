import { z } from 'zod';
import { UserError } from '../../errors.ts';
import { minuteMs } from '../../lib/time.ts';
import { say } from '../../views/blocks/blocks.ts';
import { formatCount } from '../../views/blocks/format.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { renderProposed, renderStepRequest, type StepRequest } from '../../views/operations/answers.ts';
import { describeUnconfirmed } from '../../views/steps.ts';
import type { Action, Context, Feature } from '../define.ts';
import { resolveAppToDelete } from '../names.ts';
import { longestReason } from '../operations/decide.ts';
import { volumeDeletion } from '../operations/kinds/volume.ts';
import { proposeChange } from '../operations/proposals.ts';
import { rejectStepRun } from '../operations/steps.ts';
import { loadPreview, volumeIds } from '../operations/volumes.ts';
import { defineStep } from './step.ts';

// The approvers see where it comes from: the requester has pressed a button of a workflow, and typed nothing.
const origin = 'By a workflow: ';

/**
 * Asks for a deletion in the name of the person who runs the workflow. The ids are written by its author, so nobody has
 * typed a confirmation: the approvers decide. Where the settings ask for none, the person confirms by a button.
 */
export const deletionStep = defineStep({
  id: 'delete_volume',
  title: 'Ask to delete a volume',
  description:
    'Asks for the deletion of a volume, every instance of it, and waits until it is decided and done',
  needs: 'destroy',
  inputs: {
    app: { type: 'string', title: 'App', description: 'The ID of the app, or its name here' },
    volume: { type: 'string', title: 'Volume', description: 'The ID of the volume' },
    reason: { type: 'string', title: 'Reason', description: 'The approvers read it' },
  },
  outputs: {
    outcome: {
      type: 'string',
      title: 'Outcome',
      description: 'deleted, denied, expired, cancelled, failed or unknown',
    },
    decided_by: {
      type: 'slack#/types/user_id',
      title: 'Decided by',
      description: 'Who decided last; not set where nobody did',
      optional: true,
    },
    reference: { type: 'string', title: 'Reference', description: 'The number of the request' },
    summary: { type: 'string', title: 'Summary', description: 'A few sentences' },
  },
  async run({ app, volume, reason }, context: Context, run) {
    const appId = await resolveAppToDelete(app, context);
    const ids = volumeIds.safeParse({ appId, volumeId: volume });
    if (!ids.success)
      throw new UserError(
        `${formatCode(app, 60)} and ${formatCode(volume, 60)} cannot be the IDs of an app and a volume.`,
        'Whoever builds the workflow can write in the right ones; `/cdn app` offers the apps.',
      );
    const asked = { ...ids.data, run, reason: `${origin}${reason}` };
    if (asked.reason.length > longestReason)
      throw new UserError(
        `The reason is too long: at most ${formatCount(longestReason - origin.length, 'character')}.`,
        'Whoever builds the workflow can shorten it.',
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
});

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

/** The buttons by which a person confirms a deletion that no approver has to. */
const confirmActions: readonly Action[] = [
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
      return say(`Not deleted: volume ${formatCode(asked.volumeId, 60)}. The workflow was told.`);
    },
  },
];

export const stepRequests: Feature = {
  name: 'steps',
  commands: [],
  actions: confirmActions,
};

const buttonSchema = volumeIds.extend({ run: z.string().min(1), reason: z.string().max(longestReason) });

function parseButton(value: string): StepRequest {
  try {
    return buttonSchema.parse(JSON.parse(value));
  } catch {
    throw new UserError('This button is from an older version of the bot.', 'Type `/cdn volume delete`.');
  }
}
