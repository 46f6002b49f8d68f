import type {
  AlertBlock,
  Button,
  InputBlock,
  KnownBlock,
  ModalView,
  Option,
  PlainTextOption,
} from '@slack/types';
import type { Group, MissingScope } from '../../auth/identity.ts';
import {
  assistantModes,
  type Change,
  channelCap,
  type Effect,
  type ListField,
  type Policy,
  type Quorum,
  type Right,
  readAssistant,
} from '../../auth/policy/policy.ts';
import { minuteMs } from '../../lib/time.ts';
import {
  actions,
  compact,
  context,
  type FormResult,
  type Message,
  plain,
  say,
  section,
} from '../blocks/blocks.ts';
import { button, commandButton, confirmation } from '../blocks/buttons.ts';
import { cannotReadGroups, missingScopeLines } from '../blocks/failure.ts';
import { agree, formatCount, formatDuration, formatMoment, pluralize } from '../blocks/format.ts';
import {
  channelSelect,
  checkbox,
  formResult,
  input,
  modal,
  multiChannelSelect,
  multiSearchSelect,
  numberInput,
  option,
  select,
} from '../blocks/inputs.ts';
import { createNotes, menu } from '../blocks/menu.ts';
import { capitalize, escapeMrkdwn, join, truncateLines } from '../blocks/text.ts';
import { cancelButton } from '../operations/approvals.ts';
import type { ShownOperation } from '../operations/describe.ts';

export interface Consequences {
  readonly changes: readonly Change[];
  readonly effects: readonly Effect[];
  readonly unreachable: readonly Quorum[];
  readonly missingScopes: readonly MissingScope[];
  readonly nobodyOperates: boolean;
  /** A mention would notify all its members. */
  readonly groupName: (id: string) => string | undefined;
}

/** The review before saving: on top of the form, which stays unchanged. */
export function renderSettingsReview(
  found: (Consequences & { secondAdmins: readonly string[] }) | { problems: readonly string[] },
): ModalView {
  const settings = { title: 'What would change', callbackId: 'settings:reviewed', close: 'Back' };
  if ('problems' in found) {
    const lines = ['*This cannot be saved yet*', ...found.problems.map((problem) => `• ${problem}`)];
    return modal(settings, [section(`:warning: ${lines.join('\n')}`)]);
  }
  if (found.changes.length === 0) return modal(settings, [section('Nothing would change.')]);
  const then =
    found.secondAdmins.length > 0
      ? `ask ${mentionAll(found.secondAdmins)}: this needs a second admin`
      : 'apply this. You can undo it until the next change';
  const next = `Go back and press *Save* to ${then}.`;
  return modal(settings, [...renderConsequences(found), context(next)]);
}

export type Told = { readonly channel: string; readonly isTold: boolean };

export function renderSaved(version: number, found: Consequences, told: Told | undefined): FormResult {
  const text = `Saved (version ${version})`;
  const isTold = told?.isTold
    ? `<#${told.channel}> was notified.`
    : `:warning: <#${told?.channel}> could not be notified: invite the bot there (\`/invite @cdn\`).`;
  return closeAll(
    formResult(done, text, [
      section(`:white_check_mark: *${text}*`),
      ...renderConsequences(found),
      told && context(isTold),
      actions(undoButton(version)),
    ]),
  );
}

export function renderWaiting(operation: ShownOperation, admins: readonly string[]): FormResult {
  const text = `Not saved yet: ${mentionAll(admins)} has to confirm.`;
  return closeAll(
    formResult(done, text, [
      section(`:hourglass_flowing_sand: *${text}*`),
      section(operation.words.consequences.text),
      actions(cancelButton(operation.id)),
      context(`Expires ${formatMoment(operation.expiresAt)}, or when the settings change first.`),
    ]),
  );
}

export function describeSettingsChange(
  changes: readonly Change[],
  { fewer, gains, off, assistant }: Lowered,
  author: string,
): string {
  const why = [
    fewer.includes('destroy') && 'deletions need fewer approvals',
    fewer.includes('change') && 'changes need fewer approvals',
    gains.length > 0 && `<@${author}> gains *${gains.join(', ')}*`,
    off && 'no second admin is needed any more',
    assistant && 'Slack’s assistant may do more',
  ];
  const lines = renderList(changes.map((change) => describeChange(change, () => undefined)));
  return join([lines, `:warning: ${join(why, ' · ')}`], '\n');
}

interface Lowered {
  readonly fewer: readonly string[];
  readonly gains: readonly string[];
  readonly off: boolean;
  readonly assistant?: boolean | undefined;
}

export function renderNothingChanged(): FormResult {
  return formResult(done, 'Nothing was changed, so nothing was saved.');
}

export function renderChangedMeanwhile(last: { by: string; at: Date } | undefined): FormResult {
  const text = last
    ? `Changed meanwhile by <@${last.by}>, ${formatMoment(last.at)}. Your changes were not saved.`
    : 'The settings changed while you edited. Your changes were not saved.';
  const again = actions(commandButton('Review again', 'settings'));
  return formResult(done, text, [section(`:warning: *${text}*`), again]);
}

const done = { title: 'Settings', callbackId: 'settings:done' };

/** *Done* closes the summary below too: it shows the settings as they were. */
function closeAll({ modal, message }: FormResult): FormResult {
  return { modal: { ...modal, clear_on_close: true }, message };
}

export type Author = { readonly by: string; readonly second?: string };

export function renderAnnouncement({ by, second }: Author, version: number, found: Consequences): Message {
  const confirmed = second === undefined ? '' : `, confirmed by <@${second}>`;
  const text = `<@${by}> changed the settings of the CDN bot (version ${version})${confirmed}.`;
  return say(text, ...renderConsequences(found));
}

function undoButton(version: number): Button {
  const what =
    version > 1
      ? `This restores version ${version - 1} of the settings.`
      : 'This empties the settings: everybody can read, nobody can do more.';
  return button('Undo the last change', 'settings:undo', String(version), {
    confirm: confirmation('Undo the last change?', what, 'Undo', 'Keep'),
  });
}

function renderList(lines: readonly string[]): string {
  const points = lines.map((line) => `• ${line}`);
  return truncateLines(points, 2500);
}

function renderConsequences(found: Consequences): KnownBlock[] {
  const { changes, effects, unreachable, nobodyOperates, groupName, missingScopes } = found;
  const warnings = [
    ...unreachable.map(warnOfQuorum),
    nobodyOperates && ':information_source: Nobody is an operator: everybody may read, nobody may do more.',
  ];
  return compact<KnownBlock>([
    section(`*What changes*\n${renderList(changes.map((change) => describeChange(change, groupName)))}`),
    effects.length > 0 && section(`*Whose permissions change*\n${renderList(effects.map(describeEffect))}`),
    effects.length === 0 &&
      changes.every(({ kind }) => kind !== 'cap') &&
      section('*Nobody’s permissions change.*'),
    warnings.some(Boolean) && section(truncateLines(warnings, 2800)),
    ...missingScopeLines(missingScopes),
  ]);
}

function warnOfQuorum({ class: right, needed, approvers }: Quorum): string {
  const what = right === 'destroy' ? 'Deletions' : 'Changes';
  const there =
    approvers === 0 ? 'there are no approvers' : `there is only ${formatCount(approvers, 'approver')}`;
  return `:warning: *${what} need ${pluralize(needed, 'approval')}, but ${there}.* Requests can only expire.`;
}

export const settingFields = {
  operators: ['people', 'people', 'Operators', 'May export, change and delete, each with their own key.'],
  operatorGroups: ['people', 'groups', 'Operator groups'],
  approvers: ['people', 'people', 'Approvers', 'May approve what others ask for, never their own.'],
  approverGroups: ['people', 'groups', 'Approver groups'],
  destroyApprovals: ['approvals', [0, 5], 'Approvals for a deletion'],
  changeApprovals: ['approvals', [0, 5], 'Approvals for a change'],
  expiryMinutes: ['approvals', [1, 1440], 'Minutes until a request expires'],
  secondAdmin: [
    'approvals',
    'tick',
    'A second admin confirms',
    'Where the bot knows another admin. Turning it off needs one too.',
  ],
  approvalChannel: [
    'approvals',
    'channel',
    'Approval channel',
    'Requests and changes of settings are posted there. Invite the bot first.',
  ],
  capNone: ['channels', 'cap', 'Channels where nothing is allowed'],
  capRead: ['channels', 'cap', 'Read-only channels'],
  capExport: ['channels', 'cap', 'Channels for reading and exports only'],
  capChange: ['channels', 'cap', 'Channels without deletions'],
  postChannels: ['channels', 'channels', 'Answers may be posted to', 'None chosen = anywhere.'],
  exportChannels: ['keeping', 'channels', 'Exports may go to', 'None chosen = anywhere.'],
  exportKeepDays: ['keeping', [0, 365], 'Days until exported files are deleted from Slack (0 = never)'],
  assistant: [
    'assistant',
    'mode',
    'Slack’s assistant',
    'It works as each person, with their key and rights, and changes nothing by itself.',
  ],
} as const satisfies Readonly<Record<string, SettingField>>;

export type SettingField = readonly [
  section: SettingsSection,
  type: 'people' | 'groups' | 'channels' | 'channel' | 'cap' | 'tick' | 'mode' | readonly [number, number],
  label: string,
  hint?: string,
];

export const caps: Readonly<Record<string, Right>> = {
  capNone: 'none',
  capRead: 'read',
  capExport: 'export',
  capChange: 'change',
};

function describeChange(change: Change, groupName: Consequences['groupName']): string {
  switch (change.kind) {
    case 'list': {
      const list = (verb: string, ids: readonly string[]): string => {
        const names = ids.map((id) => describeId(change.field, id, groupName));
        return names.length > 0 ? `${verb} ${truncateLines(names, 900, ', ')}` : '';
      };
      const parts = [list('added', change.added), list('removed', change.removed)];
      return `${settingFields[change.field][2]}: ${join(parts, '; ')}`;
    }
    case 'value': {
      const [from, to] = [change.from, change.to].map((value) =>
        change.field === 'assistant' ? (assistantLabels[String(value)] ?? 'off') : describeValue(value),
      );
      return `${settingFields[change.field][2]}: ${from} → *${to}*`;
    }
    case 'cap':
      return `<#${change.channel}>: ${describeCap(change.from)} → *${describeCap(change.to)}*`;
  }
}

function mentionAll(ids: readonly string[]): string {
  const all = ids.map((id) => `<@${id}>`);
  return all.length > 1 ? `${all.slice(0, -1).join(', ')} or ${all.at(-1)}` : (all[0] ?? 'another admin');
}

function describeId(field: ListField, id: string, groupName: Consequences['groupName']): string {
  const [, type] = settingFields[field];
  if (type === 'people') return `<@${id}>`;
  if (type === 'channels') return `<#${id}>`;
  const name = groupName(id);
  return name === undefined ? `group \`${escapeMrkdwn(id, 30)}\`` : `@${escapeMrkdwn(name, 60)}`;
}

const assistantLabels: Readonly<Record<string, string>> = {
  off: 'off',
  reading: 'may read',
  proposing: 'may read, and ask for changes',
};

function describeValue(value: string | number | boolean | undefined): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return typeof value === 'string' ? `<#${value}>` : String(value ?? 'none');
}

function describeCap(cap: Right): string {
  if (cap === 'admin') return 'no cap';
  return cap === 'none' ? 'nothing allowed' : `up to ${cap}`;
}

function describeEffect({ who, gains, loses }: Effect): string {
  const people = who.map((id) => `<@${id}>`);
  const parts = [
    gains.length > 0 && `${agree(who.length, 'gains', 'gain')} *${gains.join(', ')}*`,
    loses.length > 0 && `${agree(who.length, 'loses', 'lose')} *${loses.join(', ')}*`,
  ];
  return `${truncateLines(people, 600, ', ')} ${join(parts, ', ')}`;
}

export const sectionTitles = {
  people: 'People',
  approvals: 'Approvals',
  channels: 'Channels',
  keeping: 'Retention',
  assistant: 'Assistant',
} as const;
export type SettingsSection = keyof typeof sectionTitles;

export interface ShownSettings {
  readonly policy: Policy;
  readonly last: { readonly by: string; readonly at: Date } | undefined;
  readonly groups: readonly Group[];
  readonly missing: readonly MissingScope[];
  readonly overdueFiles: number;
}

export function renderSettingsSummary(shown: ShownSettings): ModalView {
  const { policy, last, missing, overdueFiles } = shown;
  const { version, operators, operatorGroups } = policy;
  const lines = describeSections(shown);
  return modal({ title: 'Settings', callbackId: 'settings:summary' }, [
    operators.length + operatorGroups.length === 0 && nobodyOperates,
    ...missingScopeLines(missing),
    overdueFiles > 0 &&
      context(
        `:warning: Slack still has ${pluralize(overdueFiles, 'exported file')} that should be deleted by now. The bot tries again every hour; its log says why Slack refuses.`,
      ),
    ...Object.entries(sectionTitles).map(([name, title]) => {
      const text = `*${title}*\n${lines[name as SettingsSection]}`;
      return section(text, button('Edit', `settings:edit:${name}`, name));
    }),
    version > 0 && actions(undoButton(version)),
    context(last ? `Version ${version}, saved by <@${last.by}> ${formatMoment(last.at)}` : 'Never saved'),
  ]);
}

const nobodyOperates: AlertBlock & KnownBlock = {
  type: 'alert',
  level: 'warning',
  text: plain('Everybody who connected a key may read, and nobody may do more: there are no operators yet.'),
};

function listChannels(ids: readonly string[], none: string): string {
  const all = ids.map((id) => `<#${id}>`);
  return truncateLines(all, 200, ', ') || none;
}

function describeSections({ policy, groups }: ShownSettings): Readonly<Record<SettingsSection, string>> {
  const groupName = (id: string): string | undefined => groups.find((group) => group.id === id)?.handle;
  const list = (...fields: ('operators' | 'operatorGroups' | 'approvers' | 'approverGroups')[]): string => {
    const names = fields.flatMap((field) => policy[field].map((id) => describeId(field, id, groupName)));
    return truncateLines(names, 300, ', ') || 'nobody';
  };
  const { destroyApprovals, changeApprovals, expiryMinutes, secondAdmin, approvalChannel } = policy;
  const { caps, postChannels, exportChannels, exportKeepDays } = policy;
  return {
    people: `Operators: ${list('operators', 'operatorGroups')} · Approvers: ${list('approvers', 'approverGroups')}`,
    approvals: [
      `${destroyApprovals} for a deletion, ${changeApprovals} for a change, within ${formatDuration(expiryMinutes * minuteMs)}`,
      approvalChannel ? `in <#${approvalChannel}>` : 'in direct messages',
      secondAdmin ? 'second admin on' : ':warning: second admin off',
    ].join(' · '),
    channels: `Limited: ${listChannels(Object.keys(caps), 'none')} · Answers go to ${listChannels(postChannels, 'any channel')}`,
    keeping: [
      `Exports go to ${listChannels(exportChannels, 'any channel')}`,
      exportKeepDays > 0 ? `files deleted after ${formatCount(exportKeepDays, 'day')}` : 'files stay',
    ].join(' · '),
    assistant: `Slack’s assistant: ${assistantLabels[readAssistant(policy)]}`,
  };
}

export const mostEntries = 50;

export function findSectionOf(fields: readonly string[]): SettingsSection {
  const known = Object.entries(settingFields).find(([field]) => fields.includes(field));
  return known?.[1][0] ?? 'people';
}

/** The form of one section. `private_metadata` carries the version that is being changed. */
export function renderSettingsForm(
  shown: SettingsSection,
  found: Pick<ShownSettings, 'policy' | 'groups' | 'missing'>,
): ModalView {
  const fields = Object.entries<SettingField>(settingFields).filter(([, [section]]) => section === shown);
  const settings = { title: sectionTitles[shown], callbackId: 'settings:submit', submit: 'Save' };
  return modal({ ...settings, metadata: String(found.policy.version) }, [
    ...(shown === 'people' ? missingScopeLines(found.missing) : []),
    ...fields.map(([name, field]) => renderField(name, field, found)),
    actions(button('Review what changes', 'settings:review', 'review')),
    context('You can undo a change until the next one is saved.'),
  ]);
}

function renderField(
  name: string,
  [, type, label, hint]: SettingField,
  { policy, groups }: Pick<ShownSettings, 'policy' | 'groups'>,
): InputBlock {
  const settings = { hint, optional: true };
  const value: unknown = Reflect.get(policy, name);
  const ids = Array.isArray(value) ? value.map(String) : [];
  if (typeof type !== 'string') {
    const range = { initial: String(value), hint: `${type[0]} to ${type[1]}`, optional: false };
    return numberInput(name, label, type, range);
  }
  switch (type) {
    case 'people': {
      const element = { type: 'multi_users_select', max_selected_items: mostEntries } as const;
      return input(name, label, { ...element, initial_users: ids }, settings);
    }
    case 'groups': {
      // Slack has no native menu of user groups.
      const chosen = ids.map((id) => {
        const group = groups.find((known) => known.id === id);
        return group ? groupOption(group) : option(`Group ${id}`, id);
      });
      return multiSearchSelect(name, label, mostEntries, { ...settings, chosen, placeholder: 'User groups' });
    }
    case 'channels':
      return multiChannelSelect(name, label, mostEntries, { ...settings, chosen: ids });
    case 'cap': {
      const chosen = Object.keys(policy.caps).filter((id) => channelCap(policy, id) === caps[name]);
      return multiChannelSelect(name, label, mostEntries, { ...settings, chosen });
    }
    case 'channel':
      return channelSelect(name, label, { ...settings, chosen: policy.approvalChannel });
    case 'tick': {
      const tick = option('Lowering approvals, or giving yourself a role', 'on');
      return checkbox(name, label, tick, { checked: policy.secondAdmin, hint });
    }
    case 'mode': {
      const modes = assistantModes.map((mode) => option(capitalize(assistantLabels[mode] ?? mode), mode));
      return select(name, label, modes, { chosen: readAssistant(policy), hint });
    }
  }
}

/** Options of the menu for user groups, or a line that says why they are missing. */
export function renderGroupOptions(
  groups: readonly Group[],
  missing: readonly MissingScope[],
  search: string,
): Option[] {
  const refused = missing.find(({ lookup }) => lookup === 'groups');
  if (refused) return createNotes([cannotReadGroups(refused.reason)]);
  const wanted = search.trim().toLowerCase();
  const found = groups.filter(({ name, handle }) => `${name} ${handle}`.toLowerCase().includes(wanted));
  const none = groups.length === 0 ? 'There are no user groups here' : 'No group has that name';
  return menu(found.map(groupOption), { more: 0, none });
}

function groupOption({ id, name, handle }: Group): PlainTextOption {
  return option(`${name} (@${handle})`, id);
}
