import { z } from 'zod';
import { UserError } from '../../errors.ts';
import { actions, say } from '../../views/blocks/blocks.ts';
import { commandButton } from '../../views/blocks/buttons.ts';
import { formatCode } from '../../views/blocks/text.ts';
import { describeState, nameInPlainText, waitsForRequester } from '../../views/operations/describe.ts';
import type { Context } from '../define.ts';
import { resolveAppToDelete } from '../names.ts';
import { variableUpdate } from '../operations/kinds/variable.ts';
import { volumeDeletion } from '../operations/kinds/volume.ts';
import type { Operation, Proposal } from '../operations/model.ts';
import { assertMayPropose, findApprovalNeeds } from '../operations/proposals.ts';
import { proposeByAssistant } from '../operations/propose.ts';
import { loadPreview, volumeIds } from '../operations/volumes.ts';
import { readState } from './requests.ts';
import { defineTool, type ToolAnswer, toIso } from './tool.ts';

const reason = z
  .string()
  .trim()
  .min(1)
  .max(400)
  .describe('Why, in one sentence; the people who decide read it');

const proposalData = z.object({
  request: z.string().nullable().describe('Its id; null where the person still has to type the value'),
  what: z.string(),
  state: z
    .string()
    .describe(
      'waits_for_you: the person confirms it in a direct message; waits_for_approval; or how it ended',
    ),
  approvals: z.object({ needed: z.number().int(), given: z.number().int() }),
  expires_at: z.string().nullable(),
});

type Answer = ToolAnswer<z.input<typeof proposalData>>;

export const proposeVolumeDeletion = defineTool({
  name: 'propose_volume_deletion',
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
  data: proposalData,
  async run({ app, volume, reason }, context: Context, via) {
    await assertMayPropose(volumeDeletion, context);
    const appId = await resolveAppToDelete(app, context);
    const { data: ids } = volumeIds.safeParse({ appId, volumeId: volume });
    if (!ids)
      throw new UserError(
        `${formatCode(app, 60)} and ${formatCode(volume, 60)} cannot be the ids of an app and a volume.`,
        'Name the ids themselves.',
      );
    const { shown, needs } = await loadPreview(ids, context);
    return ask({ kind: volumeDeletion, request: ids, reason, snapshot: shown, ...needs, via }, context);
  },
});

const id = z.string().regex(/^\d{1,19}$/u);

export const proposeVariableChange = defineTool({
  name: 'propose_variable_change',
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
  data: proposalData,
  async run(
    { script, variable: variableId, required, new_value: hasNewValue, reason },
    context: Context,
    via,
  ) {
    await assertMayPropose(variableUpdate, context);
    const scriptId = id.safeParse(await context.names.resolve(context.person, 'script', script)).data;
    if (scriptId === undefined)
      throw new UserError(`No script is named ${formatCode(script, 60)} here.`, 'Name its id.');
    if (hasNewValue) return sendForm(scriptId, variableId, context);
    const request = { scriptId, variableId, required, setsValue: false };
    if (required === undefined)
      throw new UserError('Nothing would change.', 'Say required, or new_value: true for a form.');
    const [snapshot, needs] = await Promise.all([
      variableUpdate.load(request, context),
      findApprovalNeeds(variableUpdate, context),
    ]);
    return ask({ kind: variableUpdate, request, reason, snapshot, ...needs, via }, context);
  },
});

async function ask(
  asked: Pick<Proposal, 'kind' | 'request' | 'reason' | 'snapshot' | 'policy' | 'approvers'> & {
    readonly via: string;
  },
  { ledger, person: requester, now }: Context,
): Promise<Answer> {
  const { kind, request, reason, snapshot, policy, approvers, via } = asked;
  const operation = await proposeByAssistant(ledger, {
    kind,
    request,
    reason,
    snapshot,
    policy,
    approvers,
    via,
    requester,
    channelId: undefined,
  });
  return describe(operation, now());
}

function describe(operation: Operation, asOf: Date): Answer {
  const own = waitsForRequester(operation) ? ' The bot has written to them with a button to confirm it.' : '';
  return {
    summary: `Asked to ${nameInPlainText(operation)}: ${describeState(operation)}. Nothing was changed yet.${own}`,
    asOf,
    shown: 1,
    total: 1,
    data: {
      request: operation.id,
      what: nameInPlainText(operation),
      state: readState(operation),
      approvals: { needed: operation.approvalsNeeded, given: operation.approvals.length },
      expires_at: toIso(operation.expiresAt),
    },
    next: [{ label: 'How it stands', tool: 'get_request', arguments: { request: operation.id } }],
  };
}

/** Sends the person the button that opens the form with both ids, once while it is fresh. @throws UserError */
async function sendForm(scriptId: string, variableId: string, context: Context): Promise<Answer> {
  const { person, now } = context;
  const sent = context.zoneCache.forPerson(person).results<{ readonly at: Date }>('variable-forms');
  const what = `set variable ${variableId} of script ${scriptId}`;
  const key = `${scriptId}/${variableId}`;
  if (!sent.get(key)) {
    const text = `:robot_face: Slack’s assistant was asked to ${what}. The value is typed here, and by nobody else.`;
    const button = commandButton('Type the value', `variable ${scriptId} ${variableId}`, 1, {
      style: 'primary',
    });
    if (!(await context.post(person.userId, say(text, actions(button)))))
      throw new UserError('The bot could not write to this person.', 'They can type /cdn variable in Slack.');
    sent.set(key, { at: now() });
  }
  return {
    summary: `The bot has written to the person with a form to ${what}. Nothing was asked for yet.`,
    asOf: now(),
    shown: 1,
    total: 1,
    data: {
      request: null,
      what,
      state: 'waits_for_you',
      approvals: { needed: 0, given: 0 },
      expires_at: null,
    },
  };
}
