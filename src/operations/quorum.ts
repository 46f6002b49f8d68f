import { type Actor, decideApproval, type Policy, requiredApprovals } from '../auth/policy/policy.ts';
import { type OperationKind, requiredRight } from './model.ts';

/** Who can approve a request, and whether they are enough. */
export interface QuorumFor {
  readonly needed: number;
  /** User ids of those who may approve, without the requester. */
  readonly able: readonly string[];
  /** False: such a request could only expire. To be said before it is made. */
  readonly reachable: boolean;
}

/** Pure: `candidates` are the people whom the policy names as approvers, with what is known of them. */
export function computeQuorum(
  policy: Policy,
  kind: OperationKind,
  candidates: readonly Actor[],
  requesterId: string,
): QuorumFor {
  const needed = requiredApprovals(policy, requiredRight[kind]);
  const able = candidates.filter(
    (actor) => actor.userId !== requesterId && decideApproval(policy, actor).allowed,
  );
  const ids = [...new Set(able.map(({ userId }) => userId))];
  return { needed, able: ids, reachable: ids.length >= needed };
}
