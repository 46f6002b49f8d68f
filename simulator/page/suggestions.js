// What Slack offers while a person types: a slash command with its one usage hint, and the bot to mention. No more: it knows
// nothing of the words after them.

import { bot, commands } from './world.js';

/**
 * What was typed may become one of these, each {words: as shown, typed: as put into the field, summary}. Slash commands do
 * not exist in threads.
 */
export function suggestWords(typed, place) {
  const mention = `@${bot().name}`;
  if (typed.startsWith('@') && mention.startsWith(typed))
    return [{ words: mention, typed: `${mention} `, summary: 'Ask the bot; only you see the answer' }];
  if (!typed.startsWith('/') || place === 'thread') return [];
  return commands()
    .filter(({ command }) => command.startsWith(typed) || typed === `${command} `)
    .map(({ command, usageHint, description }) => ({
      words: `${command} ${usageHint}`,
      typed: `${command} `,
      summary: description,
    }));
}
