import { el } from '../dom.js';
import { picture } from '../elements/picture.js';
import { link, plain } from '../text.js';

export const image = (block) =>
  el(
    'figure',
    { class: 'image' },
    block.title && el('figcaption', {}, plain(block.title)),
    picture(block, 'wide'),
  );

export function video(block) {
  const by = [block.author_name, block.provider_name].filter(Boolean).join(' · ');
  return el(
    'figure',
    { class: 'video' },
    by && el('div', { class: 'subtitle' }, by),
    el(
      'figcaption',
      { class: 'title' },
      block.title_url ? link(block.title_url, plain(block.title)) : plain(block.title),
    ),
    block.description && el('div', {}, plain(block.description)),
    el(
      'div',
      { class: 'video-still' },
      picture({ image_url: block.thumbnail_url, alt_text: block.alt_text }, 'wide'),
      el('span', { class: 'play', 'aria-hidden': 'true' }, '▶'),
    ),
    el('div', { class: 'subtitle' }, 'Videos are not played here: ', link(block.video_url)),
  );
}

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
