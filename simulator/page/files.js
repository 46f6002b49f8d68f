// Files that came with a message: pictures are shown, others are cards to download.

import { el } from './dom.js';

/** Bytes for people: 1.2 MB. */
export function fileSize(bytes) {
  if (bytes === undefined || bytes === null) return '';
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB'];
  let size = bytes / 1000;
  while (size >= 1000 && units.length > 1) {
    size /= 1000;
    units.shift();
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[0]}`;
}

const kind = (file) => (/\.([a-z0-9]{1,5})$/i.exec(file.name)?.[1] ?? 'file').toUpperCase();

export function drawFile(file) {
  const download = el('a', { href: file.url, download: file.name, class: 'button small' }, 'Download');
  const about = el(
    'span',
    { class: 'subtitle' },
    [kind(file), fileSize(file.size)].filter(Boolean).join(' · '),
  );
  const title = file.title || file.name;
  if (file.mimetype?.startsWith('image/')) {
    return el(
      'figure',
      { class: 'image file' },
      el('figcaption', {}, title, ' ', about),
      el(
        'a',
        { href: file.url, target: '_blank', rel: 'noopener' },
        el('img', { src: file.url, alt: file.altText ?? title, class: 'picture wide' }),
      ),
    );
  }
  return el(
    'div',
    { class: 'file-card file' },
    el('span', { class: 'file-kind', 'aria-hidden': 'true' }, kind(file)),
    el(
      'div',
      { class: 'file-words' },
      el('div', { class: 'title' }, title),
      el('div', { class: 'subtitle' }, file.name === title ? '' : `${file.name} · `, about),
    ),
    download,
  );
}
