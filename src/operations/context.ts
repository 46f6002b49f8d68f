import type { People } from '../auth/identity.ts';
import type { Authorizer } from '../auth/policy/authorizer.ts';
import { type Actor, decideApproval, type Policy, requiredApprovals } from '../auth/policy/policy.ts';
import {
  type DecisionContext,
  type Operation,
  type OperationKind,
  type RequesterContext,
  requiredRight,
} from './model.ts';

/** Reads afresh what `begin` checks. `authorizer`: of the requester, or of anybody in the same tenant. */
export async function loadContext(authorizer: Authorizer, operation: Operation): Promise<RequesterContext> {
  const actor = (userId: string): Promise<Actor> => authorizer.actor({ userId, fresh: true });
  const [policy, requester, approvers] = await Promise.all([
    authorizer.policy({ fresh: true }),
    actor(operation.requester.userId),
    Promise.all(operation.approvals.map(({ by }) => actor(by))),
  ]);
  return { policy, requester, approvers };
}

/** Reads afresh what a decision checks. `authorizer`: of the person who presses. */
export async function loadDecisionContext(
  authorizer: Authorizer,
  operation: Operation,
  clickerId: string,
): Promise<DecisionContext> {
  const [context, clicker] = await Promise.all([
    loadContext(authorizer, operation),
    authorizer.actor({ userId: clickerId, fresh: true }),
  ]);
  return { ...context, clicker };
}

// A group may hold the whole company: upper bound of people who are looked up, in the order of the settings.
const mostCandidates = 200;

/** The people whom the policy names as approvers, themselves or by a group. Deactivated ones are left out. */
export async function findApproverCandidates(people: People, policy: Policy): Promise<Actor[]> {
  const members = await Promise.all(policy.approverGroups.map((id) => people.members(id, { fresh: true })));
  const ids = [...new Set([...policy.approvers, ...members.flat()])].slice(0, mostCandidates);
  const found = await Promise.all(
    ids.map(async (userId): Promise<Actor | undefined> => {
      const profile = await people.profile(userId);
      if (profile?.deleted) return undefined;
      const groups = policy.approverGroups.filter((_, index) => members[index]?.includes(userId));
      const { foreign = false, admin = false } = profile ?? {};
      // Approving needs no key.
      return { userId, foreign, admin, linked: false, groups };
    }),
  );
  return found.filter((actor) => actor !== undefined);
}

export interface Quorum {
  readonly needed: number;
  /** User ids of those who may approve, without the requester. */
  readonly able: readonly string[];
  /** False: the request could only expire, so it is refused before it is made. */
  readonly reachable: boolean;
}

export function computeQuorum(
  policy: Policy,
  kind: OperationKind,
  candidates: readonly Actor[],
  requesterId: string,
): Quorum {
  const needed = requiredApprovals(policy, requiredRight[kind]);
  const able = findAble(policy, candidates, [requesterId]);
  return { needed, able, reachable: able.length >= needed };
}

/** User ids of the candidates who may approve now, without those in `except`. */
export function findAble(policy: Policy, candidates: readonly Actor[], except: readonly string[]): string[] {
  const able = candidates.filter(
    (actor) => !except.includes(actor.userId) && decideApproval(policy, actor).allowed,
  );
  return [...new Set(able.map(({ userId }) => userId))];
}
