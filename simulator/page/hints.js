// First steps: commands that one click types, keys that one click copies.

import { el } from './dom.js';
import { mrkdwn } from './mrkdwn.js';
import { toast } from './toast.js';
import { hints } from './world.js';

/** Shows the hints, folded where the page is narrow; `type(text)` puts a command into the composer. */
export function showHints(section, type) {
  if (!hints().length) return;
  const open = document.querySelector('#frame').clientWidth > 640;
  const list = el('ol', {}, ...hints().map((hint) => el('li', {}, ...mrkdwn(hint))));
  for (const code of list.querySelectorAll('code')) code.replaceWith(handy(code.textContent, type));
  section.replaceChildren(el('details', { open }, el('summary', {}, 'Try this first'), list));
  section.hidden = false;
}

let hasFolded = false;

/** Folds the hints once somebody has begun, since they take half of the page. Opened again, they stay open. */
export function foldHints(section) {
  const details = section.querySelector('details');
  if (!details || hasFolded) return;
  hasFolded = true;
  details.open = false;
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
