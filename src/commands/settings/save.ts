import { findGroups, tenantId } from '../../auth/identity.ts';
import {
  computeEffects,
  describeChange,
  diffPolicies,
  findUnreachableQuorums,
} from '../../auth/policy/changes.ts';
import type { Policy } from '../../auth/policy/policy.ts';
import type { FormResult } from '../../views/blocks/blocks.ts';
import { renderWaiting } from '../../views/settings/pending.ts';
import * as views from '../../views/settings/settings.ts';
import type { Context, With } from '../define.ts';
import { assertAllowed } from '../operations/proposals.ts';
import { findSecondAdmins } from './second-admin.ts';

/** Saves a change of settings, or has a second admin asked, by the rights and groups of now. */
export async function save(before: Policy, after: Policy, context: With<'policies'>): Promise<FormResult> {
  const { person, policies } = context;
  assertAllowed(await context.decide('admin', { fresh: true }), context);
  const changes = diffPolicies(before, after);
  if (changes.length === 0) return views.renderNothingChanged();
  const second = await findSecondAdmins(before, after, context);
  if (second) {
    const { admins: told, lowers } = second;
    const policy = { ...after, version: before.version };
    const pending = await policies.propose({ author: person, policy, changes, lowers, told });
    return pending ? renderWaiting(pending) : refuseOvertaken(context);
  }
  const found = await findConsequences(before, after, context);
  const outcome = await policies.save({
    tenant: tenantId(person),
    base: before.version,
    policy: after,
    by: person.userId,
    difference: changes.map(describeChange),
  });
  if (!outcome.saved) return views.renderChangedMeanwhile(outcome.meanwhile);
  const told = await announce(before, outcome.policy, found, { by: person.userId }, context);
  return views.renderSaved(outcome.policy.version, found, told);
}

/** Tells the channels that are concerned; false for one where the bot cannot write. */
export async function announce(
  before: Policy,
  { version, approvalChannel, auditChannel }: Policy,
  found: views.Consequences,
  who: views.Author,
  context: Context,
): Promise<Map<string, boolean>> {
  const announcement = views.renderAnnouncement(who, version, found);
  const told = new Map<string, boolean>();
  if (approvalChannel !== undefined)
    told.set(approvalChannel, await context.post(approvalChannel, announcement));
  // The old channel is notified that it moved.
  if (before.approvalChannel !== undefined && before.approvalChannel !== approvalChannel)
    await context.post(before.approvalChannel, announcement);
  // Found out now, not at night when the first checkpoint is due.
  if (auditChannel !== undefined && auditChannel !== before.auditChannel)
    told.set(auditChannel, await context.post(auditChannel, views.renderCheckpointNotice(who.by)));
  return told;
}

/** Of two changes of one version the second is not saved. */
export async function refuseOvertaken(context: With<'policies'>): Promise<FormResult> {
  const { version } = await context.authorizer.policy({ fresh: true });
  return views.renderChangedMeanwhile(await context.policies.version(tenantId(context.person), version));
}

// A group may hold the whole company: the others of a group are like those who are listed.
const mostPeople = 200;

/** The effects of a change of settings: the differences, and the decisions that change. */
export async function findConsequences(
  before: Policy,
  after: Policy,
  { people }: Context,
): Promise<views.Consequences> {
  const both = [before, after];
  const groupIds = unique(both.flatMap((policy) => [...policy.operatorGroups, ...policy.approverGroups]));
  const [members, known] = await Promise.all([
    Promise.all(groupIds.map((id) => people.members(id, { fresh: true }))),
    groupIds.length > 0 ? people.groups() : [],
  ]);
  const named = both.flatMap((policy) => [...policy.operators, ...policy.approvers]);
  const concerned = await Promise.all(
    unique([...named, ...members.flatMap((found) => found ?? [])])
      .slice(0, mostPeople)
      .map(async (userId) => ({ userId, groups: (await findGroups(people, userId, groupIds)).groups })),
  );
  const inGroups = after.approverGroups.flatMap((id) => members[groupIds.indexOf(id)] ?? []);
  return {
    changes: diffPolicies(before, after),
    effects: computeEffects(before, after, concerned),
    unreachable: findUnreachableQuorums(after, unique([...after.approvers, ...inGroups]).length),
    missingScopes:
      groupIds.length > 0 ? people.missingScopes().filter(({ lookup }) => lookup === 'groups') : [],
    nobodyOperates: after.operators.length + after.operatorGroups.length === 0,
    groupName: (id) => known.find((group) => group.id === id)?.handle,
  };
}

function unique(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
