import type { OperationKind } from './operations-model.ts';
import type { Actor, Policy } from './policy.ts';

/** Who can approve a request, and whether they are enough. */
export interface QuorumFor {
  readonly needed: number;
  /** User ids of those who may approve, without the requester. */
  readonly able: readonly string[];
  /** False: such a request could only expire. To be said before it is made. */
  readonly reachable: boolean;
}

/** Pure: `candidates` are the people whom the policy names as approvers, with what is known of them. */
export declare function quorum(
  policy: Policy,
  kind: OperationKind,
  candidates: readonly Actor[],
  requesterId: string,
): QuorumFor;
