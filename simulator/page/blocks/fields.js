import { el, freshId } from '../dom.js';
import { drawElement } from '../elements/index.js';
import { plain, textNode } from '../text.js';

export function section(block, surface) {
  const words = el(
    'div',
    { class: 'section-words' },
    block.text && textNode(block.text),
    block.fields && el('div', { class: 'fields' }, ...block.fields.map((field) => textNode(field))),
  );
  const accessory =
    block.accessory && el('div', { class: 'accessory' }, drawElement(block.accessory, { surface, block }));
  return el('div', { class: 'section' }, words, accessory);
}

export const actions = (block, surface) =>
  el(
    'div',
    { class: 'actions' },
    ...block.elements.map((element) => drawElement(element, { surface, block })),
  );

export const contextActions = (block, surface) =>
  el(
    'div',
    { class: 'actions quiet' },
    ...block.elements.map((element) => drawElement(element, { surface, block })),
  );

/** A labelled field with its hint, and an empty place for what is wrong with it (filled by the modal). */
export function input(block, surface) {
  const ids = { label: freshId('label'), hint: freshId('hint'), error: freshId('error') };
  const cx = { surface, block, input: true, labelledBy: ids.label, describedBy: `${ids.hint} ${ids.error}` };
  const optional = block.optional ? el('span', { class: 'optional' }, ' (optional)') : undefined;
  const label = el('div', { class: 'label', id: ids.label }, plain(block.label), optional);
  const field = drawElement(block.element, cx);
  // A click on the label goes into the field, as with a real <label>.
  label.addEventListener('click', () => field.matches('input, textarea, button') && field.focus());
  return el(
    'div',
    { class: 'input' },
    label,
    field,
    el('div', { class: 'error', id: ids.error, data: { errorFor: block.block_id } }),
    block.hint && el('div', { class: 'hint', id: ids.hint }, plain(block.hint)),
  );
}
