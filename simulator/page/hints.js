// What to try: commands that one click types, keys that one click copies. A hint is gone once it was followed.

import { el } from './dom.js';
import { mrkdwn } from './mrkdwn.js';
import { toast } from './toast.js';

let isClosed = false;
let left = 0;
let drawn = '';

/** Shows the hints that are left, unless they were closed; `type(text)` puts a command into the composer. */
export function drawHints(section, hints, type) {
  left = hints.length;
  section.hidden = left === 0 || isClosed;
  if (drawn === JSON.stringify(hints)) return;
  drawn = JSON.stringify(hints);
  const list = el('ol', {}, ...hints.map((hint) => el('li', {}, ...mrkdwn(hint))));
  for (const code of list.querySelectorAll('code')) code.replaceWith(handy(code.textContent, type));
  section.replaceChildren(el('h2', {}, 'Try this first'), list);
}

/** The button that shows and hides them; `changed` draws the page again. */
export const hintsButton = (section, changed) =>
  left > 0 &&
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
          isClosed = !section.hidden;
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
