import { findGroups, tenantId } from '../../auth/identity.ts';
import { findOtherAdmins, RolesUnknown } from '../../auth/policy/authorizer.ts';
import {
  computeEffects,
  describeChange,
  diffPolicies,
  findUnreachableQuorums,
} from '../../auth/policy/changes.ts';
import type { Policy } from '../../auth/policy/policy.ts';
import type { FormResult } from '../../views/blocks/blocks.ts';
import * as views from '../../views/settings/settings.ts';
import type { Context } from '../define.ts';
import { voidOvertaken } from '../operations/expiry.ts';
import { findLowering, type Lowering, settingsChange, writeFacts } from '../operations/kinds/settings.ts';
import { assertAllowed, proposeChange } from '../operations/proposals.ts';

/** Saves a change of settings, or has a second admin asked, by the rights and groups of now. */
export async function save(before: Policy, after: Policy, context: Context): Promise<FormResult> {
  const { person, policies, ledger } = context;
  assertAllowed(await context.decide('admin', { fresh: true }), context);
  const changes = diffPolicies(before, after);
  if (changes.length === 0) return views.renderNothingChanged();
  const second = await findSecondAdmins(before, after, context);
  if (second) return askSecondAdmin(before, after, second, context);
  const found = await findConsequences(before, after, context);
  const outcome = await policies.save({
    tenant: tenantId(person),
    base: before.version,
    policy: after,
    by: person.userId,
    difference: changes.map(describeChange),
  });
  if (!outcome.saved) return views.renderChangedMeanwhile(outcome.meanwhile);
  await voidOvertaken(ledger, tenantId(person), settingsChange.name);
  const told = await announce(before, outcome.policy, found, { by: person.userId }, context);
  return views.renderSaved(outcome.policy.version, found, told);
}

// As many are told.
const mostAdmins = 10;

/**
 * The admins of whom one must confirm this change, by the groups and profiles of now; undefined where it lowers nothing or
 * the bot knows no other admin. @throws RolesUnknown where Slack does not say what decides.
 */
export async function findSecondAdmins(
  before: Policy,
  after: Policy,
  { people, person, policies }: Context,
): Promise<{ readonly admins: readonly string[]; readonly lowers: Lowering } | undefined> {
  const both = [before, after].flatMap((policy) => [...policy.operatorGroups, ...policy.approverGroups]);
  const { userId } = person;
  const { groups, unread } = await findGroups(people, userId, unique(both), { fresh: true });
  if (unread.length > 0 && before.secondAdmin) throw new RolesUnknown();
  const lowers = findLowering(before, after, { userId, groups });
  if (!lowers) return undefined;
  const known = await policies.knownPeople(tenantId(person));
  const admins = await findOtherAdmins(people, known, userId);
  return admins.length > 0 ? { admins: admins.slice(0, mostAdmins), lowers } : undefined;
}

/** In place of a change of this tenant that waits already. */
async function askSecondAdmin(
  before: Policy,
  after: Policy,
  { admins, lowers }: { readonly admins: readonly string[]; readonly lowers: Lowering },
  context: Context,
): Promise<FormResult> {
  const { ledger, person } = context;
  const { version } = await context.authorizer.policy({ fresh: true });
  if (version !== before.version) return refuseOvertaken(context);
  await voidOvertaken(ledger, tenantId(person), settingsChange.name);
  const { version: _, ...request } = after;
  const operation = await proposeChange(
    {
      kind: settingsChange,
      request,
      reason: undefined,
      snapshot: writeFacts(before, lowers, person.userId),
      policy: before,
      approvers: admins,
    },
    context,
  );
  return views.renderWaiting(operation, admins);
}

/** Tells the channels that are concerned; false for one where the bot cannot write. */
export async function announce(
  before: Policy,
  { version, approvalChannel }: Policy,
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
  return told;
}

/** Of two changes of one version the second is not saved. */
export async function refuseOvertaken(context: Context): Promise<FormResult> {
  const { version } = await context.authorizer.policy({ fresh: true });
  return views.renderChangedMeanwhile(await context.policies.version(tenantId(context.person), version));
}

// A group may hold the whole company: its other members are like those who are listed.
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
