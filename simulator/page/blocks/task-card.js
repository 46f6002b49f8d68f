import { el } from '../dom.js';
import { link } from '../mentions.js';
import { richText } from '../rich-text.js';
import { drawBlock } from './index.js';

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
