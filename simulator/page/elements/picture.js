// Pictures. Only those of this machine are loaded: nothing on the page reaches into the network.

import { el } from '../dom.js';

const local = (address) => {
  try {
    const { protocol, hostname } = new URL(address, location.href);
    return (
      ['data:', 'blob:'].includes(protocol) ||
      ['127.0.0.1', 'localhost', location.hostname].includes(hostname)
    );
  } catch {
    return false;
  }
};

/** An image element or block; one from elsewhere, or one that does not load, becomes a frame with its description. */
export function picture(image, name) {
  const address =
    image.image_url ??
    image.slack_file?.url ??
    (image.slack_file ? `/ui/files/${image.slack_file.id}/picture` : '');
  if (!address || !local(address)) return placeholder(image, name, address);
  const node = el('img', {
    src: address,
    alt: image.alt_text ?? '',
    class: `picture ${name}`,
    loading: 'lazy',
  });
  node.addEventListener('error', () => node.replaceWith(placeholder(image, name, address)), { once: true });
  return node;
}

const placeholder = (image, name, address) =>
  el(
    'span',
    { class: `picture missing ${name}`, role: 'img', 'aria-label': image.alt_text, title: address },
    name === 'tiny' || name === 'icon' ? '▧' : `▧ ${image.alt_text}`,
  );
