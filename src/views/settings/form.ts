import type { InputBlock, ModalView, PlainTextOption } from '@slack/types';
import type { Group, MissingScope } from '../../auth/identity.ts';
import { channelCap, type Policy, type Right } from '../../auth/policy/policy.ts';
import { actions, button, limits, plain, section } from '../blocks/blocks.ts';
import { formatMoment } from '../blocks/dates.ts';
import { cannotReadGroups, missingScopeLines } from '../blocks/refusal.ts';
import { plainText } from '../blocks/text.ts';
import { undoButton } from './settings.ts';

const title = plain('Settings');

/** Opens at once; the settings follow a moment later. */
export function settingsSkeleton(heading = 'Settings'): ModalView {
  return {
    type: 'modal',
    callback_id: 'settings:opening',
    title: plain(heading),
    close: plain('Close'),
    blocks: [section(':hourglass_flowing_sand: Reading the settings…')],
  };
}

interface Shown {
  readonly policy: Policy;
  /** The author and time of this version; undefined = never saved. */
  readonly last: { readonly by: string; readonly at: Date } | undefined;
  readonly groups: readonly Group[];
  readonly blind: readonly MissingScope[];
}

/** The form. `private_metadata` carries the version that is being changed. */
export function renderSettingsForm({ policy, last, groups, blind }: Shown): ModalView {
  const capped = (cap: Right): string[] =>
    Object.keys(policy.caps).filter((channel) => channelCap(policy, channel) === cap);
  const state = last
    ? `Version ${policy.version}, saved by <@${last.by}> ${formatMoment(last.at)}.`
    : 'Nothing is set yet: everybody who connected a key may read, nobody may do more.';
  return {
    type: 'modal',
    callback_id: 'settings:submit',
    private_metadata: String(policy.version),
    title,
    submit: plain('Save'),
    close: plain('Cancel'),
    blocks: [
      section(state),
      ...missingScopeLines(blind),
      actions(
        button('Review what changes', 'settings:review', 'review'),
        ...(policy.version > 0 ? [undoButton(policy.version)] : []),
      ),
      people(
        'operators',
        'Operators',
        'May export, change and delete, each with their own key.',
        policy.operators,
      ),
      groupsInput('operatorGroups', 'Operator groups', policy.operatorGroups, groups),
      people('approvers', 'Approvers', 'May approve what others ask for, never their own.', policy.approvers),
      groupsInput('approverGroups', 'Approver groups', policy.approverGroups, groups),
      number(
        'destroyApprovals',
        'Approvals for a deletion',
        policy.destroyApprovals,
        ranges.destroyApprovals,
      ),
      number('changeApprovals', 'Approvals for a change', policy.changeApprovals, ranges.changeApprovals),
      number('expiryMinutes', 'Minutes until a request expires', policy.expiryMinutes, ranges.expiryMinutes),
      channel(
        'approvalChannel',
        'Approval channel',
        policy.approvalChannel,
        'Requests and changes of settings are told there. Invite the bot to it.',
      ),
      channels('capNone', 'Channels where nothing is allowed', capped('none')),
      channels('capRead', 'Channels up to read', capped('read')),
      channels('capExport', 'Channels up to export', capped('export')),
      channels('capChange', 'Channels up to change (no deletions)', capped('change')),
      channels('exportChannels', 'Exports may go to', policy.exportChannels, 'None chosen = anywhere.'),
      number(
        'exportKeepDays',
        'Days until exported files are deleted from Slack (0 = never)',
        policy.exportKeepDays,
        ranges.exportKeepDays,
      ),
      channels('digestChannels', 'Digests may go to', policy.digestChannels, 'None chosen = anywhere.'),
      channel(
        'auditChannel',
        'Daily audit checkpoint',
        policy.auditChannel,
        'A signed note of the audit record is posted there each day. Empty = off. Invite the bot to it.',
      ),
    ],
  };
}

/** The numbers that are taken, by field. */
export const ranges = {
  destroyApprovals: [0, 5],
  changeApprovals: [0, 5],
  expiryMinutes: [1, 1440],
  exportKeepDays: [0, 365],
} as const;

/** As many as one field takes. */
export const mostEntries = 50;

export function settingsBusy(): ModalView {
  return {
    type: 'modal',
    callback_id: 'settings:busy',
    title,
    close: plain('Close'),
    blocks: [section(':hourglass_flowing_sand: Saving…')],
  };
}

/** Options of the menu for user groups, or a line that says why there are none. */
export function groupOptions(
  groups: readonly Group[],
  blind: readonly MissingScope[],
  search: string,
): PlainTextOption[] {
  const gone = blind.find(({ lookup }) => lookup === 'groups');
  if (gone) return [line(cannotReadGroups(gone.reason))];
  const wanted = search.trim().toLowerCase();
  const found = groups.filter(({ name, handle }) => `${name} ${handle}`.toLowerCase().includes(wanted));
  if (found.length === 0)
    return [line(groups.length === 0 ? 'There are no user groups here' : 'No group is named so')];
  const shown = found.slice(0, found.length > 100 ? 99 : 100).map(groupOption);
  return found.length > 100 ? [...shown, line(`… and ${found.length - 99} more: keep typing`)] : shown;
}

function line(text: string): PlainTextOption {
  return { text: plain(plainText(text, limits.option)), value: 'note' };
}

function groupOption({ id, name, handle }: Group): PlainTextOption {
  return { text: plain(plainText(`${name} (@${handle})`, limits.option)), value: id };
}

function people(field: string, label: string, hint: string, chosen: readonly string[]): InputBlock {
  return input(field, label, hint, {
    type: 'multi_users_select',
    action_id: field,
    max_selected_items: mostEntries,
    ...(chosen.length > 0 ? { initial_users: [...chosen] } : {}),
  });
}

function channel(field: string, label: string, chosen: string | undefined, hint: string): InputBlock {
  return input(field, label, hint, {
    type: 'conversations_select',
    action_id: field,
    filter: { include: ['public', 'private'], exclude_bot_users: true },
    ...(chosen === undefined ? {} : { initial_conversation: chosen }),
  });
}

function channels(field: string, label: string, chosen: readonly string[], hint?: string): InputBlock {
  return input(field, label, hint, {
    type: 'multi_conversations_select',
    action_id: field,
    max_selected_items: mostEntries,
    filter: { include: ['public', 'private'], exclude_bot_users: true },
    ...(chosen.length > 0 ? { initial_conversations: [...chosen] } : {}),
  });
}

/** Slack has no menu of user groups of its own. */
function groupsInput(
  field: string,
  label: string,
  chosen: readonly string[],
  groups: readonly Group[],
): InputBlock {
  const named = (id: string): PlainTextOption => {
    const group = groups.find((known) => known.id === id);
    return group ? groupOption(group) : { text: plain(plainText(`Group ${id}`, limits.option)), value: id };
  };
  return input(field, label, undefined, {
    type: 'multi_external_select',
    action_id: field,
    min_query_length: 0,
    max_selected_items: mostEntries,
    placeholder: plain('User groups'),
    ...(chosen.length > 0 ? { initial_options: chosen.map(named) } : {}),
  });
}

function number(
  field: string,
  label: string,
  value: number,
  [least, most]: readonly [number, number],
): InputBlock {
  return {
    ...input(field, label, `${least} to ${most}`, {
      type: 'number_input',
      action_id: field,
      is_decimal_allowed: false,
      initial_value: String(value),
      min_value: String(least),
      max_value: String(most),
    }),
    optional: false,
  };
}

function input(
  field: string,
  label: string,
  hint: string | undefined,
  element: InputBlock['element'],
): InputBlock {
  return {
    type: 'input',
    block_id: field,
    optional: true,
    label: plain(label),
    ...(hint ? { hint: plain(hint) } : {}),
    element,
  };
}
