import type { KnownBlock } from '@slack/types';
import type { MissingScope } from '../../auth/identity.ts';
import type {
  Change,
  ChannelField,
  Effect,
  ListField,
  NumberField,
  Power,
  Quorum,
} from '../../auth/policy/changes.ts';
import type { Right } from '../../auth/policy/policy.ts';
import { section } from '../blocks/blocks.ts';
import { missingScopeLines } from '../blocks/refusal.ts';
import { escapeMrkdwn, pluralize, truncateLines } from '../blocks/text.ts';

/** The effects of a change of settings, with all names resolved. */
export interface Consequences {
  readonly changes: readonly Change[];
  readonly effects: readonly Effect[];
  readonly unreachable: readonly Quorum[];
  /** Failed look-ups of the named groups. */
  readonly missingScopes: readonly MissingScope[];
  /** No one may do more than read. */
  readonly nobodyOperates: boolean;
  /** A group's handle by its id, where known: a mention would notify all its members. */
  readonly groupName: (id: string) => string | undefined;
}

/** Renders the differences, the decisions that change, and warnings. */
export function consequences(found: Consequences): KnownBlock[] {
  const changed = found.changes.map((change) => `• ${changeLine(change, found.groupName)}`);
  const effects = found.effects.map((effect) => `• ${effectLine(effect)}`);
  const warnings = warningsOf(found);
  return [
    section(`*What changes*\n${truncateLines(changed, 2800)}`),
    section(
      effects.length > 0
        ? `*Which decisions change*\n${truncateLines(effects, 2800)}`
        : '*No decision changes:* everybody may do what they could before.',
    ),
    ...(warnings.length > 0 ? [section(truncateLines(warnings, 2800))] : []),
    ...missingScopeLines(found.missingScopes),
  ];
}

function warningsOf({ unreachable, nobodyOperates }: Consequences): string[] {
  return [
    ...unreachable.map(({ class: kind, needed, approvers }) => {
      const what = kind === 'destroy' ? 'Deletions' : 'Changes';
      const there =
        approvers === 0 ? 'nobody is an approver' : `there is only ${pluralize(approvers, 'approver')}`;
      return `:warning: *${what} need ${pluralize(needed, 'approval')}, but ${there}.* A request can then only expire.`;
    }),
    ...(nobodyOperates
      ? [':information_source: Nobody is an operator: everybody may read, nobody may do more.']
      : []),
  ];
}

const listNames: Readonly<Record<ListField, string>> = {
  operators: 'Operators',
  operatorGroups: 'Operator groups',
  approvers: 'Approvers',
  approverGroups: 'Approver groups',
  exportChannels: 'Exports may go to',
  digestChannels: 'Digests may go to',
};
const channelNames: Readonly<Record<ChannelField, string>> = {
  approvalChannel: 'Approval channel',
  auditChannel: 'Daily audit checkpoint goes to',
};
const numberNames: Readonly<Record<NumberField, string>> = {
  destroyApprovals: 'Approvals for a deletion',
  changeApprovals: 'Approvals for a change',
  expiryMinutes: 'Minutes until a request expires',
  exportKeepDays: 'Days until exported files are deleted (0 = never)',
};

function changeLine(change: Change, groupName: Consequences['groupName']): string {
  switch (change.kind) {
    case 'list': {
      const name = (id: string): string => idIn(change.field, id, groupName);
      const parts = [
        ...(change.added.length > 0 ? [`added ${truncateLines(change.added.map(name), 900, ', ')}`] : []),
        ...(change.removed.length > 0
          ? [`removed ${truncateLines(change.removed.map(name), 900, ', ')}`]
          : []),
      ];
      return `${listNames[change.field]}: ${parts.join('; ')}`;
    }
    case 'number':
      return `${numberNames[change.field]}: ${change.from} → *${change.to}*`;
    case 'channel':
      return `${channelNames[change.field]}: ${channel(change.from)} → ${channel(change.to)}`;
    case 'cap':
      return `<#${change.channel}>: ${capped(change.from)} → *${capped(change.to)}*`;
  }
}

function idIn(field: ListField, id: string, groupName: Consequences['groupName']): string {
  if (field === 'operators' || field === 'approvers') return `<@${id}>`;
  if (field === 'exportChannels' || field === 'digestChannels') return `<#${id}>`;
  const name = groupName(id);
  return name === undefined ? `group \`${escapeMrkdwn(id, 30)}\`` : `@${escapeMrkdwn(name, 60)}`;
}

function channel(id: string | undefined): string {
  return id === undefined ? 'none' : `<#${id}>`;
}

function capped(cap: Right): string {
  if (cap === 'admin') return 'no cap';
  return cap === 'none' ? 'nothing allowed' : `up to ${cap}`;
}

function effectLine({ who, channel: where, gains, loses }: Effect): string {
  const people =
    who === undefined
      ? 'Everybody with a key'
      : truncateLines(
          who.map((id) => `<@${id}>`),
          600,
          ', ',
        );
  const one = who === undefined || who.length === 1;
  const parts = [
    ...(gains.length > 0 ? [`${one ? 'gains' : 'gain'} *${listed(gains)}*`] : []),
    ...(loses.length > 0 ? [`${one ? 'loses' : 'lose'} *${listed(loses)}*`] : []),
  ];
  const place = where === undefined ? '' : ` in <#${where}>`;
  return `${people}${place}: ${parts.length > 0 ? parts.join(', ') : 'nothing changes'}`;
}

function listed(powers: readonly Power[]): string {
  return powers.join(', ');
}
