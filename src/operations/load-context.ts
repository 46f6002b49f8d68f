import type { People } from '../auth/people.ts';
import type { Authorizer } from '../auth/policy/authorizer.ts';
import type { Actor, Policy } from '../auth/policy/policy.ts';
import type { DecisionContext, Operation, RequesterContext } from './model.ts';

/** What `begin` needs to know, read afresh. `authorizer`: of the requester, or of anybody of the same tenant. */
export async function loadContext(authorizer: Authorizer, operation: Operation): Promise<RequesterContext> {
  const { requester, approvals } = operation;
  const [policy, asks, approvers] = await Promise.all([
    authorizer.policy({ fresh: true }),
    authorizer.actor({ userId: requester.userId, fresh: true }),
    Promise.all(approvals.map(({ by }) => authorizer.actor({ userId: by, fresh: true }))),
  ]);
  return { policy, requester: asks, approvers };
}

/** What a click needs to know, read afresh. `authorizer`: of the person who presses. */
export async function loadDecisionContext(
  authorizer: Authorizer,
  operation: Operation,
  clickerId: string,
): Promise<DecisionContext> {
  const [facts, clicker] = await Promise.all([
    loadContext(authorizer, operation),
    authorizer.actor({ userId: clickerId, fresh: true }),
  ]);
  return { ...facts, clicker };
}

// A group may hold the whole company; as many are looked at, in the order of the settings.
const mostCandidates = 200;

/** Whom the policy names as approvers, by themselves or by a group: for `quorum`. Those who are gone are left out. */
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
