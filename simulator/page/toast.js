// A note of the page itself, shown for a few seconds: errors of the playground, never of the bot.

import { el } from './dom.js';

export function toast(text) {
  const note = el('div', { class: 'toast', role: 'alert' }, text);
  document.querySelector('#layers').append(note);
  setTimeout(() => note.remove(), 6000);
}

export const fail = (error) => toast(error instanceof Error ? error.message : String(error));
