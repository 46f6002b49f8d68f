import { el } from '../dom.js';
import { picture } from '../elements/picture.js';
import { markdown } from '../markdown.js';
import { richText } from '../rich-text.js';
import { plain, textNode } from '../text.js';

export const header = (block) => el('h3', { class: 'header' }, plain(block.text));

export const divider = () => el('hr');

export const context = (block) =>
  el(
    'div',
    { class: 'context' },
    ...block.elements.map((one) => (one.type === 'image' ? picture(one, 'tiny') : textNode(one))),
  );

export const markdownBlock = (block) => el('div', { class: 'markdown text' }, ...markdown(block.text));

export const richTextBlock = (block) => el('div', { class: 'rich-text text' }, ...richText(block.elements));

const signs = { default: '•', info: 'i', warning: '!', error: '×', success: '✓' };

export function alert(block) {
  const level = signs[block.level] ? block.level : 'default';
  return el(
    'div',
    { class: `alert ${level}`, role: 'note', 'aria-label': level },
    el('span', { class: 'sign', 'aria-hidden': 'true' }, signs[level]),
    textNode(block.text),
  );
}
