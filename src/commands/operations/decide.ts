import { type Person, tenantId } from '../../auth/identity.ts';
import { assertKnown } from '../../auth/policy/authorizer.ts';
import { waitsForRequester } from '../../views/operations/describe.ts';
import { queueExecution } from './execute.ts';
import { decideApprovalOf } from './kinds/kind.ts';
import { type Answer, type DecisionContext, toStorable } from './model.ts';
import { type Ledger, type LockedOperation, transition, withLock } from './transitions.ts';
import { assertCurrent, stopUnlessValid } from './validity.ts';

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
