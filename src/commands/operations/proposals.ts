import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { tenantId } from '../../auth/identity.ts';
import {
  assertKnown,
  changedByAdmins,
  computeQuorum,
  findAdmins,
  findApproverCandidates,
} from '../../auth/policy/authorizer.ts';
import type { Decision } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { renderRefusal } from '../../views/blocks/failure.ts';
import { formatCount, pluralize } from '../../views/blocks/format.ts';
import type { ApprovalNeeds } from '../../views/operations/describe.ts';
import type { Context } from '../define.ts';
import { longestReason } from './decide.ts';
import type { Kind } from './kinds/kind.ts';
import type { Operation, Proposal } from './model.ts';
import { propose } from './propose.ts';
import { findOperation } from './queries.ts';

/** A required reason, as the ledger keeps it. */
export function reasonField(missing: string) {
  const error = { error: missing };
  const tooLong = { error: `At most ${formatCount(longestReason, 'character')}.` };
  return z.string(error).trim().min(1, error).max(longestReason, tooLong);
}

/** The approvals that a request would need, by the policy of now. @throws UserError where it could only expire. */
export async function findApprovalNeeds(
  kind: Kind<unknown>,
  context: Context,
): Promise<ApprovalNeeds & Pick<Proposal, 'policy' | 'approvers'>> {
  const policy = await context.authorizer.policy({ fresh: true });
  const candidates = await findApproverCandidates(context.people, policy);
  const { needed, able, reachable } = computeQuorum(policy, kind.right, candidates, context.person.userId);
  if (!reachable) {
    const there =
      able.length === 0
        ? 'nobody else is an approver'
        : `only ${formatCount(able.length, 'other person', 'other people')} can give one`;
    throw new UserError(
      `This needs ${pluralize(needed, 'approval')}, and ${there}. Nothing was requested.`,
      'An admin names approvers in `/cdn settings`. Requesters never approve their own requests.',
    );
  }
  return { policy, approvers: able, needed, able: able.length, minutes: policy.expiryMinutes };
}

/** Proposes a change and, where it needs no approval, waits a moment for its outcome. @throws UserError */
export async function proposeChange(
  change: Omit<Proposal, 'requester' | 'channelId'>,
  context: Context,
): Promise<Operation> {
  await assertMayPropose(change.kind, context);
  const { ledger, person: requester, channelId } = context;
  const operation = await propose(ledger, { requester, channelId, ...change });
  return operation.approvalsNeeded === 0 ? waitForOutcome(operation, context) : operation;
}

/** Reads the rights afresh. @throws UserError where this person may not ask for such a change here. */
export async function assertMayPropose(kind: Kind<unknown>, context: Context): Promise<void> {
  await assertAllowed(await context.decide(kind.right, { fresh: true }), context);
}

/** @throws UserError with what helps, where a decision refuses. */
export async function assertAllowed(decision: Decision, context: Context): Promise<void> {
  if (assertKnown(decision).allowed) return;
  context.refused(decision.reason);
  throw await createRefusal(decision, context);
}

/** What a refused person can do: an admin opens the settings, others learn whom to ask. */
export async function createRefusal(
  decision: Decision,
  { people, policies, person }: Pick<Context, 'people' | 'policies' | 'person'>,
  reference?: string,
): Promise<UserError> {
  const admins = changedByAdmins.includes(decision.reason) ? await findAdmins(people, policies, person) : [];
  const helpers = { admins, reader: person.userId };
  const { message, hint, offer } = renderRefusal(decision, people.missingScopes(), helpers);
  return new UserError(message, hint, offer, reference);
}

// Most changes without approval end within this time; a slower one is told in a direct message.
const longestWaitMs = 6_000;
const pollEveryMs = 150;

/** The operation once it has ended, or its state after the longest wait. */
export async function waitForOutcome(operation: Operation, { ledger, signal }: Context): Promise<Operation> {
  const until = performance.now() + longestWaitMs;
  let latest = operation;
  while (latest.state === 'approved' || latest.state === 'executing') {
    if (performance.now() > until || signal.aborted) break;
    await setTimeout(pollEveryMs);
    latest = (await findOperation(ledger, tenantId(operation.requester), operation.id)) ?? latest;
  }
  return latest;
}
