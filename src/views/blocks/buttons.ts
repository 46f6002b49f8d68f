import type { Button, ConfirmationDialog } from '@slack/types';
import { limits, plain } from './blocks.ts';
import { truncate } from './text.ts';

/** Asks before a button does its work. */
export function confirmation(title: string, text: string, confirm: string, deny: string): ConfirmationDialog {
  return { title: plain(title), text: plain(text), confirm: plain(confirm), deny: plain(deny) };
}

/** A button. `actionId` is `feature:verb`, plus `:anything` if a block holds several of one kind. */
export function button(
  label: string,
  actionId: string,
  value: string,
  more: Pick<Button, 'style' | 'confirm'> = {},
): Button {
  return { type: 'button', text: plain(truncate(label, limits.button)), action_id: actionId, value, ...more };
}

type Look = Pick<Button, 'style'>;

/** A button that runs `/cdn <words>`. `nth` makes the id unique in its block. */
export function commandButton(label: string, words: string, nth = 0, more: Look = {}): Button {
  return button(label, `help:run:${nth}`, words.slice(0, limits.value), more);
}

/** Opens the form for a key, or offers a link to the page. */
export function connectButton(label = 'Connect your key', more: Look = { style: 'primary' }): Button {
  return button(label, 'connect:open', 'open', more);
}
