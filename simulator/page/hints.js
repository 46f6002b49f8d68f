// What to try first: commands that one click types, keys that one click copies.

import { el } from './dom.js';
import { mrkdwn } from './mrkdwn.js';
import { toast } from './toast.js';
import { hints } from './world.js';

const put = (key, value) => {
  try {
    sessionStorage.setItem(key, value);
  } catch {
    // A browser that keeps nothing only shows the hints again.
  }
};

/** Shows the hints until they are put away; `type(text)` puts a command into the composer. */
export function showHints(section, type) {
  if (!hints().length || sessionStorage.getItem('hints') === 'away') return;
  const away = () => {
    section.hidden = true;
    put('hints', 'away');
  };
  section.replaceChildren(
    el('h2', {}, 'Try this first'),
    el('ol', {}, ...hints().map((hint) => el('li', {}, ...mrkdwn(hint)))),
    el(
      'button',
      { type: 'button', class: 'button quiet', 'aria-label': 'Put the hints away', on: { click: away } },
      '×',
    ),
  );
  for (const code of section.querySelectorAll('code')) code.replaceWith(handy(code.textContent, type));
  section.hidden = false;
}

function handy(text, type) {
  const command = text.startsWith('/');
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
