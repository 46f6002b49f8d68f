import type { KnownBlock } from '@slack/types';
import type { PendingChange } from '../../auth/policy/pending.ts';
import {
  actions,
  compact,
  context,
  type FormResult,
  type Message,
  message,
  say,
  section,
} from '../blocks/blocks.ts';
import { button, commandButton, confirmation } from '../blocks/buttons.ts';
import { formatMoment } from '../blocks/format.ts';
import { formResult } from '../blocks/inputs.ts';
import { join, truncateLines } from '../blocks/text.ts';
import { closeAll, describeChange, mentionAll } from './settings.ts';

/** The message to each other admin: what is asked for and why it waits, with two buttons while it does. */
export function renderPendingCard(change: PendingChange): Message {
  const { author, state } = change;
  const waits = state === 'waiting';
  const text = `<@${author.userId}> ${waits ? 'asks' : 'asked'} for a change of the settings of the CDN bot`;
  return message(waits ? `${text}. It needs a second admin.` : `${text}: ${endings[state](change)}`, [
    section(`*${text}*`),
    ...renderPendingChange(change),
    waits
      ? actions(...decisionButtons(change), commandButton('Settings', 'settings'))
      : section(endings[state](change)),
    waits && context(`Nothing changes before that. Expires ${formatMoment(change.expiresAt)}.`),
  ]);
}

/** For an admin's Home tab and above the settings: the change that waits, with what this reader can do. */
export function renderPending(change: PendingChange, reader: string): KnownBlock[] {
  const { author, told, expiresAt } = change;
  const own = author.userId === reader;
  const who = own ? `Your change waits for ${mentionAll(told)}` : `<@${author.userId}> asks for a change`;
  return compact<KnownBlock>([
    section(`:hourglass_flowing_sand: *Settings: ${who}*`),
    ...renderPendingChange(change),
    actions(...(own ? [button('Take back', 'settings:reject', change.id)] : decisionButtons(change))),
    context(`Expires ${formatMoment(expiresAt)}, or when the settings change otherwise.`),
  ]);
}

/** In place of what was saved: nothing holds yet. */
export function renderWaiting(change: PendingChange): FormResult {
  const text = `Not saved yet: ${mentionAll(change.told)} has to confirm.`;
  return closeAll(
    formResult({ title: 'Settings', callbackId: 'settings:done' }, text, [
      section(`:hourglass_flowing_sand: *${text}*`),
      ...renderPendingChange(change),
      actions(button('Take back', 'settings:reject', change.id)),
      context(`Expires ${formatMoment(change.expiresAt)}, or when the settings change otherwise.`),
    ]),
  );
}

/** After a press that decided nothing, or that rejected it. */
export function renderPendingEnd(change: PendingChange | undefined): Message {
  if (!change) return say('There is no such change of the settings any more.');
  const { author, state } = change;
  return say(
    state === 'waiting' ? 'It still waits.' : `The change of <@${author.userId}>: ${endings[state](change)}`,
  );
}

/** Tells its author how it ended. */
export function renderPendingOutcome(change: PendingChange): Message {
  const { state, changes } = change;
  const end = state === 'waiting' ? 'it still waits.' : endings[state](change);
  const lines = changes.map((one) => `• ${describeChange(one, () => undefined)}`);
  return message(`Your change of the settings of the CDN bot: ${end}`, [
    section([`*Your change of the settings:* ${end}`, truncateLines(lines, 2000)]),
    actions(commandButton('Settings', 'settings')),
  ]);
}

const endings = {
  confirmed: ({ decidedBy }) => `:white_check_mark: confirmed by <@${decidedBy}>, it holds now.`,
  rejected: ({ decidedBy, author }) =>
    decidedBy === author.userId ? ':no_entry: taken back.' : `:no_entry: rejected by <@${decidedBy}>.`,
  void: ({ decidedBy }) =>
    `:no_entry: void, <@${decidedBy}> changed the settings or asked for something else.`,
  expired: () => ':hourglass: expired, no other admin confirmed it within a day.',
} satisfies Record<Exclude<PendingChange['state'], 'waiting'>, (change: PendingChange) => string>;

function decisionButtons({ id }: PendingChange) {
  const what = 'It holds at once, with both of your names in the audit.';
  return [
    button('Confirm', 'settings:confirm', id, {
      style: 'primary',
      confirm: confirmation('Confirm this change?', what, 'Confirm', 'Keep'),
    }),
    button('Reject', 'settings:reject', id),
  ];
}

function renderPendingChange({ changes, lowers, author }: PendingChange): KnownBlock[] {
  const lines = changes.map((change) => `• ${describeChange(change, () => undefined)}`);
  const { fewer, gains, off } = lowers;
  const why = [
    fewer.includes('destroy') && 'deletions need fewer approvals',
    fewer.includes('change') && 'changes need fewer approvals',
    gains.length > 0 && `<@${author.userId}> gains *${gains.join(', ')}*`,
    off && 'no second admin is asked any more',
  ];
  return [section([truncateLines(lines, 2500), `:warning: ${join(why, ' · ')}`])];
}
