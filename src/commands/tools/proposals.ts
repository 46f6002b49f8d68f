import { z } from 'zod';
import { variablePath } from '../../api/variables.ts';
import { UserError } from '../../errors.ts';
import { formatCode, stripMarkup } from '../../views/blocks/text.ts';
import { renderFormOffer } from '../../views/operations/approvals.ts';
import { describeState, nameInPlainText, waitsForRequester } from '../../views/operations/describe.ts';
import type { Context } from '../define.ts';
import { resolveAppToDelete } from '../names.ts';
import { type VariableRequest, variableUpdate } from '../operations/kinds/variable.ts';
import { volumeDeletion } from '../operations/kinds/volume.ts';
import type { Proposal } from '../operations/model.ts';
import { assertMayPropose, findApprovalNeeds } from '../operations/proposals.ts';
import { proposeByAssistant, sendFormByAssistant } from '../operations/propose.ts';
import { findTargetName } from '../operations/queries.ts';
import { writeFormButton } from '../operations/variables.ts';
import { loadPreview, volumeIds } from '../operations/volumes.ts';
import { listRequests, requestData, toRequest, toRequestData } from './requests.ts';
import { defineTool, type ToolAnswer, ToolRefusal } from './tool.ts';

const reason = z
  .string()
  .trim()
  .min(1)
  .max(400)
  .describe('Why, in one sentence; the people who decide read it');

type Answer = ToolAnswer<z.input<typeof requestData>>;

export const proposeVolumeDeletion = defineTool({
  name: 'propose_volume_deletion',
  command: 'volume',
  title: 'Ask to delete a volume',
  description:
    'Asks people to delete a volume of an app, every instance of it. Nothing is deleted by this call: others approve it, or ' +
    'the person confirms it in a direct message.',
  needs: 'destroy',
  proposes: 'destroys',
  input: z.object({
    app: z.string().trim().min(1).max(200).describe('Its id, or its name here'),
    volume: z.string().trim().min(1).max(200).describe('Its id'),
    reason,
  }),
  data: requestData,
  async run({ app, volume, reason }, context: Context, via) {
    await assertMayPropose(volumeDeletion, context);
    const appId = await resolveAppToDelete(app, context);
    const { data: ids } = volumeIds.safeParse({ appId, volumeId: volume });
    if (!ids)
      throw new UserError(
        `${formatCode(app, 60)} and ${formatCode(volume, 60)} cannot be the IDs of an app and a volume.`,
        'Name the IDs themselves.',
      );
    const { shown, needs } = await loadPreview(ids, context);
    return ask({ kind: volumeDeletion, request: ids, reason, snapshot: shown, ...needs, via }, context);
  },
});

const id = z.string().regex(/^\d{1,19}$/u);

export const proposeVariableChange = defineTool({
  name: 'propose_variable_change',
  command: 'variable',
  title: 'Ask to change a variable',
  description:
    'Asks people to change a variable of an edge script: whether it is required, or its value. A value never goes through ' +
    'an assistant: with new_value the person gets a form in a direct message and types it there.',
  needs: 'change',
  proposes: 'changes',
  input: z.object({
    script: z.string().trim().min(1).max(100).describe('Its id, or its name here'),
    variable: id.describe('Its id'),
    required: z.boolean().optional().describe('Whether the script needs it'),
    new_value: z.boolean().optional().describe('true: the person types a new value into a form'),
    reason,
  }),
  data: requestData,
  async run(
    { script, variable: variableId, required, new_value: hasNewValue = false, reason },
    context: Context,
    via,
  ) {
    await assertMayPropose(variableUpdate, context);
    const scriptId = id.safeParse(await context.names.resolve(context.person, 'script', script)).data;
    if (scriptId === undefined)
      throw new UserError(`No script is named ${formatCode(script, 60)} here.`, 'Name its ID.');
    if (required === undefined && !hasNewValue)
      throw new ToolRefusal('Nothing would change.', 'Say required, or new_value: true for a form.', [
        { new_value: true },
      ]);
    const request = { scriptId, variableId, required, setsValue: hasNewValue };
    const [snapshot, needs] = await Promise.all([
      variableUpdate.load(request, context),
      findApprovalNeeds(variableUpdate, context),
    ]);
    if (hasNewValue) return sendForm({ request, snapshot, minutes: needs.minutes, reason, via }, context);
    return ask({ kind: variableUpdate, request, reason, snapshot, ...needs, via }, context);
  },
});

async function ask(
  asked: Pick<Proposal, 'kind' | 'request' | 'reason' | 'snapshot' | 'policy' | 'approvers'> & {
    readonly via: string;
  },
  { ledger, person: requester, now, signal }: Context,
): Promise<Answer> {
  const startedAt = now();
  // A call that was stopped asks for nothing: its model was told so.
  signal.throwIfAborted();
  const operation = await proposeByAssistant(ledger, { ...asked, requester, channelId: undefined });
  const asks = operation.createdAt < startedAt ? 'Asked before' : 'Asked';
  const still = operation.state === 'proposed' ? ' Nothing was changed yet.' : '';
  const own = waitsForRequester(operation) ? ' They confirm it with the button that the bot sends them.' : '';
  return {
    summary: `${asks} to ${nameInPlainText(operation)}: ${describeState(operation)}.${still}${own}`,
    data: toRequestData(operation),
    next: [{ ...toRequest(operation), label: 'How it stands' }],
  };
}

/** Writes to the person with the button that opens the form. */
async function sendForm(
  asked: Pick<Proposal, 'snapshot'> & {
    readonly request: VariableRequest;
    readonly minutes: number;
    readonly reason: string;
    readonly via: string;
  },
  { ledger, person: requester, signal }: Context,
): Promise<Answer> {
  const { request, snapshot, minutes, reason, via } = asked;
  const what = variableUpdate.describe(request, { name: findTargetName(snapshot, undefined), snapshot });
  const message = renderFormOffer(
    { what, requester, reason, via },
    writeFormButton(request, { via, reason }),
  );
  const path = variablePath(request.scriptId, request.variableId);
  signal.throwIfAborted();
  const isNew = await sendFormByAssistant(ledger, { requester, path, message, minutes });
  return {
    summary: `The bot ${isNew ? 'writes' : 'has written'} to the person with a form to ${stripMarkup(what)}. Nothing was asked for yet.`,
    data: {
      request: null,
      what: stripMarkup(what),
      state: 'waits_for_you',
      outcome: null,
      approvals: { needed: 0, given: 0 },
      asked_at: null,
      expires_at: null,
    },
    next: [listRequests],
  };
}
