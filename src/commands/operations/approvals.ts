import { z } from 'zod';
import { ApiError } from '../../api/http/errors.ts';
import { tenantId } from '../../auth/identity.ts';
import { decideApproval } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { ApproveAnswer } from '../../operations/ledger.ts';
import { loadDecisionContext } from '../../operations/load-context.ts';
import type { DecisionContext, Json, Operation } from '../../operations/model.ts';
import type { Message } from '../../views/blocks/message.ts';
import { renderRefusal } from '../../views/blocks/refusal.ts';
import { formatInteger } from '../../views/blocks/text.ts';
import * as answers from '../../views/operations/answers.ts';
import * as views from '../../views/operations/approvals.ts';
import * as forms from '../../views/operations/forms.ts';
import { type Action, type Command, type Context, defineForm, type Feature, type Form } from '../define.ts';
import { loadAffectedByScript, loadAffectedByVolume, toShownFacts } from '../zones/affected.ts';
import { canAsk, findApprovalNeeds } from './proposals.ts';

const mostAsked = 8;

const approvalsCommand: Command = {
  name: 'approvals',
  aliases: ['approval', 'requests'],
  usage: 'approvals',
  summary: 'What waits for your approval, and what you asked for',
  examples: ['approvals'],
  needs: 'none',
  run: (_, context) => list(context),
};

async function list(context: Context, done?: string): Promise<Message> {
  const { waiting, approver } = await waitingFor(context);
  const asked = await context.operations.requestedBy(context.person, mostAsked);
  return views.renderApprovalList({ waiting, asked, approver, done, asOf: context.now() });
}

async function waitingFor(context: Context): Promise<{ waiting: Operation[]; approver: boolean }> {
  const [policy, actor] = await Promise.all([context.authorizer.policy(), context.authorizer.actor()]);
  const approver = decideApproval(policy, actor).allowed;
  return { approver, waiting: approver ? await context.operations.waitingFor(context.person) : [] };
}

const approve: Action = {
  id: 'approvals:approve',
  changesHome: true,
  needs: 'none',
  apart: true,
  async run(id, context) {
    return answers.renderApproveAnswer(await approveNow(id, context));
  },
};

/** The same in the list of what waits: the list is drawn anew. */
const approveInList: Action = {
  id: 'approvals:approve-listed',
  needs: 'none',
  changesHome: true,
  async run(id, context) {
    const { text } = answers.renderApproveAnswer(await approveNow(id, context));
    return list(context, text);
  },
};

async function approveNow(id: string, context: Context): Promise<ApproveAnswer> {
  const facts = await factsFor(id, context);
  if (!facts) return { kind: 'not-found' };
  // A card whose posting got no answer is not known; whoever presses in it shows where it is, and it is kept up to date.
  if (context.message) await context.operations.noteMessage(id, { role: 'approval', ...context.message });
  return context.operations.approve(id, context.person, facts);
}

const deny: Action = {
  id: 'approvals:deny',
  needs: 'none',
  modal: () => forms.formSkeleton('Deny the request'),
  async fill(id, context) {
    const operation = await context.operations.find(tenantId(context.person), id);
    if (operation?.state === 'proposed') {
      await mayDecide(operation, context);
      return forms.denyForm(operation);
    }
    throw new UserError(
      operation
        ? `There is nothing left to deny: ${views.describeState(operation)}.`
        : 'There is no such request here any more.',
      'See `/cdn approvals` for what waits.',
    );
  },
};

const denySubmit: Form = defineForm({
  id: 'approvals:deny-submit',
  changesHome: true,
  needs: 'none',
  fields: z.object({
    reason: z
      .string({ error: 'Say why: the requester reads it.' })
      .trim()
      .min(1, { error: 'Say why: the requester reads it.' })
      .max(500, { error: 'At most 500 characters.' }),
  }),
  async run({ reason }, context) {
    const id = context.modal?.note ?? '';
    const facts = await factsFor(id, context);
    if (!facts) return answers.renderDenyAnswer({ kind: 'not-found' });
    return answers.renderDenyAnswer(await context.operations.deny(id, context.person, reason, facts));
  },
});

const cancel: Action = {
  id: 'approvals:cancel',
  changesHome: true,
  needs: 'none',
  apart: true,
  run: async (id, context) => answers.renderCancelAnswer(await context.operations.cancel(id, context.person)),
};

const check: Action = {
  id: 'approvals:check',
  needs: 'none',
  modal: () => forms.formSkeleton('Was it done?'),
  async fill(id, context) {
    const operation = await context.operations.find(tenantId(context.person), id);
    if (operation?.state !== 'unknown')
      throw new UserError(
        operation
          ? `There is nothing to find out: ${views.describeState(operation)}.`
          : 'There is no such request here any more.',
        'See `/cdn approvals`.',
      );
    if (operation.requester.userId !== context.person.userId) await mayDecide(operation, context);
    return forms.checkForm(operation, await seenNow(operation, context));
  },
};

/** Before a form is filled in: the ledger decides again when it is sent. */
async function mayDecide({ requester }: Operation, context: Context): Promise<void> {
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

/** What the CDN tells now of what was to be done. It has no operation that lists volumes or reads a variable. */
async function seenNow({ request }: Operation, context: Context): Promise<string> {
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

const checkSubmit: Form = defineForm({
  id: 'approvals:check-submit',
  changesHome: true,
  needs: 'none',
  fields: z.object({ seen: z.enum(['succeeded', 'failed'], { error: 'Pick what you saw.' }) }),
  async run({ seen }, context) {
    const id = context.modal?.note ?? '';
    const facts = await factsFor(id, context);
    if (!facts) return answers.renderConfirmAnswer({ kind: 'not-found' });
    return answers.renderConfirmAnswer(await context.operations.confirm(id, context.person, seen, facts));
  },
});

const again: Action = {
  id: 'approvals:again',
  changesHome: true,
  needs: 'none',
  apart: true,
  async run(id, context) {
    const { operations, person, channelId } = context;
    const operation = await operations.find(tenantId(person), id);
    if (!operation) return answers.renderRetryAnswer({ kind: 'not-found' });
    if (operation.requester.userId !== person.userId)
      return answers.renderRetryAnswer({ kind: 'not-requester', operation });
    await canAsk(operation.kind, context);
    const { policy } = await findApprovalNeeds(operation.kind, context);
    const snapshot = await lookAgain(operation, context);
    return answers.renderRetryAnswer(await operations.tryAgain(id, person, { policy, channelId, snapshot }));
  },
};

async function lookAgain({ request }: Operation, context: Context): Promise<Json> {
  return toShownFacts(
    request.kind === 'volume-delete'
      ? await loadAffectedByVolume(request.appId, context)
      : await loadAffectedByScript(request.scriptId, context),
  );
}

async function factsFor(id: string, context: Context): Promise<DecisionContext | undefined> {
  const operation = await context.operations.find(tenantId(context.person), id);
  return operation && loadDecisionContext(context.authorizer, operation, context.person.userId);
}

export const approvals: Feature = {
  name: 'approvals',
  commands: [approvalsCommand],
  actions: [approve, approveInList, deny, cancel, check, again],
  forms: [denySubmit, checkSubmit],
  async homeSection(context) {
    const { waiting, approver } = await waitingFor(context);
    const asked = await context.operations.requestedBy(context.person, mostAsked);
    const open = asked.filter(({ state }) =>
      ['proposed', 'approved', 'executing', 'unknown'].includes(state),
    );
    // Whoever neither approves nor waits for anything has nothing to see here.
    return approver || open.length > 0 ? views.renderWaitingForMe(waiting, open) : [];
  },
};
