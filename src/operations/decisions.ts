import { type Person, tenantId } from '../auth/identity.ts';
import type { Sealer } from '../auth/keys/sealing.ts';
import { decideApproval } from '../auth/policy/policy.ts';
import type { ApproveAnswer, CancelAnswer, ConfirmAnswer, DenyAnswer, Obstacle } from './ledger.ts';
import type { DecisionContext, Operation } from './model.ts';
import { findVoidReason, toStorable } from './row.ts';
import type { LockedOperation, Transitions } from './transitions.ts';
import type { OperationValues } from './values.ts';

interface Clicks {
  approve(id: string, approver: Person, facts: DecisionContext): Promise<ApproveAnswer>;
  deny(id: string, approver: Person, reason: string, facts: DecisionContext): Promise<DenyAnswer>;
  cancel(id: string, requester: Person): Promise<CancelAnswer>;
  confirm(
    id: string,
    person: Person,
    state: 'succeeded' | 'failed',
    facts: DecisionContext,
  ): Promise<ConfirmAnswer>;
}

const longestReason = 500;

/** What people press: everything is asked again under the lock, and every press gets an answer. */
export function createDecisions(options: {
  readonly moves: Transitions;
  readonly sealer: Sealer;
  readonly values: OperationValues;
}): Clicks {
  const { moves, sealer, values } = options;

  /** What stands in the way of an approver's click, first the facts about the request, then about the person. */
  const obstacleTo = async (
    held: LockedOperation,
    approver: Person,
    facts: DecisionContext,
  ): Promise<Obstacle | { readonly kind: 'own-request'; readonly operation: Operation } | undefined> => {
    const { operation, logged, trx, now } = held;
    if (operation.state !== 'proposed') return alreadySettled(operation);
    // Before the clock: who knows what its expiry was, where the row was changed.
    const why = await findVoidReason({ trx, sealer, values }, logged, facts);
    if (why === 'changed' || why === 'key-gone')
      return { kind: 'void', why, operation: await held.voided(why) };
    if (operation.expiresAt <= now) return isExpired(held);
    if (why) return { kind: 'void', why, operation: await held.voided(why) };
    if (operation.requester.userId === approver.userId) return { kind: 'own-request', operation };
    const decision = decideApproval(facts.policy, facts.clicker);
    return decision.allowed ? undefined : { kind: 'not-allowed', decision, operation };
  };

  return {
    async approve(id, approver, facts) {
      sameAs(approver, facts);
      const answer = await moves.hold<ApproveAnswer>(id, tenantId(approver), async (held) => {
        const obstacle = await obstacleTo(held, approver, facts);
        if (obstacle) return obstacle;
        const { operation } = held;
        const need = operation.approvalsNeeded;
        const had = operation.approvals.length;
        if (operation.approvals.some(({ by }) => by === approver.userId))
          return { kind: 'twice', have: had, need, operation };
        const have = had + 1;
        const moved = await held.move({ to: have >= need ? 'approved' : 'approval', by: approver.userId });
        return { kind: 'approved', have, need, operation: moved };
      });
      return answer ?? { kind: 'not-found' };
    },
    async deny(id, approver, reason, facts) {
      sameAs(approver, facts);
      const said = toStorable(reason).trim();
      if (said === '' || said.length > longestReason)
        throw new Error(`A denial has a reason of 1 to ${longestReason} characters.`);
      const answer = await moves.hold<DenyAnswer>(id, tenantId(approver), async (held) => {
        const obstacle = await obstacleTo(held, approver, facts);
        if (obstacle) return obstacle;
        const outcome = { word: 'denied', reason: said };
        return { kind: 'denied', operation: await held.move({ to: 'denied', by: approver.userId, outcome }) };
      });
      return answer ?? { kind: 'not-found' };
    },
    async cancel(id, requester) {
      const answer = await moves.hold<CancelAnswer>(id, tenantId(requester), async (held) => {
        const { operation } = held;
        if (operation.requester.userId !== requester.userId) return { kind: 'not-requester', operation };
        if (operation.state !== 'proposed' && operation.state !== 'approved')
          return alreadySettled(operation);
        const outcome = { word: 'taken-back' };
        return {
          kind: 'cancelled',
          operation: await held.move({ to: 'cancelled', by: requester.userId, outcome }),
        };
      });
      return answer ?? { kind: 'not-found' };
    },
    async confirm(id, person, state, facts) {
      sameAs(person, facts);
      const answer = await moves.hold<ConfirmAnswer>(id, tenantId(person), async (held) => {
        const { operation } = held;
        if (operation.state !== 'unknown') return alreadySettled(operation);
        const decision = decideApproval(facts.policy, facts.clicker);
        if (operation.requester.userId !== person.userId && !decision.allowed)
          return { kind: 'not-allowed', decision, operation };
        const outcome = { ...operation.outcome, word: 'confirmed' };
        return { kind: 'confirmed', operation: await held.move({ to: state, by: person.userId, outcome }) };
      });
      return answer ?? { kind: 'not-found' };
    },
  };
}

export function alreadySettled(operation: Operation): Extract<Obstacle, { kind: 'already' }> {
  const { state, movedBy: by, movedAt: at } = operation;
  return { kind: 'already', state, by, at, operation };
}

export async function isExpired(held: LockedOperation): Promise<Extract<Obstacle, { kind: 'expired' }>> {
  const outcome = { word: 'expired' };
  return { kind: 'expired', operation: await held.move({ to: 'expired', by: 'system', outcome }) };
}

/** The facts are of the one who presses, or the caller is wrong. */
function sameAs({ userId }: Person, { clicker }: DecisionContext): void {
  if (clicker.userId !== userId) throw new Error('These are the facts of somebody else.');
}
