import { el } from '../dom.js';
import { drawElement } from '../elements/index.js';

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
