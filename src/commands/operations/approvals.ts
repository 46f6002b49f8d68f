import { z } from 'zod';
import { ApiError } from '../../api/http/errors.ts';
import { tenantId } from '../../auth/identity.ts';
import { decideApproval } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { loadDecisionContext } from '../../operations/context.ts';
import { approve, cancel, confirmOutcome, deny, longestReason } from '../../operations/decide.ts';
import type { ApproveAnswer, DecisionContext, Operation } from '../../operations/model.ts';
import { retry } from '../../operations/propose.ts';
import { findOperation, findRequestedBy, findWaitingFor } from '../../operations/queries.ts';
import type { Message } from '../../views/blocks/message.ts';
import { renderRefusal } from '../../views/blocks/refusal.ts';
import { formatInteger } from '../../views/blocks/text.ts';
import * as answers from '../../views/operations/answers.ts';
import * as views from '../../views/operations/approvals.ts';
import { describeState } from '../../views/operations/describe.ts';
import * as forms from '../../views/operations/forms.ts';
import type { Context, With } from '../context.ts';
import { type Action, type Command, defineForm, type Feature, type Form } from '../define.ts';
import { loadAffectedByScript, loadAffectedByVolume } from '../zones/lookup.ts';
import { assertMayPropose, findApprovalNeeds } from './proposals.ts';

const mostRequested = 8;

const approvalsCommand: Command<'ledger'> = {
  name: 'approvals',
  aliases: ['approval', 'requests'],
  usage: 'approvals',
  summary: 'What waits for your approval, and what you asked for',
  examples: ['approvals'],
  needs: 'none',
  run: (_, context) => list(context),
};

async function list(context: With<'ledger'>, done?: string): Promise<Message> {
  const { waiting, isApprover, requested } = await loadLists(context);
  return views.renderApprovalList({ waiting, requested, isApprover, done, asOf: context.now() });
}

async function loadLists({ ledger, person, authorizer }: With<'ledger'>) {
  const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
  const isApprover = decideApproval(policy, actor).allowed;
  const waiting = isApprover ? await findWaitingFor(ledger, person) : [];
  return { isApprover, waiting, requested: await findRequestedBy(ledger, person, mostRequested) };
}

const approveAction: Action<'ledger'> = {
  id: 'approvals:approve',
  changesHome: true,
  needs: 'none',
  newMessage: true,
  async run(id, context) {
    return answers.renderApproveAnswer(await decideApprove(id, context));
  },
};

/** The same in the list of waiting requests, which is rendered again. */
const approveInListAction: Action<'ledger'> = {
  id: 'approvals:approve-listed',
  needs: 'none',
  changesHome: true,
  async run(id, context) {
    const { text } = answers.renderApproveAnswer(await decideApprove(id, context));
    return list(context, text);
  },
};

async function decideApprove(id: string, context: With<'ledger'>): Promise<ApproveAnswer> {
  const decision = await loadDecision(id, context);
  if (!decision) return { kind: 'not-found' };
  return approve(context.ledger, id, context.person, decision);
}

const denyAction: Action<'ledger'> = {
  id: 'approvals:deny',
  needs: 'none',
  modal: () => forms.renderSkeleton('Deny the request'),
  async load(id, context) {
    const operation = await findInState('proposed', id, context, 'There is nothing left to deny');
    await assertMayDecide(operation, context);
    return forms.renderDenyForm(operation);
  },
};

const whyNot = { error: 'Say why: the requester reads it.' };

const denyForm: Form<'ledger'> = defineForm({
  id: 'approvals:deny-submit',
  changesHome: true,
  needs: 'none',
  fields: z.object({
    reason: z
      .string(whyNot)
      .trim()
      .min(1, whyNot)
      .max(longestReason, { error: `At most ${longestReason} characters.` }),
  }),
  async run({ reason }, context) {
    const id = context.modal?.metadata ?? '';
    const decision = await loadDecision(id, context);
    if (!decision) return answers.renderDenyAnswer({ kind: 'not-found' });
    const { ledger, person } = context;
    return answers.renderDenyAnswer(await deny(ledger, id, person, { reason, context: decision }));
  },
});

const cancelAction: Action<'ledger'> = {
  id: 'approvals:cancel',
  changesHome: true,
  needs: 'none',
  newMessage: true,
  run: async (id, { ledger, person }) => answers.renderCancelAnswer(await cancel(ledger, id, person)),
};

const checkAction: Action<'ledger'> = {
  id: 'approvals:check',
  needs: 'none',
  modal: () => forms.renderSkeleton('Was it done?'),
  async load(id, context) {
    const operation = await findInState('unknown', id, context, 'There is nothing to find out');
    if (operation.requester.userId !== context.person.userId) await assertMayDecide(operation, context);
    return forms.renderCheckForm(operation, await describeStateOfNow(operation, context));
  },
};

/** @throws UserError where the operation is gone or past that state. */
async function findInState(
  state: Operation['state'],
  id: string,
  { ledger, person }: With<'ledger'>,
  nothingLeft: string,
): Promise<Operation> {
  const operation = await findOperation(ledger, tenantId(person), id);
  if (operation?.state === state) return operation;
  throw new UserError(
    operation ? `${nothingLeft}: ${describeState(operation)}.` : 'There is no such request here any more.',
    'See `/cdn approvals`.',
  );
}

/** Before a form is filled in; the ledger decides again when it is sent. @throws UserError */
async function assertMayDecide({ requester }: Operation, context: Context): Promise<void> {
  const [policy, actor] = await Promise.all([
    context.authorizer.policy({ fresh: true }),
    context.authorizer.actor({ fresh: true }),
  ]);
  if (requester.userId === context.person.userId)
    throw new UserError('You asked for this yourself.', 'Cancel it instead: `/cdn approvals`.');
  const decision = decideApproval(policy, actor);
  if (decision.allowed) return;
  const { message, hint, offer } = renderRefusal(decision, context.people.missingScopes());
  throw new UserError(message, hint, offer);
}

/** What the CDN reports now about the target. It has no operation that lists volumes or reads a variable. */
async function describeStateOfNow({ request }: Operation, context: Context): Promise<string> {
  if (request.kind === 'variable-update')
    return 'The CDN has no operation that reads a variable: look in its panel, at the script’s variables.';
  try {
    const { totalVolumeSizeInGb: size } = await (await context.cdn()).apps.summary(request.appId);
    return `The CDN reports ${size === undefined ? 'no size' : `${formatInteger(size)} GB`} for all volumes of the app now. Look in its panel whether this volume is still listed.`;
  } catch (error) {
    if (error instanceof ApiError || error instanceof UserError)
      return 'The app’s size could not be read with your key just now. Look in the CDN’s panel whether the volume is still listed.';
    throw error;
  }
}

const checkForm: Form<'ledger'> = defineForm({
  id: 'approvals:check-submit',
  changesHome: true,
  needs: 'none',
  fields: z.object({ seen: z.enum(['succeeded', 'failed'], { error: 'Pick what you saw.' }) }),
  async run({ seen: state }, context) {
    const id = context.modal?.metadata ?? '';
    const decision = await loadDecision(id, context);
    if (!decision) return answers.renderConfirmAnswer({ kind: 'not-found' });
    const { ledger, person } = context;
    return answers.renderConfirmAnswer(
      await confirmOutcome(ledger, id, person, { state, context: decision }),
    );
  },
});

const retryAction: Action<'ledger' | 'zoneCache'> = {
  id: 'approvals:again',
  changesHome: true,
  needs: 'none',
  newMessage: true,
  async run(id, context) {
    const { ledger, person, channelId } = context;
    const operation = await findOperation(ledger, tenantId(person), id);
    if (!operation) return answers.renderRetryAnswer({ kind: 'not-found' });
    if (operation.requester.userId !== person.userId)
      return answers.renderRetryAnswer({ kind: 'not-requester', operation });
    const { request } = operation;
    await assertMayPropose(operation.kind, context);
    const { policy, approvers } = await findApprovalNeeds(operation.kind, context);
    const snapshot =
      request.kind === 'volume-delete'
        ? await loadAffectedByVolume(request.appId, context)
        : await loadAffectedByScript(request.scriptId, context);
    return answers.renderRetryAnswer(
      await retry(ledger, id, person, { policy, channelId, snapshot, approvers }),
    );
  },
};

async function loadDecision(
  id: string,
  { ledger, person, authorizer }: With<'ledger'>,
): Promise<DecisionContext | undefined> {
  const operation = await findOperation(ledger, tenantId(person), id);
  return operation && loadDecisionContext(authorizer, operation, person.userId);
}

export const approvals: Feature<'ledger' | 'zoneCache'> = {
  name: 'approvals',
  commands: [approvalsCommand],
  actions: [approveAction, approveInListAction, denyAction, cancelAction, checkAction, retryAction],
  forms: [denyForm, checkForm],
  async homeSection(context) {
    const { waiting, isApprover, requested } = await loadLists(context);
    const open = requested.filter(({ state }) =>
      ['proposed', 'approved', 'executing', 'unknown'].includes(state),
    );
    return isApprover || open.length > 0 ? views.renderHomeSection(waiting, open) : [];
  },
};
