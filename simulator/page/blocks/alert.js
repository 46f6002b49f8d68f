import { el } from '../dom.js';
import { textNode } from '../text.js';

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
