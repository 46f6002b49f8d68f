import { z } from 'zod';
import { tenantId } from '../../auth/identity.ts';
import { describeChange, diffPolicies } from '../../auth/policy/changes.ts';
import type { PolicyVersion } from '../../auth/policy/policies.ts';
import { initialPolicy, type Policy } from '../../auth/policy/policy.ts';
import type { FormResult } from '../../views/blocks/message.ts';
import * as forms from '../../views/settings/form.ts';
import * as views from '../../views/settings/settings.ts';
import type { With } from '../context.ts';
import { type Action, type Command, defineForm, type Feature, type Picker } from '../define.ts';
import { findConsequences } from './consequences.ts';

const settingsCommand: Command<'policies'> = {
  name: 'settings',
  aliases: ['policy', 'config'],
  usage: 'settings',
  summary: 'Who may do what, where, and who has to approve it',
  examples: ['settings'],
  needs: 'admin',
  modal: () => forms.settingsSkeleton(),
  load: async (_, context) => {
    const policy = await context.authorizer.policy({ fresh: true });
    const { people } = context;
    const named = policy.operatorGroups.length + policy.approverGroups.length > 0;
    const [last, groups] = await Promise.all([
      versionOf(context, policy.version),
      named ? people.groups() : [],
    ]);
    return forms.renderSettingsForm({ policy, last, groups, blind: people.missingScopes() });
  },
};

const chosen = (what: RegExp, refused: string) =>
  z
    .array(z.string().regex(what, { error: refused }))
    .max(forms.mostEntries, { error: `At most ${forms.mostEntries}.` })
    .transform((ids) => [...new Set(ids)])
    .optional();
const users = chosen(/^[UW][A-Z0-9]+$/, 'Pick people from the list.');
const groups = chosen(/^S[A-Z0-9]+$/, 'That line is no user group. Pick one, or leave the field empty.');
const channels = chosen(/^[CG][A-Z0-9]+$/, 'Pick channels, not conversations between people.');
const channel = z
  .string()
  .regex(/^[CG][A-Z0-9]+$/, { error: 'Pick a channel, not a conversation between people.' })
  .optional();
const whole = ([least, most]: readonly [number, number]) => {
  const error = `A whole number from ${least} to ${most}.`;
  return z.coerce.number({ error }).int({ error }).min(least, { error }).max(most, { error }).optional();
};

const capFields = { capNone: 'none', capRead: 'read', capExport: 'export', capChange: 'change' } as const;
const capNames = ['capNone', 'capRead', 'capExport', 'capChange'] as const;

// A field that a form does not have stays as it is; one that was emptied is empty.
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
    digestChannels: channels,
  })
  .superRefine((values, refinement) => {
    const seen = new Set<string>();
    for (const name of capNames) {
      if (values[name]?.some((id) => seen.has(id))) {
        refinement.addIssue({
          code: 'custom',
          path: [name],
          message: 'A channel in here is in a field above as well. It can have one cap only.',
        });
      }
      for (const id of values[name] ?? []) seen.add(id);
    }
  });
type Values = z.output<typeof fields>;

const review: Action = {
  id: 'settings:review',
  needs: 'admin',
  modal: () => forms.settingsSkeleton('What would change'),
  async load(_, context) {
    const read = fields.safeParse(context.modal?.fields ?? {});
    if (!read.success) {
      return views.renderSettingsReview({
        problems: [...new Set(read.error.issues.map(({ message }) => message))],
      });
    }
    const before = await context.authorizer.policy({ fresh: true });
    return views.renderSettingsReview(await findConsequences(before, merged(before, read.data), context));
  },
};

const undo: Action<'policies'> = {
  id: 'settings:undo',
  needs: 'admin',
  async run(value, context) {
    const before = await context.authorizer.policy({ fresh: true });
    // Only the version that this button was rendered for: a second press must not undo more.
    if (value !== String(before.version) || before.version === 0) return (await overtaken(context)).message;
    const older = await versionOf(context, before.version - 1);
    return (await save(before, older?.policy ?? initialPolicy, context)).message;
  },
  changesHome: true,
};

const groupPicker: Picker = {
  id: 'settings:groups',
  fields: ['operatorGroups', 'approverGroups'],
  needs: 'admin',
  async run(typed, { people }) {
    const found = await people.groups();
    return forms.groupOptions(found, people.missingScopes(), typed);
  },
};

export const settings: Feature<'policies'> = {
  name: 'settings',
  commands: [settingsCommand],
  actions: [review, undo],
  forms: [
    defineForm({
      id: 'settings:submit',
      needs: 'admin',
      fields,
      loadingView: forms.settingsBusy(),
      changesHome: true,
      async run(values, context) {
        const before = await context.authorizer.policy({ fresh: true });
        const { metadata: note } = context.modal ?? {};
        if (note !== undefined && note !== String(before.version)) return overtaken(context);
        return save(before, merged(before, values), context);
      },
    }),
  ],
  pickers: [groupPicker],
};

async function save(before: Policy, after: Policy, context: With<'policies'>): Promise<FormResult> {
  const { person, policies } = context;
  const changes = diffPolicies(before, after);
  if (changes.length === 0) return views.nothingChanged();
  const found = await findConsequences(before, after, context);
  const outcome = await policies.save({
    tenant: tenantId(person),
    base: before.version,
    policy: after,
    by: person.userId,
    difference: changes.map(describeChange),
  });
  if (!outcome.saved) return views.changedMeanwhile(outcome.meanwhile);
  const { version, approvalChannel, auditChannel } = outcome.policy;
  const message = views.renderAnnouncement(person.userId, version, found);
  // The old channel is notified that it moved.
  const channels = new Set([approvalChannel, before.approvalChannel].filter((id) => id !== undefined));
  const posted = new Map<string, boolean>();
  for (const channel of channels) posted.set(channel, await context.post(channel, message));
  const told = approvalChannel === undefined ? [] : [approvalChannel];
  // Found out now, not at night when the first checkpoint is due.
  if (auditChannel !== undefined && auditChannel !== before.auditChannel) {
    posted.set(auditChannel, await context.post(auditChannel, views.checkpointsComeHere(person.userId)));
    if (auditChannel !== approvalChannel) told.push(auditChannel);
  }
  const outcomes = told.map((channel) => ({ channel, failed: posted.get(channel) !== true }));
  return views.renderSaved({ version, found, told: outcomes });
}

async function overtaken(context: With<'policies'>): Promise<FormResult> {
  const { version } = await context.authorizer.policy({ fresh: true });
  return views.changedMeanwhile(await versionOf(context, version));
}

async function versionOf(
  { person, policies }: With<'policies'>,
  version: number,
): Promise<PolicyVersion | undefined> {
  return version === 0 ? undefined : policies.version(tenantId(person), version);
}

function merged(before: Policy, values: Values): Policy {
  const kept = <Name extends keyof Values & keyof Policy>(name: Name): Policy[Name] =>
    (values[name] ?? before[name]) as Policy[Name];
  return {
    version: before.version,
    operators: kept('operators'),
    operatorGroups: kept('operatorGroups'),
    approvers: kept('approvers'),
    approverGroups: kept('approverGroups'),
    approvalChannel: 'approvalChannel' in values ? values.approvalChannel : before.approvalChannel,
    auditChannel: 'auditChannel' in values ? values.auditChannel : before.auditChannel,
    destroyApprovals: kept('destroyApprovals'),
    changeApprovals: kept('changeApprovals'),
    expiryMinutes: kept('expiryMinutes'),
    caps: mergedCaps(before, values),
    exportChannels: kept('exportChannels'),
    exportKeepDays: kept('exportKeepDays'),
    digestChannels: kept('digestChannels'),
  };
}

function mergedCaps(before: Policy, values: Values): Policy['caps'] {
  const caps = new Map(
    Object.entries(before.caps).filter(([, cap]) =>
      capNames.every((name) => capFields[name] !== cap || !values[name]),
    ),
  );
  for (const name of capNames) for (const channel of values[name] ?? []) caps.set(channel, capFields[name]);
  return Object.fromEntries(caps);
}
