import { z } from 'zod';
import { variablePath } from '../../api/variables.ts';
import { tenantId } from '../../auth/identity.ts';
import { UserError } from '../../errors.ts';
import { formatCount, formatInteger } from '../../views/blocks/format.ts';
import { formatCode, stripMarkup } from '../../views/blocks/text.ts';
import { renderFormOffer } from '../../views/operations/approvals.ts';
import {
  describeOutcome,
  describeState,
  nameInPlainText,
  waitsForRequester,
} from '../../views/operations/describe.ts';
import type { Context } from '../define.ts';
import { resolveAppToDelete } from '../names.ts';
import { settingsChange } from '../operations/kinds/settings.ts';
import {
  loadVariable,
  type VariableRequest,
  variableUpdate,
  writeFormButton,
} from '../operations/kinds/variable.ts';
import { loadPreview, volumeDeletion, volumeIds } from '../operations/kinds/volume.ts';
import {
  findOperation,
  findRequestedBy,
  findTargetName,
  type Operation,
  type Proposal,
} from '../operations/model.ts';
import {
  assertMayPropose,
  findApprovalNeeds,
  proposeByAssistant,
  sendFormByAssistant,
} from '../operations/propose.ts';
import { defineTool, type NextCall, type ToolAnswer, ToolRefusal } from './tool.ts';

function toData(operation: Operation) {
  const { id, state, approvals, approvalsNeeded, createdAt, expiresAt } = operation;
  const waits = waitsForRequester(operation) ? 'waits_for_you' : 'waits_for_approval';
  return {
    request: id,
    what: nameInPlainText(operation),
    // `waits_for_you`: the person confirms in Slack.
    state: state === 'proposed' ? waits : state,
    outcome: describeOutcome(operation) || undefined,
    approvals: { needed: approvalsNeeded, given: approvals.length },
    asked_at: createdAt,
    expires_at: expiresAt,
  };
}

function toRequest(operation: Operation): NextCall {
  return { label: nameInPlainText(operation), tool: 'get_request', arguments: { request: operation.id } };
}

const listRequests: NextCall = { label: 'My requests', tool: 'list_my_requests', arguments: {} };

/** The newest first. */
const most = { shown: 20, read: 200 };

/** Settings of the bot are not for a model. */
function isForModels({ kind }: Operation): boolean {
  return kind !== settingsChange;
}

export const listMyRequests = defineTool({
  name: 'list_my_requests',
  command: 'approvals',
  title: 'List my requests',
  description:
    'The deletions and changes that the person asked for, and whether they were approved and done.',
  needs: 'none',
  input: z.object({}),
  async run(_, { ledger, person }: Context) {
    const requests = (await findRequestedBy(ledger, person, most.read)).filter(isForModels);
    const shown = requests.slice(0, most.shown);
    const waiting = requests.filter(({ state }) => state === 'proposed').length;
    return {
      summary:
        requests.length === 0
          ? 'Nothing has been requested yet.'
          : `${formatCount(requests.length, 'request')}, ${formatInteger(waiting)} waiting for a decision.`,
      counts: [shown.length, requests.length],
      data: { requests: shown.map(toData) },
      next: requests.slice(0, 3).map(toRequest),
    };
  },
});

export const getRequest = defineTool({
  name: 'get_request',
  command: 'approvals',
  source: 'list_my_requests',
  title: 'Show a request',
  description: 'One deletion or change that the person asked for: its state, approvals and outcome.',
  needs: 'none',
  input: z.object({ request: z.string().trim().min(1).max(40).describe('Its ID') }),
  async run({ request: id }, { ledger, person }: Context) {
    const operation = await findOperation(ledger, tenantId(person), id);
    if (!operation || operation.requester.userId !== person.userId || !isForModels(operation))
      throw new UserError('This person has no request with that ID.', '`/cdn approvals` lists theirs.');
    return {
      summary: `${nameInPlainText(operation)}: ${describeState(operation)}.`,
      data: toData(operation),
      next: [listRequests],
    };
  },
});

const reason = z
  .string()
  .trim()
  .min(1)
  .max(400)
  .describe('Why, in one sentence; the people who decide read it');

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
    app: z.string().trim().min(1).max(200).describe('Its ID, or its name here'),
    volume: z.string().trim().min(1).max(200).describe('Its ID'),
    reason,
  }),
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
    script: z.string().trim().min(1).max(100).describe('Its ID, or its name here'),
    variable: id.describe('Its ID'),
    required: z.boolean().optional().describe('Whether the script needs it'),
    new_value: z.boolean().optional().describe('true: the person types a new value into a form'),
    reason,
  }),
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
      loadVariable(request, context),
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
): Promise<ToolAnswer> {
  const startedAt = now();
  // The model was told that nothing was asked for.
  signal.throwIfAborted();
  const operation = await proposeByAssistant(ledger, { ...asked, requester, channelId: undefined });
  const asks = operation.createdAt < startedAt ? 'Already asked' : 'Asked';
  const still = operation.state === 'proposed' ? ' Nothing was changed yet.' : '';
  const own = waitsForRequester(operation) ? ' They confirm it with the button that the bot sends them.' : '';
  return {
    summary: `${asks} to ${nameInPlainText(operation)}: ${describeState(operation)}.${still}${own}`,
    data: toData(operation),
    next: [{ ...toRequest(operation), label: 'Show its state' }],
  };
}

async function sendForm(
  asked: Pick<Proposal, 'snapshot'> & {
    readonly request: VariableRequest;
    readonly minutes: number;
    readonly reason: string;
    readonly via: string;
  },
  { ledger, person: requester, signal }: Context,
): Promise<ToolAnswer> {
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
    summary: `The bot ${isNew ? 'writes' : 'has written'} to the person with a form to ${stripMarkup(what)}. Nothing has been requested yet.`,
    data: {
      request: undefined,
      what: stripMarkup(what),
      state: 'waits_for_you',
      approvals: { needed: 0, given: 0 },
    },
    next: [listRequests],
  };
}
