import { actions, limits, type Message, type MessageBlock, say } from './blocks/blocks.ts';
import { button, commandButton, type Pressed, readPressed } from './blocks/buttons.ts';

/** In place of a form, which Slack opens after a press only. `words` are a command without `/cdn`. */
export function renderFormOffer(title: string, words: string): Message {
  const typed = words.length > limits.value ? (words.split(/\s/u)[0] ?? '') : words;
  return say(
    'This needs a form: the button opens it.',
    actions(commandButton(`Open: ${title}`, typed, 0, { style: 'primary' })),
  );
}

/**
 * Words in place of a chart or table that Slack refused, with a button that shows it in the person's conversation with the
 * bot: first in the row of buttons, if there is one with room.
 */
export function addNativeOffer(
  words: readonly MessageBlock[],
  kind: 'chart' | 'table',
  { actionId, value }: Pressed,
): MessageBlock[] {
  const repeats = `${actionId} ${value}`;
  if (repeats.length > limits.value) return [...words];
  const offer = button(`Show as ${kind}`, 'native:show', repeats);
  const row = words.find((block) => block.type === 'actions' && block.elements.length < maxShown);
  if (row?.type === 'actions')
    return words.map((block) => (block === row ? { ...row, elements: [offer, ...row.elements] } : block));
  return words.length < limits.blocks ? [...words, actions(offer)] : [...words];
}

// Two rows of a phone.
const maxShown = 4;

/** The button that a pressed offer repeats; undefined = another button was pressed. */
export function readNativeOffer(actionId: string, value: string): Pressed | undefined {
  return actionId === 'native:show' ? readPressed(value) : undefined;
}

export const shownInConversation: Message = say(':arrow_right: It is in your conversation with me.');
