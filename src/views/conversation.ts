import type { ActionsBlock } from '@slack/types';
import { actions, limits, type Message, say } from './blocks/blocks.ts';
import { button, commandButton } from './blocks/buttons.ts';

/** In place of a form, which Slack opens after a press only. `words` are a command without `/cdn`. */
export function renderFormOffer(title: string, words: string): Message {
  // What is cut would open another form than the words ask for.
  const typed = words.length > limits.value ? (words.split(/\s/u)[0] ?? '') : words;
  return say(
    'This needs a form, which opens by a button.',
    actions(commandButton(`Open: ${title}`, typed, 0, { style: 'primary' })),
  );
}

interface Pressed {
  readonly actionId: string;
  readonly value: string;
}

/** The offer to show a chart or table, which Slack refused here, in the person's conversation with the bot. */
export function renderNativeOffer(kind: 'chart' | 'table', { actionId, value }: Pressed): ActionsBlock[] {
  const repeats = `${actionId} ${value}`;
  if (repeats.length > limits.value) return [];
  return [actions(button(`Show as ${kind}`, 'native:show', repeats))];
}

/** The button that a pressed offer repeats; undefined = another button was pressed. */
export function readNativeOffer(actionId: string, value: string): Pressed | undefined {
  if (actionId !== 'native:show') return undefined;
  const space = value.indexOf(' ');
  return { actionId: value.slice(0, space), value: value.slice(space + 1) };
}

/** Where the offer was taken. */
export const shownInConversation: Message = say(':arrow_right: It is in your conversation with me.');
