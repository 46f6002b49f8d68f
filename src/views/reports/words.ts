import { type BudgetState, requestsPerHour } from '../../commands/reports/accounts/budget.ts';
import type { PauseReason, Report } from '../../commands/reports/model.ts';
import { formatInteger, formatUtc } from '../blocks/format.ts';
import { escapeMrkdwn } from '../blocks/text.ts';

/** Why a digest or alert is paused, in mrkdwn. */
export function describePause(reason: PauseReason, by?: string): string {
  return reason === 'by-hand' && by !== undefined ? `paused by <@${by}>` : pauseReasons[reason];
}

export function describePaused({ reason, by }: NonNullable<Report['paused']>): string {
  return `:double_vertical_bar: *paused:* ${describePause(reason, by)}`;
}

const pauseReasons: Readonly<Record<PauseReason, string>> = {
  'by-hand': 'paused',
  'owner-gone': 'its owner has left',
  'key-missing': 'its owner has no CDN key connected',
  'key-refused': 'the CDN refuses its owner’s key',
  'right-lost': 'its owner may no longer read there',
  'channel-not-allowed': 'the bot may no longer post in its channel',
  'channel-shared': 'its channel is shared with another organization',
  'channel-archived': 'its channel is archived',
  'channel-gone': 'its channel is gone, or the bot cannot see it',
  'bot-removed': 'the bot was removed from its channel',
  uninstalled: 'the bot was removed from the workspace',
  failing: 'it failed three times in a row',
};

/** A channel, or a person's conversation with the bot, in mrkdwn. */
export function formatPlace(place: string): string {
  return /^[UW]/u.test(place) ? `<@${place}>` : `<#${place}>`;
}

/** Channel and owner; once, where it is the owner's conversation. */
export function formatReaders(channel: string, owner: string): string {
  return channel === owner ? `<@${owner}> only` : `${formatPlace(channel)} · <@${owner}>`;
}

/** `12 of 1,200 background requests used until 11:00 UTC` */
export function describeBudget({ used, limit, resetsAt }: BudgetState): string {
  const requests = `${formatInteger(used)} of ${formatInteger(limit)} background requests used`;
  return `${requests} until ${formatUtc(resetsAt).slice(11)}`;
}

/** Why an alert cannot check: jobs have no requests left. */
export function describeBudgetSpent(resetsAt: Date): string {
  return `Alerts and digests have used all ${formatInteger(requestsPerHour)} background requests of this account this hour. Checks go on at ${formatUtc(resetsAt).slice(11)}.`;
}

const mostTargets = 3;

/** `shop, api, 1003 and 2 more zones`; empty where nothing is chosen. `called`: names by id, as far as they are known. */
export function nameTargets(
  ids: readonly string[],
  called: Readonly<Record<string, string>> = {},
  [one, many]: readonly [one: string, many: string],
): string {
  if (ids.length === 0 || one === '') return '';
  const names = ids.slice(0, mostTargets).map((id) => {
    // A host is its own name.
    const name = called[id] ?? (id.includes('.') ? id : `${one.replace(/ or .*/u, '')} ${id}`);
    return escapeMrkdwn(name, 60);
  });
  const more = ids.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${formatInteger(more)} more ${more === 1 ? one : many}` : ''}`;
}
