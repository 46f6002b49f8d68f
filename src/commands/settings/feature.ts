import { z } from 'zod';
import { type Group, type People, tenantId } from '../../auth/identity.ts';
import { assistantModes, initialPolicy, type Policy } from '../../auth/policy/policy.ts';
import { renderAnswer } from '../../views/operations/answers.ts';
import * as forms from '../../views/settings/form.ts';
import * as views from '../../views/settings/settings.ts';
import {
  renderSettingsSummary,
  type SettingsSection,
  type ShownSettings,
  sectionTitles,
} from '../../views/settings/summary.ts';
import { type Action, type Command, type Context, defineForm, type Feature, type Picker } from '../define.ts';
import { decideAfresh } from '../operations/approvals.ts';
import { approve, cancel, deny } from '../operations/decide.ts';
import { settingsChange } from '../operations/kinds/settings.ts';
import { waitForOutcome } from '../operations/proposals.ts';
import { findOperation, findWaitingOf } from '../operations/queries.ts';
import { announce, findConsequences, findSecondAdmins, refuseOvertaken, save } from './save.ts';

const settingsCommand: Command = {
  name: 'settings',
  aliases: ['policy', 'config'],
  usage: 'settings [people|approvals|channels|keeping|assistant]',
  summary: 'Who may do what, where, and who has to approve it',
  examples: ['settings', 'settings approvals'],
  needs: 'admin',
  modal: () => forms.renderSettingsSkeleton('Reading the settings'),
  async load({ list: [word = ''] }, context) {
    const shown = findSection(word);
    return shown ? loadForm(shown, context) : renderSettingsSummary(await loadSettings(context));
  },
};

const editAction: Action = {
  id: 'settings:edit',
  needs: 'admin',
  modal: (value) =>
    forms.renderSettingsSkeleton('Reading the settings', sectionTitles[findSection(value) ?? 'people']),
  load: (value, context) => loadForm(findSection(value) ?? 'people', context),
};

function findSection(word: string): SettingsSection | undefined {
  const name = word.toLowerCase();
  return Object.hasOwn(sectionTitles, name) ? (name as SettingsSection) : undefined;
}

async function loadForm(shown: SettingsSection, { authorizer, people }: Context) {
  const policy = await authorizer.policy({ fresh: true });
  const groups = shown === 'people' ? await loadGroups(policy, people) : [];
  return forms.renderSettingsForm(shown, { policy, groups, missing: people.missingScopes() });
}

async function loadSettings(context: Context): Promise<ShownSettings> {
  const { people, person } = context;
  const policy = await context.authorizer.policy({ fresh: true });
  const [last, pending, groups, overdueFiles] = await Promise.all([
    context.policies.version(tenantId(person), policy.version),
    findWaitingOf(context.ledger, tenantId(person), settingsChange.name),
    loadGroups(policy, people),
    context.exports.countOverdue(person, policy.exportKeepDays),
  ]);
  const missing = people.missingScopes();
  return { policy, last, pending, reader: person.userId, groups, missing, overdueFiles };
}

/** Their names are needed only where there are some. */
async function loadGroups(
  { operatorGroups, approverGroups }: Policy,
  people: People,
): Promise<readonly Group[]> {
  return operatorGroups.length + approverGroups.length > 0 ? people.groups() : [];
}

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
    assistant: z.enum(assistantModes, { error: 'Pick one of the three.' }).optional(),
    secondAdmin: z
      .array(z.string())
      .transform((ticked) => ticked.length > 0)
      .optional(),
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
    value === undefined ? name === 'approvalChannel' : !(name in forms.caps),
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
    if (value !== String(before.version) || before.version === 0)
      return (await refuseOvertaken(context)).message;
    const older = await context.policies.version(tenantId(context.person), before.version - 1);
    return (await save(before, older?.policy ?? initialPolicy, context)).message;
  },
};

/** A press on a change that waits for a second admin, answered beside the message or on top of the settings. */
const press = { needs: 'admin', changesHome: true, newMessage: true } as const;

const confirmAction: Action = {
  ...press,
  id: 'settings:confirm',
  async run(id, context) {
    const { ledger, person, policies, authorizer } = context;
    const before = await authorizer.policy({ fresh: true });
    const answer = await decideAfresh(id, context, (decision) => approve(ledger, id, person, decision));
    if (answer.kind !== 'approved') return renderAnswer(answer);
    const operation = await waitForOutcome(answer.operation, context);
    if (operation.state !== 'succeeded') return renderAnswer({ kind: 'approved', operation });
    const saved = await policies.version(tenantId(person), before.version + 1);
    const after = saved?.policy ?? (await authorizer.policy({ fresh: true }));
    const found = await findConsequences(before, after, context);
    const who = { by: operation.requester.userId, second: person.userId };
    return views.renderSaved(after.version, found, await announce(before, after, found, who, context))
      .message;
  },
};

/** By its author too, who takes it back. */
const rejectAction: Action = {
  ...press,
  id: 'settings:reject',
  async run(id, context) {
    const { ledger, person } = context;
    const operation = await findOperation(ledger, tenantId(person), id);
    if (operation?.requester.userId === person.userId) return renderAnswer(await cancel(ledger, id, person));
    return renderAnswer(
      await decideAfresh(id, context, (decision) =>
        deny(ledger, id, person, { reason: undefined, context: decision }),
      ),
    );
  },
};

export const groupPicker: Picker = {
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
  async run(values, context: Context) {
    const before = await context.authorizer.policy({ fresh: true });
    const edited = context.modal?.metadata;
    if (edited !== undefined && edited !== String(before.version)) return refuseOvertaken(context);
    return save(before, merge(before, values), context);
  },
});

export const settings: Feature = {
  name: 'settings',
  commands: [settingsCommand],
  actions: [editAction, reviewAction, undoAction, confirmAction, rejectAction],
  forms: [settingsForm],
  pickers: [groupPicker],
};
