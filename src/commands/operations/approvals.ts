import { z } from 'zod';
import { tenantId } from '../../auth/identity.ts';
import { decideApproval } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import * as lists from '../../views/operations/approvals.ts';
import { describeState } from '../../views/operations/describe.ts';
import * as forms from '../../views/operations/forms.ts';
import { type Action, type Command, type Context, defineForm, type Feature } from '../define.ts';
import { approve, cancel, confirmOutcome, deny } from './decide.ts';
import { decideApprovalOf } from './kinds/kind.ts';
import {
  type Answer,
  type DecisionContext,
  findOperation,
  findRequestedBy,
  findWaitingFor,
  type Operation,
} from './model.ts';
import { assertAllowed, createRefusal, reasonField } from './propose.ts';
import { loadDecisionContext } from './validity.ts';

const mostRequested = 8;

const approvalsCommand: Command = {
  name: 'approvals',
  aliases: ['approval', 'requests'],
  usage: 'approvals',
  summary: 'Requests that wait for your approval, and your own',
  task: 'Act',
  examples: ['approvals'],
  needs: 'none',
  run: (_, context) => list(context),
};

async function list(context: Context): Promise<Message> {
  return lists.renderApprovalList(await loadLists(context), context.now());
}

async function loadLists({ ledger, person, authorizer }: Context): Promise<lists.ApprovalLists> {
  const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
  const mayApprove = ({ kind }: Operation): boolean => decideApprovalOf(kind, policy, actor).allowed;
  const isApprover = decideApproval(policy, actor).allowed;
  const found = isApprover || actor.admin ? await findWaitingFor(ledger, person) : [];
  const requested = await findRequestedBy(ledger, person, mostRequested);
  return { isApprover, waiting: found.filter(mayApprove), requested };
}

const buttonOf = { needs: 'none', changesHome: true, newMessage: true } as const;

const approveAction: Action = { ...buttonOf, id: 'approvals:approve', run: pressApprove };

/** A press of the person in whose name an assistant asked, where nobody else has to approve. */
const confirmAction: Action = { ...approveAction, id: 'approvals:confirm' };

function pressApprove(id: string, context: Context): Promise<Message> {
  const { ledger, person } = context;
  return pressWith(id, context, (decision) => approve(ledger, id, person, decision));
}

export async function pressWith(...press: Parameters<typeof decideAfresh>): Promise<Message> {
  return renderPress(await decideAfresh(...press), press[1]);
}

export async function decideAfresh(
  id: string,
  { ledger, person, authorizer }: Context,
  press: (context: DecisionContext) => Promise<Answer>,
): Promise<Answer> {
  const operation = await findOperation(ledger, tenantId(person), id);
  if (!operation) return { kind: 'not-found' };
  return press(await loadDecisionContext(authorizer, operation, person.userId));
}

/** @throws UserError where the person may not decide. */
export async function renderPress(answer: Answer, context: Context): Promise<Message> {
  if (answer.kind === 'not-allowed') throw await createRefusal(answer.decision, context);
  return lists.renderAnswer(answer);
}

const affectedAction: Action = {
  id: 'approvals:affected',
  needs: 'none',
  newMessage: true,
  async run(id, { ledger, person }) {
    const operation = await findOperation(ledger, tenantId(person), id);
    return operation ? lists.renderAffected(operation) : lists.renderAnswer({ kind: 'not-found' });
  },
};

const denyAction: Action = {
  id: 'approvals:deny',
  needs: 'none',
  modal: () => forms.renderSkeleton('Deny the request'),
  async load(id, context) {
    const operation = await findInState('proposed', id, context, 'There is nothing left to deny');
    await assertMayDecide(operation, context);
    return forms.renderDenyForm(operation);
  },
};

const denyForm = defineForm({
  id: 'approvals:deny-submit',
  changesHome: true,
  needs: 'none',
  fields: z.object({ reason: reasonField('Say why: the requester reads it.') }),
  async run({ reason }, context: Context) {
    const { ledger, person, modal } = context;
    const id = modal?.metadata ?? '';
    return pressWith(id, context, (decision) => deny(ledger, id, person, { reason, context: decision }));
  },
});

const cancelAction: Action = {
  ...buttonOf,
  id: 'approvals:cancel',
  run: async (id, context) => renderPress(await cancel(context.ledger, id, context.person), context),
};

const checkAction: Action = {
  id: 'approvals:check',
  needs: 'none',
  modal: () => forms.renderSkeleton('Was it done?'),
  async load(id, context) {
    const operation = await findInState('unknown', id, context, 'There is nothing to check');
    if (operation.requester.userId !== context.person.userId) await assertMayDecide(operation, context);
    if (operation.request === undefined)
      throw new UserError('This request can no longer be read.', 'Request it again.');
    return forms.renderCheckForm(operation, operation.kind.check);
  },
};

async function findInState(
  state: Operation['state'],
  id: string,
  { ledger, person }: Context,
  nothingLeft: string,
): Promise<Operation> {
  const operation = await findOperation(ledger, tenantId(person), id);
  if (operation?.state === state) return operation;
  throw new UserError(
    operation ? `${nothingLeft}: ${describeState(operation)}.` : 'This request no longer exists.',
    'See `/cdn approvals`.',
  );
}

/** Before a form is filled in; the ledger decides again when it is sent. @throws UserError */
async function assertMayDecide({ requester, kind }: Operation, context: Context): Promise<void> {
  const { authorizer, person } = context;
  if (requester.userId === person.userId)
    throw new UserError('You asked for this yourself.', 'Cancel it instead: `/cdn approvals`.');
  const [policy, actor] = await Promise.all([
    authorizer.policy({ fresh: true }),
    authorizer.actor({ fresh: true }),
  ]);
  await assertAllowed(decideApprovalOf(kind, policy, actor), context);
}

const checkForm = defineForm({
  id: 'approvals:check-submit',
  changesHome: true,
  needs: 'none',
  fields: z.object({ seen: z.enum(['succeeded', 'failed'], { error: 'Pick what you saw.' }) }),
  async run({ seen: state }, context: Context) {
    const { ledger, person, modal } = context;
    const id = modal?.metadata ?? '';
    return pressWith(id, context, (decision) =>
      confirmOutcome(ledger, id, person, { state, context: decision }),
    );
  },
});

export const approvals: Feature = {
  name: 'approvals',
  commands: [approvalsCommand],
  actions: [approveAction, confirmAction, affectedAction, denyAction, cancelAction, checkAction],
  forms: [denyForm, checkForm],
  async homeSection(context) {
    const { waiting, requested } = await loadLists(context);
    const open = requested.filter(({ state }) =>
      ['proposed', 'approved', 'executing', 'unknown'].includes(state),
    );
    return waiting.length + open.length > 0 ? lists.renderHomeSection(waiting, open.length) : [];
  },
};
