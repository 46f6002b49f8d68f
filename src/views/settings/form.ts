import type { InputBlock, ModalView, PlainTextOption } from '@slack/types';
import type { Group, MissingScope } from '../../auth/identity.ts';
import { assistantModes, channelCap } from '../../auth/policy/policy.ts';
import { actions, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { cannotReadGroups, missingScopeLines } from '../blocks/failure.ts';
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
import { capitalize } from '../blocks/text.ts';
import { assistantLabels, labels } from './settings.ts';
import { type SettingsSection, type ShownSettings, sectionTitles } from './summary.ts';

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
  // Slack has no menu of user groups of its own.
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
        hint: 'Requests and changes of settings are told there. Invite the bot to it.',
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
    return [option(groups.length === 0 ? 'There are no user groups here' : 'No group is named so', 'note')];
  if (found.length <= 100) return found.map(groupOption);
  const more = option(`… and ${found.length - 99} more: keep typing`, 'note');
  return [...found.slice(0, 99).map(groupOption), more];
}

function groupOption({ id, name, handle }: Group): PlainTextOption {
  return option(`${name} (@${handle})`, id);
}
