import { z } from 'zod';
import { type Person, tenantId } from '../../auth/identity.ts';
import { assertKnown } from '../../auth/policy/authorizer.ts';
import { decideApproval } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { Message } from '../../views/blocks/blocks.ts';
import { renderSkeleton } from '../../views/blocks/inputs.ts';
import * as lists from '../../views/operations/approvals.ts';
import { describeState, waitsForRequester } from '../../views/operations/describe.ts';
import * as forms from '../../views/operations/forms.ts';
import { type Action, type Command, type Context, defineForm, type Feature } from '../define.ts';
import { queueExecution } from './execute.ts';
import { decideApprovalOf } from './kinds/kind.ts';
import {
  type Answer,
  type DecisionContext,
  findOperation,
  findRequestedBy,
  findWaitingFor,
  type Operation,
  toStorable,
} from './model.ts';
import { assertAllowed, createRefusal, reasonField } from './propose.ts';
import {
  assertCurrent,
  type Ledger,
  type LockedOperation,
  loadDecisionContext,
  stopUnlessValid,
  transition,
  withLock,
} from './transitions.ts';

const mostRequested = 8;

const approvalsCommand: Command = {
  name: 'approvals',
  aliases: ['approval', 'requests'],
  usage: 'approvals',
  summary: 'Requests that wait for your approval, and your own',
  task: 'Act',
  examples: ['approvals'],
  needs: 'none',
  async run({ list: [page = '1'] }, context) {
    return lists.renderApprovalList(await loadLists(context), context.now(), Number(page));
  },
};

async function loadLists({ ledger, person, authorizer }: Context): Promise<lists.ApprovalLists> {
  const [policy, actor] = await Promise.all([authorizer.policy(), authorizer.actor()]);
  const mayApprove = ({ kind }: Operation): boolean => decideApprovalOf(kind, policy, actor).allowed;
  const isApprover = decideApproval(policy, actor).allowed;
  const found = isApprover || actor.admin ? await findWaitingFor(ledger, person) : [];
  const requested = await findRequestedBy(ledger, person, mostRequested);
  return { isApprover, waiting: found.filter(mayApprove), requested };
}

const buttonOf = { needs: 'none', changesHome: true, newMessage: true } as const;

const approveAction: Action = {
  ...buttonOf,
  id: 'approvals:approve',
  run: (id, context) =>
    pressWith(id, context, (decision) => approve(context.ledger, id, context.person, decision)),
};

/** A press of the person in whose name an assistant asked, where nobody else has to approve. */
const confirmAction: Action = { ...approveAction, id: 'approvals:confirm' };

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

const denyAction: Action = {
  id: 'approvals:deny',
  needs: 'none',
  modal: () => renderSkeleton('Deny the request'),
  async load(id, context) {
    const operation = await findInState('proposed', id, context, 'There is nothing left to deny');
    await assertMayDecide(operation, context);
    return forms.renderDenyForm(operation);
  },
};

const denyForm = defineForm({
  id: 'approvals:deny-submit',
  again: (_, id = '') => ['approvals:deny', id],
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
  modal: () => renderSkeleton('Was it done?'),
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
  again: (_, id = '') => ['approvals:check', id],
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
  actions: [approveAction, confirmAction, denyAction, cancelAction, checkAction],
  forms: [denyForm, checkForm],
  async homeSection(context) {
    const { waiting, requested } = await loadLists(context);
    const open = requested.filter(({ state }) =>
      ['proposed', 'approved', 'executing', 'unknown'].includes(state),
    );
    return waiting.length + open.length > 0 ? lists.renderHomeSection(waiting, open.length) : [];
  },
};

/** Counts an approval; the last one queues the execution in the same transaction. */
export function approve(
  ledger: Ledger,
  id: string,
  approver: Person,
  context: DecisionContext,
): Promise<Answer> {
  return withDecisionLock(ledger, id, approver, context, async (locked) => {
    const obstacle = await findObstacle(locked, 'approve', context);
    if (obstacle) return obstacle;
    const { operation } = locked;
    const by = approver.userId;
    if (operation.approvals.some((approval) => approval.by === by)) return { kind: 'twice', operation };
    const isLast = operation.approvals.length + 1 >= operation.approvalsNeeded;
    const moved = isLast
      ? await queueExecution(locked, by)
      : await transition(locked, { to: 'approval', by });
    return { kind: 'approved', operation: moved };
  });
}

export async function deny(
  ledger: Ledger,
  id: string,
  approver: Person,
  { reason, context }: { readonly reason: string | undefined; readonly context: DecisionContext },
): Promise<Answer> {
  const said = reason === undefined ? undefined : toStorable(reason).trim();
  return withDecisionLock(ledger, id, approver, context, async (locked) => {
    const obstacle = await findObstacle(locked, 'deny', context);
    if (obstacle) return obstacle;
    const outcome = { word: 'denied', reason: said };
    const operation = await transition(locked, { to: 'denied', by: approver.userId, outcome });
    return { kind: 'denied', operation };
  });
}

export function cancel(ledger: Ledger, id: string, requester: Person): Promise<Answer> {
  return withLock(ledger, { id, tenant: tenantId(requester) }, async (locked): Promise<Answer> => {
    const { operation } = locked;
    if (operation.requester.userId !== requester.userId)
      return { kind: 'not-requester', press: 'cancel', operation };
    if (operation.state !== 'proposed' && operation.state !== 'approved')
      return { kind: 'already', operation };
    const step = { to: 'cancelled', by: requester.userId, outcome: { word: 'taken-back' } } as const;
    return { kind: 'cancelled', operation: await transition(locked, step) };
  });
}

export function confirmOutcome(
  ledger: Ledger,
  id: string,
  person: Person,
  { state, context }: { readonly state: 'succeeded' | 'failed'; readonly context: DecisionContext },
): Promise<Answer> {
  return withDecisionLock(ledger, id, person, context, async (locked) => {
    const { operation } = locked;
    if (operation.state !== 'unknown') return { kind: 'already', operation };
    const decision = decideApprovalOf(operation.kind, context.policy, context.clicker);
    if (operation.requester.userId !== person.userId && !assertKnown(decision).allowed)
      return { kind: 'not-allowed', decision, operation };
    const outcome = { ...operation.outcome, word: 'confirmed' };
    const moved = await transition(locked, { to: state, by: person.userId, outcome });
    return { kind: 'confirmed', operation: moved };
  });
}

async function withDecisionLock(
  ledger: Ledger,
  id: string,
  person: Person,
  context: DecisionContext,
  work: (locked: LockedOperation) => Promise<Answer>,
): Promise<Answer> {
  if (context.clicker.userId !== person.userId) throw new Error('the context belongs to another user');
  const answer = await withLock(ledger, { id, tenant: tenantId(person) }, async (locked): Promise<Answer> => {
    await assertCurrent(locked, context);
    return work(locked);
  });
  if (answer.kind === 'not-allowed') ledger.onRefused?.(answer.decision.reason);
  return answer;
}

/** Why a press does nothing. The person is judged first: nobody ends a request by a press that they may not make. */
async function findObstacle(
  locked: LockedOperation,
  press: 'approve' | 'deny',
  context: DecisionContext,
): Promise<Answer | undefined> {
  const { operation } = locked;
  if (operation.state !== 'proposed') return { kind: 'already', operation };
  const { policy, clicker } = context;
  const isOwn = operation.requester.userId === clicker.userId;
  if (waitsForRequester(operation)) {
    const isConfirmed = isOwn && press === 'approve';
    return isConfirmed
      ? stopUnlessValid(locked, context)
      : { kind: 'not-requester', press: 'confirm', operation };
  }
  if (isOwn) return { kind: 'own-request', press, operation };
  const decision = assertKnown(decideApprovalOf(operation.kind, policy, clicker));
  return decision.allowed ? stopUnlessValid(locked, context) : { kind: 'not-allowed', decision, operation };
}
