import { el } from '../dom.js';
import { drawElement } from '../elements/index.js';
import { picture } from '../elements/picture.js';
import { textNode } from '../text.js';
import { drawBlock } from './index.js';

export function card(block, surface) {
  const buttons = (block.actions ?? []).map((element) => drawElement(element, { surface, block }));
  return el(
    'article',
    { class: 'card' },
    block.hero_image && picture(block.hero_image, 'hero'),
    el(
      'div',
      { class: 'card-head' },
      block.icon && picture(block.icon, 'icon'),
      el('div', {}, textNode(block.title, 'div', 'title'), textNode(block.subtitle, 'div', 'subtitle')),
    ),
    textNode(block.body),
    buttons.length ? el('div', { class: 'actions' }, ...buttons) : undefined,
  );
}

export const carousel = (block, surface) =>
  el(
    'div',
    { class: 'carousel', role: 'group', 'aria-label': `${block.elements.length} cards`, tabindex: '0' },
    ...block.elements.map((one, index) =>
      drawBlock({ block_id: `${block.block_id}.${index}`, ...one }, surface),
    ),
  );
