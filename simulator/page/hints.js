// What to try: commands that one click types, keys that one click copies. Out of the way once a person has begun.

import { el } from './dom.js';
import { mrkdwn } from './mrkdwn.js';
import { toast } from './toast.js';
import { hints } from './world.js';

let opened;

/** Fills the hints; `type(text)` puts a command into the composer. */
export function createHints(section, type) {
  const list = el('ol', {}, ...hints().map((hint) => el('li', {}, ...mrkdwn(hint))));
  for (const code of list.querySelectorAll('code')) code.replaceWith(handy(code.textContent, type));
  section.replaceChildren(el('h2', {}, 'Try this first'), list);
}

/** Shows the hints where nothing was done yet, or where they were asked for. */
export function drawHints(section, hasBegun) {
  section.hidden = !hints().length || !(opened ?? !hasBegun);
}

/** The button that shows and hides them; `changed` draws the page again. */
export const hintsButton = (section, changed) =>
  hints().length > 0 &&
  el(
    'button',
    {
      type: 'button',
      class: 'button quiet end',
      'aria-label': 'What to try',
      'aria-expanded': String(!section.hidden),
      'aria-controls': section.id,
      title: 'What to try',
      data: { focus: 'hints' },
      on: {
        click: () => {
          opened = section.hidden;
          changed();
        },
      },
    },
    '💡',
  );

function handy(text, type) {
  const command = /^[/@]/.test(text);
  const use = async () => {
    if (command) return type(text);
    await navigator.clipboard.writeText(text);
    toast('Copied.');
  };
  return el(
    'button',
    { type: 'button', class: 'handy', title: command ? 'Type this' : 'Copy', on: { click: use } },
    text,
  );
}
