// The form with which a workflow asks for what its step takes. Without fields it runs at once.

import { act } from './api.js';
import { el, freshId } from './dom.js';
import { addLayer, removeLayer } from './layers.js';
import { fail, toast } from './toast.js';

export function openStep({ callbackId, name, fields }, where) {
  const run = (inputs) => {
    toast('The workflow runs.');
    return act('step', { ...where, callbackId, inputs }).catch(fail);
  };
  if (!fields.length) return run({});
  const title = freshId('step');
  const inputs = fields.map((field) => {
    const id = freshId('step');
    const input = el('input', {
      type: 'text',
      class: 'field',
      id,
      required: field.required,
      value: field.value,
    });
    const label = el('label', { for: id }, field.title ?? field.name);
    return {
      name: field.name,
      input,
      node: el('div', { class: 'input' }, label, input, el('div', { class: 'hint' }, field.hint)),
    };
  });
  const close = () => removeLayer(layer);
  const form = el(
    'form',
    { class: 'dialog modal', role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': title },
    el('header', { class: 'dialog-head' }, el('h2', { id: title }, name)),
    el('div', { class: 'modal-body' }, ...inputs.map(({ node }) => node)),
    el(
      'div',
      { class: 'dialog-foot' },
      el('button', { type: 'button', class: 'button', on: { click: close } }, 'Cancel'),
      el('button', { type: 'submit', class: 'button primary' }, 'Run'),
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    close();
    void run(Object.fromEntries(inputs.map(({ name: of, input }) => [of, input.value.trim()])));
  });
  const layer = addLayer(form, close);
  inputs[0].input.focus();
}
