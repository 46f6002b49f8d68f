import { el } from '../dom.js';
import { picture } from '../elements/picture.js';
import { plain } from '../text.js';

export const image = (block) =>
  el(
    'figure',
    { class: 'image' },
    block.title && el('figcaption', {}, plain(block.title)),
    picture(block, 'wide'),
  );
