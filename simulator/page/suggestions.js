// What a person may be about to type: `/cdn …`, `@cdn …`, or in the conversation with the bot the bare words.

import { bot, commands } from './world.js';

/**
 * The commands that what was typed may become, each {words: as shown, typed: as put into the field, summary}; none once
 * its word is complete and arguments follow. Slash commands do not exist in threads.
 */
export function suggestWords(typed, place) {
  const mention = `@${bot().name}`;
  const starts = place === 'thread' ? [`${mention} `] : ['/cdn ', `${mention} `];
  const start = starts.find((one) => (one.startsWith(typed) ? typed !== '' : typed.startsWith(one)));
  if (start && !typed.includes(start) && typed.startsWith('@'))
    return [{ words: mention, typed: `${mention} `, summary: 'Ask the bot; only you see the answer' }];
  if (start) return matching(typed.slice(start.length)).map((one) => suggestion(one, start));
  const bare = place === 'conversation' && /^[a-z]/i.test(typed);
  return bare ? matching(typed).map((one) => suggestion(one, '')) : [];
}

function matching(typed) {
  const words = typed.toLowerCase();
  return commands().filter(
    ({ usage }) => usage.toLowerCase().startsWith(words) || words.startsWith(`${usage.split(' ')[0]} `),
  );
}

function suggestion({ usage, summary }, start) {
  const parts = usage.split(' ');
  const open = parts.findIndex((word) => /[<[|·]/.test(word));
  const fixed = parts.slice(0, open < 0 ? parts.length : open).join(' ');
  return { words: start + usage, typed: `${start}${fixed}${open < 0 ? '' : ' '}`, summary };
}
