// What lies above the page: modals, questions and open menus. What is beneath takes no focus and no clicks.

import { el, tabStops } from './dom.js';

const root = () => document.querySelector('#layers');
const stack = [];

function settle() {
  const top = stack.at(-1);
  document.querySelector('#app').inert = stack.length > 0;
  for (const layer of stack) layer.inert = layer !== top;
}

/** Puts a dialog on top and keeps Tab inside it. Esc calls `escape`. */
export function addLayer(dialog, escape) {
  const layer = el('div', { class: 'layer' }, dialog);
  layer.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !event.defaultPrevented) {
      event.preventDefault();
      escape();
    }
    if (event.key === 'Tab') holdTab(event, dialog);
  });
  layer.addEventListener('pointerdown', (event) => {
    if (event.target === layer) event.preventDefault();
  });
  stack.push(layer);
  root().append(layer);
  settle();
  return layer;
}

export function removeLayer(layer) {
  const at = stack.indexOf(layer);
  if (at >= 0) stack.splice(at, 1);
  layer.remove();
  settle();
}

function holdTab(event, dialog) {
  const stops = tabStops(dialog);
  const [first, last] = [stops[0], stops.at(-1)];
  const active = document.activeElement;
  if (!first) event.preventDefault();
  else if (event.shiftKey && (active === first || !stops.includes(active))) {
    event.preventDefault();
    last.focus();
  } else if (!event.shiftKey && active === last) {
    event.preventDefault();
    first.focus();
  }
}
