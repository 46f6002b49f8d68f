import { z } from 'zod';
import { findGroups, tenantId } from '../../auth/identity.ts';
import {
  computeEffects,
  describeChange,
  diffPolicies,
  findUnreachableQuorums,
} from '../../auth/policy/changes.ts';
import { initialPolicy, type Policy } from '../../auth/policy/policy.ts';
import type { FormResult } from '../../views/blocks/blocks.ts';
import * as forms from '../../views/settings/form.ts';
import * as views from '../../views/settings/settings.ts';
import type { Context, With } from '../define.ts';
import { type Action, type Command, defineForm, type Feature, type Picker } from '../define.ts';
import { assertAllowed } from '../operations/proposals.ts';

const settingsCommand: Command<'policies' | 'exports'> = {
  name: 'settings',
  aliases: ['policy', 'config'],
  usage: 'settings',
  summary: 'Who may do what, where, and who has to approve it',
  examples: ['settings'],
  needs: 'admin',
  modal: () => forms.renderSettingsSkeleton('Reading the settings'),
  async load(_, context) {
    const { people } = context;
    const policy = await context.authorizer.policy({ fresh: true });
    const hasGroups = policy.operatorGroups.length + policy.approverGroups.length > 0;
    const [last, groups, overdueFiles] = await Promise.all([
      context.policies.version(tenantId(context.person), policy.version),
      hasGroups ? people.groups() : [],
      context.exports.countOverdue(context.person, policy.exportKeepDays),
    ]);
    return forms.renderSettingsForm({ policy, last, groups, missing: people.missingScopes(), overdueFiles });
  },
};

const idList = (shape: RegExp, refused: string) =>
  z
    .array(z.string().regex(shape, { error: refused }))
    .max(forms.mostEntries, { error: `At most ${forms.mostEntries}.` })
    .transform((ids) => [...new Set(ids)])
    .optional();
const users = idList(/^[UW][A-Z0-9]+$/, 'Pick people from the list.');
const groups = idList(
  /^(?:T[A-Z0-9]+\/)?S[A-Z0-9]+$/,
  'That line is no user group. Pick one, or leave the field empty.',
);
const channels = idList(/^[CG][A-Z0-9]+$/, 'Pick channels, not conversations between people.');
const channel = z
  .string()
  .regex(/^[CG][A-Z0-9]+$/, { error: 'Pick a channel, not a conversation between people.' })
  .optional();
const whole = ([least, most]: readonly [number, number]) => {
  const error = `A whole number from ${least} to ${most}.`;
  return z.coerce.number({ error }).int({ error }).min(least, { error }).max(most, { error }).optional();
};

const capNames = [
  'capNone',
  'capRead',
  'capExport',
  'capChange',
] as const satisfies (keyof typeof forms.caps)[];

const fields = z
  .object({
    operators: users,
    operatorGroups: groups,
    approvers: users,
    approverGroups: groups,
    approvalChannel: channel,
    auditChannel: channel,
    destroyApprovals: whole(forms.ranges.destroyApprovals),
    changeApprovals: whole(forms.ranges.changeApprovals),
    expiryMinutes: whole(forms.ranges.expiryMinutes),
    exportKeepDays: whole(forms.ranges.exportKeepDays),
    capNone: channels,
    capRead: channels,
    capExport: channels,
    capChange: channels,
    exportChannels: channels,
    postChannels: channels,
  })
  .superRefine((values, refinement) => {
    const seen = new Set<string>();
    for (const name of capNames) {
      const message = 'A channel in here is in a field above as well. It can have one cap only.';
      if (values[name]?.some((id) => seen.has(id)))
        refinement.addIssue({ code: 'custom', path: [name], message });
      for (const id of values[name] ?? []) seen.add(id);
    }
  });

/** A field that a form does not have stays as it is; a channel that was emptied is empty. */
function merge(before: Policy, values: z.output<typeof fields>): Policy {
  const given = Object.entries(values).filter(([name, value]) =>
    value === undefined ? name === 'approvalChannel' || name === 'auditChannel' : !(name in forms.caps),
  );
  const isReplaced = (cap: string): boolean =>
    capNames.some((name) => forms.caps[name] === cap && values[name]);
  const caps = [
    ...Object.entries(before.caps).filter(([, cap]) => !isReplaced(cap)),
    ...capNames.flatMap((name) => (values[name] ?? []).map((id) => [id, forms.caps[name]] as const)),
  ];
  return { ...before, ...Object.fromEntries(given), caps: Object.fromEntries(caps) };
}

const reviewAction: Action = {
  id: 'settings:review',
  needs: 'admin',
  modal: () => forms.renderSettingsSkeleton('Reading the settings', 'What would change'),
  async load(_, context) {
    const read = fields.safeParse(context.modal?.fields ?? {});
    if (!read.success) {
      const problems = new Set(read.error.issues.map(({ message }) => message));
      return views.renderSettingsReview({ problems: [...problems] });
    }
    const before = await context.authorizer.policy({ fresh: true });
    return views.renderSettingsReview(await findConsequences(before, merge(before, read.data), context));
  },
};

const undoAction: Action<'policies'> = {
  id: 'settings:undo',
  needs: 'admin',
  changesHome: true,
  async run(value, context) {
    const before = await context.authorizer.policy({ fresh: true });
    // Only the version that this button was rendered for: a second press must not undo more.
    if (value !== String(before.version) || before.version === 0)
      return (await refuseOvertaken(context)).message;
    const older = await context.policies.version(tenantId(context.person), before.version - 1);
    return (await save(before, older?.policy ?? initialPolicy, context)).message;
  },
};

const groupPicker: Picker = {
  id: 'settings:groups',
  fields: ['operatorGroups', 'approverGroups'],
  needs: 'admin',
  async run(typed, { people }) {
    const found = await people.groups();
    return forms.renderGroupOptions(found, people.missingScopes(), typed);
  },
};

const settingsForm = defineForm({
  id: 'settings:submit',
  needs: 'admin',
  fields,
  loadingView: forms.renderSettingsSkeleton('Saving'),
  changesHome: true,
  async run(values, context: With<'policies'>) {
    const before = await context.authorizer.policy({ fresh: true });
    const edited = context.modal?.metadata;
    if (edited !== undefined && edited !== String(before.version)) return refuseOvertaken(context);
    return save(before, merge(before, values), context);
  },
});

export const settings: Feature<'policies' | 'exports'> = {
  name: 'settings',
  commands: [settingsCommand],
  actions: [reviewAction, undoAction],
  forms: [settingsForm],
  pickers: [groupPicker],
};

async function save(before: Policy, after: Policy, context: With<'policies'>): Promise<FormResult> {
  const { person, policies } = context;
  assertAllowed(await context.decide('admin', { fresh: true }), context);
  const changes = diffPolicies(before, after);
  if (changes.length === 0) return views.renderNothingChanged();
  const found = await findConsequences(before, after, context);
  const outcome = await policies.save({
    tenant: tenantId(person),
    base: before.version,
    policy: after,
    by: person.userId,
    difference: changes.map(describeChange),
  });
  if (!outcome.saved) return views.renderChangedMeanwhile(outcome.meanwhile);
  const { version, approvalChannel, auditChannel } = outcome.policy;
  const announcement = views.renderAnnouncement(person.userId, version, found);
  const told = new Map<string, boolean>();
  if (approvalChannel !== undefined)
    told.set(approvalChannel, await context.post(approvalChannel, announcement));
  // The old channel is notified that it moved.
  if (before.approvalChannel !== undefined && before.approvalChannel !== approvalChannel)
    await context.post(before.approvalChannel, announcement);
  // Found out now, not at night when the first checkpoint is due.
  if (auditChannel !== undefined && auditChannel !== before.auditChannel)
    told.set(auditChannel, await context.post(auditChannel, views.renderCheckpointNotice(person.userId)));
  return views.renderSaved(version, found, told);
}

async function refuseOvertaken(context: With<'policies'>): Promise<FormResult> {
  const { version } = await context.authorizer.policy({ fresh: true });
  return views.renderChangedMeanwhile(await context.policies.version(tenantId(context.person), version));
}

// A group may hold the whole company: the others of a group are like those who are listed.
const mostPeople = 200;

/** The effects of a change of settings: the differences, and the decisions that change. */
async function findConsequences(
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
