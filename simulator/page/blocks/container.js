import { el } from '../dom.js';
import { picture } from '../elements/picture.js';
import { richText } from '../rich-text.js';
import { plain, textNode } from '../text.js';
import { drawBlocks } from './index.js';

export function container(block, surface) {
  const folds = block.is_collapsible === true;
  const title = block.rich_text_title
    ? el('div', { class: 'title' }, ...richText(block.rich_text_title.elements))
    : el('div', { class: 'title' }, plain(block.title));
  const head = el(
    folds ? 'summary' : 'div',
    { class: `container-head${block.has_header_divider ? ' ruled' : ''}` },
    block.icon && picture(block.icon, 'icon'),
    el('div', {}, title, block.subtitle && textNode(block.subtitle, 'div', 'subtitle')),
  );
  const body = el('div', { class: 'container-body' });
  drawBlocks(body, block.child_blocks ?? [], surface);
  const open = folds && !block.default_collapsed;
  return el(folds ? 'details' : 'div', { class: `container ${block.width ?? 'standard'}`, open }, head, body);
}
