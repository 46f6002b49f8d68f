// Layers above the page: modals, questions and open menus. Everything beneath takes no focus and no clicks.

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
  stack.push(Object.assign(layer, { dialog, escape }));
  root().append(layer);
  settle();
  return layer;
}

// On the document: a click beside every control leaves the focus on nothing, and Esc and Tab must work from there too.
document.addEventListener('keydown', (event) => {
  const top = stack.at(-1);
  if (!top || event.defaultPrevented) return;
  if (event.key === 'Escape') {
    event.preventDefault();
    top.escape();
  } else if (event.key === 'Tab') holdTab(event, top.dialog);
});

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
  const outside = !dialog.contains(active);
  if (!first) event.preventDefault();
  else if (event.shiftKey ? outside || active === first || active === dialog : outside || active === last) {
    event.preventDefault();
    (event.shiftKey ? last : first).focus();
  }
}
