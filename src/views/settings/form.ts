import type { AlertBlock, InputBlock, KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import type { Group, MissingScope } from '../../auth/identity.ts';
import { assistantModes, channelCap, type Policy } from '../../auth/policy/policy.ts';
import { actions, context, plain, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { cannotReadGroups, missingScopeLines } from '../blocks/failure.ts';
import { andMore, formatCount, formatMoment, pluralize } from '../blocks/format.ts';
import {
  channelSelect,
  checkbox,
  input,
  modal,
  multiChannelSelect,
  multiSearchSelect,
  numberInput,
  option,
  select,
} from '../blocks/inputs.ts';
import { capitalize, truncateLines } from '../blocks/text.ts';
import type { ShownOperation } from '../operations/describe.ts';
import { assistantLabels, describeId, labels, renderPending, undoButton } from './settings.ts';

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
  /** The author and time of this version; undefined = never saved. */
  readonly last: { readonly by: string; readonly at: Date } | undefined;
  readonly groups: readonly Group[];
  readonly missing: readonly MissingScope[];
  readonly overdueFiles: number;
}

/** The settings in five lines, each with the form that changes it. */
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

/** The cap that each field of channels sets. */
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
