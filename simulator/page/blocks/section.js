import { el } from '../dom.js';
import { drawElement } from '../elements/index.js';
import { textNode } from '../text.js';

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
