import { findGroups } from '../../auth/identity.ts';
import {
  type AffectedPerson,
  computeEffects,
  diffPolicies,
  findUnreachableQuorums,
} from '../../auth/policy/changes.ts';
import type { Policy } from '../../auth/policy/policy.ts';
import type { Consequences } from '../../views/settings/policy-changes.ts';
import type { Context } from '../context.ts';

// A group may hold the whole company: the others of a group are like those who are listed.
const maxPeople = 200;

/** Computes the effects of a change of settings: the differences, and the decisions that change. */
export async function findConsequences(
  before: Policy,
  after: Policy,
  { people }: Pick<Context, 'people'>,
): Promise<Consequences> {
  const groupIds = unique([
    ...before.operatorGroups,
    ...before.approverGroups,
    ...after.operatorGroups,
    ...after.approverGroups,
  ]);
  const [members, known] = await Promise.all([
    Promise.all(groupIds.map((id) => people.members(id, { fresh: true }))),
    groupIds.length > 0 ? people.groups() : [],
  ]);
  const names = new Map(known.map(({ id, handle }) => [id, handle]));
  const named = unique([
    ...before.operators,
    ...after.operators,
    ...before.approvers,
    ...after.approvers,
    ...members.flat(),
  ]).slice(0, maxPeople);
  const concerned: AffectedPerson[] = await Promise.all(
    named.map(async (userId) => ({
      userId,
      admin: false,
      groups: await findGroups(people, userId, groupIds),
    })),
  );
  const inGroups = after.approverGroups.flatMap((id) => members[groupIds.indexOf(id)] ?? []);
  return {
    changes: diffPolicies(before, after),
    effects: computeEffects(before, after, concerned),
    unreachable: findUnreachableQuorums(after, unique([...after.approvers, ...inGroups]).length),
    missingScopes:
      groupIds.length > 0 ? people.missingScopes().filter(({ lookup }) => lookup === 'groups') : [],
    nobodyOperates: after.operators.length + after.operatorGroups.length === 0,
    groupName: (id) => names.get(id),
  };
}

function unique(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
