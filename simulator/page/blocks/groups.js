import { el } from '../dom.js';
import { drawElement } from '../elements/index.js';
import { picture } from '../elements/picture.js';
import { richText } from '../rich-text.js';
import { link, plain, textNode } from '../text.js';
import { drawBlock, drawBlocks } from './index.js';

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

const statuses = {
  pending: ['○', 'Waiting'],
  in_progress: ['◐', 'In progress'],
  complete: ['✓', 'Done'],
  error: ['×', 'Failed'],
};

export function taskCard(block) {
  const [sign, words] = statuses[block.status] ?? ['?', block.status];
  const sources = (block.sources ?? []).map((source) => el('li', {}, link(source.url, source.text)));
  return el(
    'div',
    { class: `task ${block.status}` },
    el(
      'div',
      { class: 'task-head' },
      el('span', { class: 'sign', role: 'img', 'aria-label': words }, sign),
      block.title,
    ),
    block.details && el('div', { class: 'text' }, ...richText(block.details.elements)),
    block.output && el('div', { class: 'text' }, ...richText(block.output.elements)),
    sources.length ? el('ul', { class: 'sources' }, ...sources) : undefined,
  );
}

export const plan = (block, surface) =>
  el(
    'div',
    { class: 'plan' },
    el('div', { class: 'title' }, typeof block.title === 'string' ? block.title : block.title?.text),
    ...(block.tasks ?? []).map((task) => drawBlock({ type: 'task_card', ...task }, surface)),
  );
