import { z } from 'zod';
import { findGroups, type Group, type People, tenantId } from '../../auth/identity.ts';
import { findOtherAdmins, RolesUnknown } from '../../auth/policy/authorizer.ts';
import {
  assistantModes,
  computeEffects,
  describeChange,
  diffPolicies,
  findUnreachableQuorums,
  initialPolicy,
  type Policy,
} from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { FormResult } from '../../views/blocks/blocks.ts';
import { formatInteger } from '../../views/blocks/format.ts';
import { renderSkeleton } from '../../views/blocks/inputs.ts';
import { probes, renderFindings } from '../../views/doctor.ts';
import { renderAnswer } from '../../views/operations/approvals.ts';
import * as views from '../../views/settings/settings.ts';
import { type Action, type Command, type Context, defineForm, type Feature, type Picker } from '../define.ts';
import { approve, decideAfresh, deny, pressWith, renderPress } from '../operations/approvals.ts';
import { voidOvertaken } from '../operations/execute.ts';
import { findLowering, type Lowering, settingsChange, writeFacts } from '../operations/kinds/settings.ts';
import { assertAllowed, proposeChange, waitForOutcome } from '../operations/propose.ts';

const reading = 'Reading the settings…';

const settingsCommand: Command = {
  name: 'settings',
  aliases: ['policy', 'config'],
  usage: 'settings [people|approvals|channels|keeping|assistant]',
  summary: 'Who may do what, where, and who has to approve it',
  examples: ['settings', 'settings approvals'],
  needs: 'admin',
  modal: () => renderSkeleton('Settings', reading),
  async load({ list: [word = ''] }, context) {
    const shown = findSection(word);
    return shown ? loadForm(shown, context) : views.renderSettingsSummary(await loadSettings(context));
  },
};

const editAction: Action = {
  id: 'settings:edit',
  needs: 'admin',
  modal: (value) => renderSkeleton(views.sectionTitles[findSection(value) ?? 'people'], reading),
  load: (value, context) => loadForm(findSection(value) ?? 'people', context),
};

function findSection(word: string): views.SettingsSection | undefined {
  const name = word.toLowerCase();
  return Object.hasOwn(views.sectionTitles, name) ? (name as views.SettingsSection) : undefined;
}

async function loadForm(shown: views.SettingsSection, { authorizer, people }: Context) {
  const policy = await authorizer.policy({ fresh: true });
  const groups = shown === 'people' ? await loadGroups(policy, people) : [];
  return views.renderSettingsForm(shown, { policy, groups, missing: people.missingScopes() });
}

async function loadSettings(context: Context): Promise<views.ShownSettings> {
  const { people, person } = context;
  const policy = await context.authorizer.policy({ fresh: true });
  const [last, groups, overdueFiles] = await Promise.all([
    context.policies.version(tenantId(person), policy.version),
    loadGroups(policy, people),
    context.exports.countOverdue(person, policy.exportKeepDays),
  ]);
  const missing = people.missingScopes();
  return { policy, last, groups, missing, overdueFiles };
}

async function loadGroups(policy: Policy, people: People): Promise<readonly Group[]> {
  return policy.operatorGroups.length + policy.approverGroups.length > 0 ? people.groups() : [];
}

const idList = (shape: RegExp, refused: string) =>
  z
    .array(z.string().regex(shape, { error: refused }))
    .max(views.mostEntries, { error: `At most ${views.mostEntries}.` })
    .transform((ids) => [...new Set(ids)]);
const channels = idList(/^[CG][A-Z0-9]+$/, 'Pick channels, not conversations between people.');
const noGroup = 'That line is not a user group. Pick one, or leave the field empty.';
const noChannel = 'Pick a channel, not a conversation between people.';

/** What a form may send for each type of field. */
const schemas = {
  people: idList(/^[UW][A-Z0-9]+$/, 'Pick people from the list.'),
  groups: idList(/^(?:T[A-Z0-9]+\/)?S[A-Z0-9]+$/, noGroup),
  channels,
  cap: channels,
  channel: z.string().regex(/^[CG][A-Z0-9]+$/, noChannel),
  mode: z.enum(assistantModes, { error: 'Pick one of the three.' }),
  tick: z.array(z.string()).transform((ticked) => ticked.length > 0),
};

function makeSchema([, type]: views.SettingField): z.ZodType {
  if (typeof type === 'string') return schemas[type].optional();
  const [least, most] = type;
  const error = `A whole number from ${formatInteger(least)} to ${formatInteger(most)}.`;
  return z.coerce.number({ error }).int({ error }).min(least, { error }).max(most, { error }).optional();
}

type Values = Readonly<Record<string, unknown>>;
const capNames = Object.keys(views.caps);
const capOf = (values: Values, name: string) => (values[name] ?? []) as readonly string[];

const fields = z
  .object(
    Object.fromEntries(
      Object.entries(views.settingFields).map(([name, field]) => [name, makeSchema(field)] as const),
    ),
  )
  .superRefine((values, refinement) => {
    const seen = new Set<string>();
    for (const name of capNames) {
      const message = 'A channel here is also in a field above. Put each channel into one field.';
      if (capOf(values, name).some((id) => seen.has(id)))
        refinement.addIssue({ code: 'custom', path: [name], message });
      for (const id of capOf(values, name)) seen.add(id);
    }
  });
/** A field that a form does not have stays unchanged; an emptied channel is empty. */
function merge(before: Policy, values: Values): Policy {
  const given = Object.entries(values).filter(([name, value]) =>
    value === undefined ? name === 'approvalChannel' : !capNames.includes(name),
  );
  const sent = Object.entries(views.caps).filter(([name]) => values[name] !== undefined);
  const kept = Object.entries(before.caps).filter(([, cap]) => !sent.some(([, other]) => other === cap));
  const chosen = sent.flatMap(([name, cap]) => capOf(values, name).map((id) => [id, cap] as const));
  return { ...before, ...Object.fromEntries(given), caps: Object.fromEntries([...kept, ...chosen]) };
}

const reviewAction: Action = {
  id: 'settings:review',
  needs: 'admin',
  modal: () => renderSkeleton('What would change', reading),
  async load(_, context) {
    const read = fields.safeParse(context.modal?.fields ?? {});
    if (!read.success) {
      const problems = new Set(read.error.issues.map(({ message }) => message));
      return views.renderSettingsReview({ problems: [...problems] });
    }
    const before = await context.authorizer.policy({ fresh: true });
    const after = merge(before, read.data);
    const [found, second] = await Promise.all([
      findConsequences(before, after, context),
      findSecondAdmins(before, after, context),
    ]);
    return views.renderSettingsReview({ ...found, secondAdmins: second?.admins ?? [] });
  },
};

const undoAction: Action = {
  id: 'settings:undo',
  needs: 'admin',
  changesHome: true,
  async run(value, context) {
    const before = await context.authorizer.policy({ fresh: true });
    // Only the version that this button was rendered for: a second press must not undo more.
    if (value !== String(before.version)) return (await refuseOvertaken(context)).message;
    const older = await context.policies.version(tenantId(context.person), before.version - 1);
    return (await save(before, older?.policy ?? initialPolicy, context)).message;
  },
};

/** A press on a change that waits for a second admin, answered below the message or on top of the settings. */
const press = { needs: 'admin', changesHome: true, newMessage: true } as const;

const confirmAction: Action = {
  ...press,
  id: 'settings:confirm',
  async run(id, context) {
    const { ledger, person, authorizer } = context;
    const before = await authorizer.policy({ fresh: true });
    const answer = await decideAfresh(id, context, (decision) => approve(ledger, id, person, decision));
    if (answer.kind !== 'approved') return renderPress(answer, context);
    const operation = await waitForOutcome(answer.operation, context);
    if (operation.state !== 'succeeded') return renderAnswer({ kind: 'approved', operation });
    const after = await authorizer.policy({ fresh: true });
    const found = await findConsequences(before, after, context);
    const who = { by: operation.requester.userId, second: person.userId };
    const told = await announce(before, after, found, who, context);
    return views.renderSaved(after.version, found, told).message;
  },
};

const rejectAction: Action = {
  ...press,
  id: 'settings:reject',
  run: (id, context) =>
    pressWith(id, context, (decision) =>
      deny(context.ledger, id, context.person, { reason: undefined, context: decision }),
    ),
};

const groupPicker: Picker = {
  id: 'settings:groups',
  fields: ['operatorGroups', 'approverGroups', 'groups'],
  // Who sees the menu may open its form: of the settings, or of an alert.
  needs: 'none',
  async run(typed, { people }) {
    const found = await people.groups();
    return views.renderGroupOptions(found, people.missingScopes(), typed);
  },
};

const settingsForm = defineForm({
  id: 'settings:submit',
  needs: 'admin',
  fields,
  loadingView: renderSkeleton('Settings', 'Saving…'),
  again: (fields) => ['settings:edit', views.findSectionOf(Object.keys(fields))],
  changesHome: true,
  async run(values, context: Context) {
    const before = await context.authorizer.policy({ fresh: true });
    if (context.modal?.metadata !== String(before.version)) return refuseOvertaken(context);
    return save(before, merge(before, values), context);
  },
});

async function save(before: Policy, after: Policy, context: Context): Promise<FormResult> {
  const { person, policies, ledger } = context;
  await assertAllowed(await context.decide('admin', { fresh: true }), context);
  const changes = diffPolicies(before, after);
  if (changes.length === 0) return views.renderNothingChanged();
  const { approvalChannel: channel } = after;
  if (channel !== undefined && channel !== before.approvalChannel && (await isShared(channel, context)))
    throw new UserError(
      `<#${channel}> is shared with another organization, so no request may be posted there. Nothing was saved.`,
      'Choose a channel in your own organization.',
    );
  const second = await findSecondAdmins(before, after, context);
  if (second) return askSecondAdmin(before, after, second, context);
  const found = await findConsequences(before, after, context);
  const [tenant, by] = [tenantId(person), person.userId];
  const difference = changes.map(describeChange);
  const outcome = await policies.save({ tenant, base: before.version, policy: after, by, difference });
  if (!outcome.saved) return views.renderChangedMeanwhile(outcome.meanwhile);
  await voidOvertaken(ledger, tenant, settingsChange.name);
  const told = await announce(before, outcome.policy, found, { by }, context);
  return views.renderSaved(outcome.policy.version, found, told);
}

const mostAdmins = 10;

/** The admins of whom one must confirm this change; undefined if none has to. @throws RolesUnknown */
async function findSecondAdmins(
  before: Policy,
  after: Policy,
  { people, person, policies }: Context,
): Promise<{ readonly admins: readonly string[]; readonly lowers: Lowering } | undefined> {
  const { userId } = person;
  const { groups, unread } = await findGroups(people, userId, listGroups(before, after), { fresh: true });
  if (unread.length > 0 && before.secondAdmin) throw new RolesUnknown();
  const lowers = findLowering(before, after, { userId, groups });
  if (!lowers) return undefined;
  const known = await policies.knownPeople(tenantId(person));
  const admins = await findOtherAdmins(people, known, userId);
  return admins.length > 0 ? { admins: admins.slice(0, mostAdmins), lowers } : undefined;
}

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
  const snapshot = writeFacts(before, lowers, person.userId);
  const change = { kind: settingsChange, request, reason: undefined, snapshot };
  const operation = await proposeChange({ ...change, policy: before, approvers: admins }, context);
  return views.renderWaiting(operation, admins);
}

async function announce(
  before: Policy,
  { version, approvalChannel }: Policy,
  found: views.Consequences,
  who: views.Author,
  context: Context,
): Promise<views.Told | undefined> {
  const announcement = views.renderAnnouncement(who, version, found);
  let told: views.Told | undefined;
  for (const channel of new Set([approvalChannel, before.approvalChannel])) {
    if (channel === undefined || (await isShared(channel, context))) continue;
    const isTold = (await context.post(channel, announcement)) === undefined;
    if (channel === approvalChannel) told = { channel, isTold };
  }
  return told;
}

/** Whether people of another organization read a channel. */
async function isShared(channel: string, { sharing }: Context): Promise<boolean> {
  return (await sharing.readAudience(channel)) === 'others';
}

async function refuseOvertaken(context: Context): Promise<FormResult> {
  const { version } = await context.authorizer.policy({ fresh: true });
  return views.renderChangedMeanwhile(await context.policies.version(tenantId(context.person), version));
}

// A group may hold the whole company: its other members are treated like the listed ones.
const mostPeople = 200;

async function findConsequences(
  before: Policy,
  after: Policy,
  { people }: Context,
): Promise<views.Consequences> {
  const groupIds = listGroups(before, after);
  const [members, known] = await Promise.all([
    Promise.all(groupIds.map((id) => people.members(id, { fresh: true }))),
    groupIds.length > 0 ? people.groups() : [],
  ]);
  const named = [before, after].flatMap((policy) => [...policy.operators, ...policy.approvers]);
  const concerned = [...new Set([...named, ...members.flatMap((found) => found ?? [])])]
    .slice(0, mostPeople)
    .map((userId) => ({ userId, groups: groupIds.filter((_, nth) => members[nth]?.includes(userId)) }));
  const inGroups = after.approverGroups.flatMap((id) => members[groupIds.indexOf(id)] ?? []);
  return {
    changes: diffPolicies(before, after),
    effects: computeEffects(before, after, concerned),
    unreachable: findUnreachableQuorums(after, new Set([...after.approvers, ...inGroups]).size),
    missingScopes:
      groupIds.length > 0 ? people.missingScopes().filter(({ lookup }) => lookup === 'groups') : [],
    nobodyOperates: after.operators.length + after.operatorGroups.length === 0,
    groupName: (id) => known.find((group) => group.id === id)?.handle,
  };
}

function listGroups(...policies: readonly Policy[]): string[] {
  return [...new Set(policies.flatMap((policy) => [...policy.operatorGroups, ...policy.approverGroups]))];
}

export const settings: Feature = {
  name: 'settings',
  commands: [settingsCommand],
  actions: [editAction, reviewAction, undoAction, confirmAction, rejectAction],
  forms: [settingsForm],
  pickers: [groupPicker],
};

export const doctor: Feature = {
  name: 'doctor',
  commands: [
    {
      name: 'doctor',
      aliases: ['diagnose', 'health'],
      usage: 'doctor',
      summary: 'Checks this bot: what is wrong here, and how to fix it',
      examples: ['doctor'],
      needs: 'admin',
      shares: 'never',
      async *run(_words, { doctor: service, person, now }) {
        // Each answer replaces the one before: private answers show whether they take charts and tables, and none stays.
        await service.retryNativeBlocks(person);
        yield* Object.values(probes);
        yield renderFindings(await service.examine(person), now());
      },
    },
  ],
};
