import type { AlertBlock, Button, InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import type { Group, MissingScope } from '../../auth/identity.ts';
import type { Change, Effect, ListField, Quorum, ValueField } from '../../auth/policy/changes.ts';
import { assistantModes, channelCap, type Policy, type Right } from '../../auth/policy/policy.ts';
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
import { agree, andMore, formatCount, formatMoment, pluralize } from '../blocks/format.ts';
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
import { capitalize, escapeMrkdwn, join, truncateLines } from '../blocks/text.ts';
import { decisionButtons } from '../operations/approvals.ts';
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
      : 'make it so';
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
      actions(takeBackButton(operation)),
      context(renderExpiry(operation)),
    ]),
  );
}

function renderPending(operation: ShownOperation, reader: string): KnownBlock[] {
  const { requester, words } = operation;
  const isOwn = requester.userId === reader;
  const who = isOwn ? 'Your change waits for another admin' : `<@${requester.userId}> asks for a change`;
  return [
    section(`:hourglass_flowing_sand: *${who}*`),
    section(words.consequences.text),
    actions(...(isOwn ? [takeBackButton(operation)] : decisionButtons(operation))),
    context(renderExpiry(operation)),
  ];
}

function takeBackButton({ id }: ShownOperation): Button {
  return button('Take back', 'settings:reject', id);
}

function renderExpiry({ expiresAt }: ShownOperation): string {
  return `Expires ${formatMoment(expiresAt)}, or when the settings change otherwise.`;
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
    off && 'a second admin is not asked any more',
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
    ? `Changed meanwhile by <@${last.by}>, ${formatMoment(last.at)}. Yours was not saved.`
    : 'The settings are not the ones you saw. Yours were not saved.';
  const again = actions(commandButton('Look again', 'settings'));
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
      ? `The settings become those of version ${version - 1} again.`
      : 'The settings are empty again: everybody can read, nobody can do more.';
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
    approvers === 0 ? 'nobody is an approver' : `there is only ${formatCount(approvers, 'approver')}`;
  return `:warning: *${what} need ${pluralize(needed, 'approval')}, but ${there}.* A request can then only expire.`;
}

const labels: Readonly<Record<ListField | ValueField, string>> = {
  operators: 'Operators',
  operatorGroups: 'Operator groups',
  approvers: 'Approvers',
  approverGroups: 'Approver groups',
  exportChannels: 'Exports may go to',
  postChannels: 'Answers may be posted to',
  approvalChannel: 'Approval channel',
  destroyApprovals: 'Approvals for a deletion',
  changeApprovals: 'Approvals for a change',
  expiryMinutes: 'Minutes until a request expires',
  secondAdmin: 'A second admin confirms',
  exportKeepDays: 'Days until exported files are deleted from Slack (0 = never)',
  assistant: 'Slack’s assistant',
};

function describeChange(change: Change, groupName: Consequences['groupName']): string {
  switch (change.kind) {
    case 'list': {
      const list = (verb: string, ids: readonly string[]): string => {
        const names = ids.map((id) => describeId(change.field, id, groupName));
        return names.length > 0 ? `${verb} ${truncateLines(names, 900, ', ')}` : '';
      };
      const parts = [list('added', change.added), list('removed', change.removed)];
      return `${labels[change.field]}: ${join(parts, '; ')}`;
    }
    case 'value': {
      const [from, to] = [change.from, change.to].map((value) =>
        change.field === 'assistant' ? describeAssistant(value) : describeValue(value),
      );
      return `${labels[change.field]}: ${from} → *${to}*`;
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
  if (field === 'operators' || field === 'approvers') return `<@${id}>`;
  if (field === 'exportChannels' || field === 'postChannels') return `<#${id}>`;
  const name = groupName(id);
  return name === undefined ? `group \`${escapeMrkdwn(id, 30)}\`` : `@${escapeMrkdwn(name, 60)}`;
}

const assistantLabels: Readonly<Record<string, string>> = {
  off: 'off',
  reading: 'may read',
  proposing: 'may read, and ask for changes',
};

function describeAssistant(mode: unknown): string {
  return assistantLabels[String(mode)] ?? 'off';
}

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
  keeping: 'Keeping',
  assistant: 'Assistant',
} as const;
export type SettingsSection = keyof typeof sectionTitles;

export interface ShownSettings {
  readonly policy: Policy;
  readonly pending: ShownOperation | undefined;
  readonly reader: string;
  readonly last: { readonly by: string; readonly at: Date } | undefined;
  readonly groups: readonly Group[];
  readonly missing: readonly MissingScope[];
  readonly overdueFiles: number;
}

export function renderSettingsSummary(shown: ShownSettings): ModalView {
  const { policy, last, missing, overdueFiles, pending, reader } = shown;
  const { version, operators, operatorGroups } = policy;
  const lines = describeSections(shown);
  return modal({ title: 'Settings', callbackId: 'settings:summary' }, [
    operators.length + operatorGroups.length === 0 && nobodyOperates,
    ...(pending ? renderPending(pending, reader) : []),
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
      `${destroyApprovals} for a deletion, ${changeApprovals} for a change, within ${expiryMinutes} min`,
      approvalChannel ? `in <#${approvalChannel}>` : 'in direct messages',
      secondAdmin ? 'second admin on' : ':warning: second admin off',
    ].join(' · '),
    channels: `Limited: ${listChannels(Object.keys(caps), 'none')} · Answers go to ${listChannels(postChannels, 'any channel')}`,
    keeping: [
      `Exports go to ${listChannels(exportChannels, 'any channel')}`,
      exportKeepDays > 0 ? `files deleted after ${formatCount(exportKeepDays, 'day')}` : 'files stay',
    ].join(' · '),
    assistant: `Slack’s assistant: ${assistantLabels[policy.assistant ?? 'off']}`,
  };
}

export function renderSettingsSkeleton(doing: string, title = 'Settings'): ModalView {
  return modal({ title, callbackId: 'settings:opening' }, [section(`:hourglass_flowing_sand: ${doing}…`)]);
}

export const ranges = {
  destroyApprovals: [0, 5],
  changeApprovals: [0, 5],
  expiryMinutes: [1, 1440],
  exportKeepDays: [0, 365],
} as const;

export const mostEntries = 50;

export const caps = { capNone: 'none', capRead: 'read', capExport: 'export', capChange: 'change' } as const;

/** The form of one section. `private_metadata` carries the version that is being changed. */
export function renderSettingsForm(
  shown: SettingsSection,
  { policy, groups, missing }: Pick<ShownSettings, 'policy' | 'groups' | 'missing'>,
): ModalView {
  const people = (field: 'operators' | 'approvers', hint: string): InputBlock =>
    input(
      field,
      labels[field],
      { type: 'multi_users_select', max_selected_items: mostEntries, initial_users: [...policy[field]] },
      { hint, optional: true },
    );
  // Slack has no native menu of user groups.
  const userGroups = (field: 'operatorGroups' | 'approverGroups'): InputBlock =>
    multiSearchSelect(field, labels[field], mostEntries, {
      chosen: policy[field].map((id) => {
        const group = groups.find((known) => known.id === id);
        return group ? groupOption(group) : option(`Group ${id}`, id);
      }),
      placeholder: 'User groups',
      optional: true,
    });
  const number = (field: keyof typeof ranges): InputBlock => {
    const [least, most] = ranges[field];
    const settings = { initial: String(policy[field]), hint: `${least} to ${most}`, optional: false };
    return numberInput(field, labels[field], [least, most], settings);
  };
  const cap = (field: keyof typeof caps, label: string): InputBlock => {
    const chosen = Object.keys(policy.caps).filter((id) => channelCap(policy, id) === caps[field]);
    return multiChannelSelect(field, label, mostEntries, { chosen, optional: true });
  };
  const destinations = (field: 'exportChannels' | 'postChannels'): InputBlock => {
    const settings = { chosen: policy[field], hint: 'None chosen = anywhere.', optional: true };
    return multiChannelSelect(field, labels[field], mostEntries, settings);
  };
  const fields: Readonly<Record<SettingsSection, () => InputBlock[]>> = {
    people: () => [
      people('operators', 'May export, change and delete, each with their own key.'),
      userGroups('operatorGroups'),
      people('approvers', 'May approve what others ask for, never their own.'),
      userGroups('approverGroups'),
    ],
    approvals: () => [
      number('destroyApprovals'),
      number('changeApprovals'),
      number('expiryMinutes'),
      checkbox(
        'secondAdmin',
        labels.secondAdmin,
        option('Lowering approvals, or giving yourself a role', 'on'),
        {
          checked: policy.secondAdmin,
          hint: 'Where the bot knows another admin. Turning it off needs one too.',
        },
      ),
      channelSelect('approvalChannel', labels.approvalChannel, {
        chosen: policy.approvalChannel,
        hint: 'Requests and changes of settings are posted there. Invite the bot first.',
        optional: true,
      }),
    ],
    channels: () => [
      cap('capNone', 'Channels where nothing is allowed'),
      cap('capRead', 'Channels up to read'),
      cap('capExport', 'Channels up to export'),
      cap('capChange', 'Channels up to change (no deletions)'),
      destinations('postChannels'),
    ],
    keeping: () => [destinations('exportChannels'), number('exportKeepDays')],
    assistant: () => [
      select(
        'assistant',
        labels.assistant,
        assistantModes.map((mode) => option(capitalize(assistantLabels[mode] ?? mode), mode)),
        {
          chosen: policy.assistant ?? 'off',
          hint: 'It works as each person, with their key and rights, and changes nothing by itself.',
        },
      ),
    ],
  };
  const settings = { title: sectionTitles[shown], callbackId: 'settings:submit', submit: 'Save' };
  return modal({ ...settings, metadata: String(policy.version) }, [
    ...(shown === 'people' ? missingScopeLines(missing) : []),
    ...fields[shown](),
    actions(button('Review what changes', 'settings:review', 'review')),
  ]);
}

/** Options of the menu for user groups, or a line that says why there are none. */
export function renderGroupOptions(
  groups: readonly Group[],
  missing: readonly MissingScope[],
  search: string,
): PlainTextOption[] {
  const refused = missing.find(({ lookup }) => lookup === 'groups');
  if (refused) return [option(cannotReadGroups(refused.reason), 'note')];
  const wanted = search.trim().toLowerCase();
  const found = groups.filter(({ name, handle }) => `${name} ${handle}`.toLowerCase().includes(wanted));
  if (found.length === 0)
    return [option(groups.length === 0 ? 'There are no user groups here' : 'No group has that name', 'note')];
  if (found.length <= 100) return found.map(groupOption);
  const more = option(`… ${andMore(found.length - 99)}: keep typing`, 'note');
  return [...found.slice(0, 99).map(groupOption), more];
}

function groupOption({ id, name, handle }: Group): PlainTextOption {
  return option(`${name} (@${handle})`, id);
}
