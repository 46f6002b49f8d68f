// "Are you sure?", as a button's `confirm` asks it.

import { el, freshId } from './dom.js';
import { addLayer, removeLayer } from './layers.js';
import { plain, textNode } from './text.js';

/** Asks; true when the person goes ahead. */
export function askFirst(confirm) {
  const before = document.activeElement;
  return new Promise((resolve) => {
    const answer = (yes) => {
      removeLayer(layer);
      if (before?.isConnected) before.focus();
      resolve(yes);
    };
    const [title, text] = [freshId('confirm'), freshId('confirm')];
    const yes = el(
      'button',
      { type: 'button', class: `button ${confirm.style ?? 'primary'}`, on: { click: () => answer(true) } },
      plain(confirm.confirm) || 'Yes',
    );
    const no = el(
      'button',
      { type: 'button', class: 'button', on: { click: () => answer(false) } },
      plain(confirm.deny) || 'Cancel',
    );
    const words = textNode(confirm.text) ?? el('div');
    words.id = text;
    const box = el(
      'div',
      {
        class: 'dialog confirm',
        role: 'alertdialog',
        'aria-modal': 'true',
        'aria-labelledby': title,
        'aria-describedby': text,
      },
      el('h2', { id: title }, plain(confirm.title) || 'Are you sure?'),
      words,
      el('div', { class: 'dialog-foot' }, no, yes),
    );
    const layer = addLayer(box, () => answer(false));
    no.focus();
  });
}
