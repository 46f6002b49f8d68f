import type { AlertBlock, KnownBlock, ModalView, SectionBlock } from '@slack/types';
import type { Group, MissingScope } from '../../auth/identity.ts';
import type { Policy } from '../../auth/policy/policy.ts';
import { actions, context, plain, section } from '../blocks/blocks.ts';
import { button } from '../blocks/buttons.ts';
import { missingScopeLines } from '../blocks/failure.ts';
import { formatMoment, pluralize } from '../blocks/format.ts';
import { modal } from '../blocks/inputs.ts';
import { join, truncateLines } from '../blocks/text.ts';
import type { ShownOperation } from '../operations/describe.ts';
import { assistantLabels, describeId, renderPending, undoButton } from './settings.ts';

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
  /** Exported files that should be gone from Slack by now. */
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
    ...Object.entries(sectionTitles).map(([name, title]) =>
      editable(name, `*${title}*\n${lines[name as SettingsSection]}`),
    ),
    version > 0 && actions(undoButton(version)),
    context(last ? `Version ${version}, saved by <@${last.by}> ${formatMoment(last.at)}` : 'Never saved'),
  ]);
}

const nobodyOperates: AlertBlock & KnownBlock = {
  type: 'alert',
  level: 'warning',
  text: plain('Everybody who connected a key may read, and nobody may do more: there are no operators yet.'),
};

function editable(name: string, text: string): SectionBlock {
  return section(text, button('Edit', `settings:edit:${name}`, name));
}

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
    approvals: join(
      [
        `${destroyApprovals} for a deletion, ${changeApprovals} for a change, within ${expiryMinutes} min`,
        approvalChannel ? `in <#${approvalChannel}>` : 'in direct messages',
        secondAdmin ? 'second admin on' : ':warning: second admin off',
      ],
      ' · ',
    ),
    channels: `Limited: ${listChannels(Object.keys(caps), 'none')} · Answers go to ${listChannels(postChannels, 'any channel')}`,
    keeping: join(
      [
        `Exports go to ${listChannels(exportChannels, 'any channel')}`,
        exportKeepDays > 0 ? `files deleted after ${pluralize(exportKeepDays, 'day')}` : 'files stay',
      ],
      ' · ',
    ),
    assistant: `Slack’s assistant: ${assistantLabels[policy.assistant ?? 'off']}`,
  };
}
