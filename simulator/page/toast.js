// A word from the page itself, for a few seconds: the playground's troubles, never the bot's.

import { el } from './dom.js';

export function toast(text) {
  const note = el('div', { class: 'toast', role: 'alert' }, text);
  document.querySelector('#layers').append(note);
  setTimeout(() => note.remove(), 6000);
}

export const fail = (error) => toast(error instanceof Error ? error.message : String(error));
