import { tenantId } from '../../auth/identity.ts';
import type { Policy } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import { findApproverCandidates } from '../../operations/load-context.ts';
import {
  type Json,
  type Operation,
  type OperationKind,
  type OperationRequest,
  requiredRight,
} from '../../operations/model.ts';
import { computeQuorum } from '../../operations/quorum.ts';
import { renderRefusal } from '../../views/blocks/refusal.ts';
import { pluralize } from '../../views/blocks/text.ts';
import type { ApprovalNeeds } from '../../views/operations/volumes.ts';
import type { Context } from '../define.ts';

/** What a request would need now, by settings and people read afresh. */
export interface ApprovalNeedsByPolicy extends ApprovalNeeds {
  readonly policy: Policy;
}

/**
 * How many approvals a request would need, and whether they can come together.
 *
 * @throws UserError where they cannot: it could only expire.
 */
export async function findApprovalNeeds(
  kind: OperationKind,
  context: Context,
): Promise<ApprovalNeedsByPolicy> {
  const policy = await context.authorizer.policy({ fresh: true });
  const candidates = await findApproverCandidates(context.people, policy);
  const { needed, able, reachable } = computeQuorum(policy, kind, candidates, context.person.userId);
  if (!reachable) {
    const there =
      able.length === 0
        ? 'nobody else can give one'
        : `only ${pluralize(able.length, 'other person', 'other people')} can give one`;
    throw new UserError(
      `This needs ${pluralize(needed, 'approval')}, and ${there}. Nothing was asked for.`,
      'An admin names approvers in `/cdn settings`. Whoever asks never counts.',
    );
  }
  return { policy, needed, able: able.length, minutes: policy.expiryMinutes };
}

/**
 * Asks for something that writes to the CDN: decided afresh, sealed, and on its way to whoever approves.
 *
 * @throws UserError where this person may not ask for it.
 */
export async function propose(
  asked: {
    readonly request: OperationRequest;
    readonly reason: string | undefined;
    readonly snapshot: Json;
    readonly policy: Policy;
  },
  context: Context,
): Promise<Operation> {
  await canAsk(asked.request.kind, context);
  const operation = await context.operations.propose({
    requester: context.person,
    channelId: context.channelId,
    ...asked,
  });
  return operation.approvalsNeeded === 0 ? ended(operation, context) : operation;
}

/** @throws UserError where this person may not ask for such a thing here, read afresh. */
export async function canAsk(kind: OperationKind, context: Context): Promise<void> {
  const decision = await context.decide({ needs: requiredRight[kind], name: kind }, { fresh: true });
  if (decision.allowed) return;
  const { message, hint, offer } = renderRefusal(decision, context.people.missingScopes());
  throw new UserError(message, hint, offer);
}

// What runs at once is mostly done at once; what takes longer is told in a direct message.
const patienceMs = 6_000;
const lookEveryMs = 150;

/** The operation once it has ended, or as it is when that takes too long to wait for. */
async function ended(operation: Operation, context: Context): Promise<Operation> {
  const tenant = tenantId(context.person);
  const until = performance.now() + patienceMs;
  let latest = operation;
  while (latest.state === 'approved' || latest.state === 'executing') {
    if (performance.now() > until || context.signal.aborted) break;
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    latest = (await context.operations.find(tenant, operation.id)) ?? latest;
  }
  return latest;
}
