import { el } from '../dom.js';

export const file = (block) =>
  el(
    'div',
    { class: 'file-card' },
    el('span', { class: 'file-kind', 'aria-hidden': 'true' }, 'FILE'),
    el(
      'div',
      {},
      el('div', { class: 'title' }, block.external_id),
      el('div', { class: 'subtitle' }, `${block.source} file`),
    ),
  );
