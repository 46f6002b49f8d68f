// Slack's rich text trees to DOM nodes.

import { slackDate } from './dates.js';
import { el } from './dom.js';
import { emoji, link, mention } from './text.js';

/** Nodes for a rich_text block's elements. */
export function richText(elements = []) {
  return elements.map((part) => {
    switch (part.type) {
      case 'rich_text_section':
        return el('div', { class: 'line' }, ...spans(part.elements));
      case 'rich_text_preformatted':
        return el('pre', {}, el('code', {}, ...spans(part.elements)));
      case 'rich_text_quote':
        return el('blockquote', {}, ...spans(part.elements));
      case 'rich_text_list':
        return list(part);
      default:
        return el('div', { class: 'unknown' }, `Unknown rich text: ${part.type}`);
    }
  });
}

function list(part) {
  const ordered = part.style === 'ordered';
  const properties = { class: `indent-${Math.min(part.indent ?? 0, 6)}` };
  if (ordered && part.offset) properties.start = part.offset + 1;
  return el(
    ordered ? 'ol' : 'ul',
    properties,
    ...part.elements.map((item) => el('li', {}, ...spans(item.elements))),
  );
}

const spans = (elements = []) => elements.map((one) => styled(span(one), one.style));

function span(one) {
  switch (one.type) {
    case 'text':
      return one.text;
    case 'link':
      return link(one.url, one.text || one.url);
    case 'user':
      return mention(`@${one.user_id}`);
    case 'channel':
      return mention(`#${one.channel_id}`);
    case 'usergroup':
      return mention(`!subteam^${one.usergroup_id}`);
    case 'team':
      return mention(`!${one.team_id}`);
    case 'broadcast':
      return mention(`!${one.range}`);
    case 'emoji':
      return el('span', { class: 'emoji', title: `:${one.name}:` }, emoji(one.name) ?? `:${one.name}:`);
    case 'date': {
      const words = slackDate(one.timestamp, one.format) ?? one.fallback ?? '';
      return one.url ? link(one.url, words) : el('time', { title: one.fallback }, words);
    }
    case 'color':
      return el('span', { class: 'colour' }, swatch(one.value), one.value);
    default:
      return el('span', { class: 'unknown' }, `[${one.type}]`);
  }
}

function swatch(value) {
  const node = el('span', { class: 'swatch' });
  node.style.background = value;
  return node;
}

function styled(node, style = {}) {
  let dressed = node;
  if (style.code) dressed = el('code', {}, dressed);
  if (style.strike) dressed = el('s', {}, dressed);
  if (style.italic) dressed = el('em', {}, dressed);
  if (style.bold) dressed = el('strong', {}, dressed);
  if (style.underline) dressed = el('u', {}, dressed);
  return dressed;
}
