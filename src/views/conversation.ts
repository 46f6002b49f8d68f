import { actions, limits, type Message, say } from './blocks/blocks.ts';
import { commandButton } from './blocks/buttons.ts';

/** In place of a form, which Slack opens after a press only. `words` are a command without `/cdn`. */
export function renderFormOffer(title: string, words: string): Message {
  // What is cut would open another form than the words ask for.
  const typed = words.length > limits.value ? (words.split(/\s/u)[0] ?? '') : words;
  return say(
    'This needs a form, which opens by a button.',
    actions(commandButton(`Open: ${title}`, typed, 0, { style: 'primary' })),
  );
}
