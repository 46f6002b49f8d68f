import type { BudgetState } from '../../../commands/reports/accounts/budget.ts';
import type { PauseReason } from '../../../commands/reports/schedules/model.ts';
import { formatInteger, formatUtc } from '../../blocks/format.ts';

/** Why a digest or watch is paused, in mrkdwn. */
export function describePause(reason: PauseReason, by?: string): string {
  return reason === 'by-hand' && by !== undefined ? `paused by <@${by}>` : pauseReasons[reason];
}

const pauseReasons: Readonly<Record<PauseReason, string>> = {
  'by-hand': 'paused',
  new: 'its channel was not told yet',
  'owner-gone': 'its owner has left',
  'key-missing': 'its owner has no CDN key connected any more',
  'key-refused': 'the CDN refuses its owner’s key',
  'right-lost': 'its owner may not read there any more',
  'channel-not-allowed': 'the bot may not post into its channel any more',
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

/** `12 of 1,200 requests of your account used until 11:00 UTC` */
export function describeBudget({ used, limit, resetsAt }: BudgetState): string {
  const requests = `${formatInteger(used)} of ${formatInteger(limit)} requests of your account used`;
  return `${requests} until ${formatUtc(resetsAt).slice(11)}`;
}
