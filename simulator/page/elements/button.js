import { askFirst } from '../dialog.js';
import { el } from '../dom.js';
import { plain } from '../text.js';
import { toast } from '../toast.js';
import { focusName } from '../values.js';
import { labels } from './commit.js';

/** A button that presses `value` (or follows its address) and shows that it is on its way. */
function pressable(element, cx, { name, value, words, label, part = '' }) {
  const press = async () => {
    if (node.getAttribute('aria-busy') === 'true') return;
    if (element.confirm && !(await askFirst(element.confirm))) return;
    if (/^https?:/i.test(element.url ?? '')) window.open(element.url, '_blank', 'noopener,noreferrer');
    node.setAttribute('aria-busy', 'true');
    await cx.surface.press(cx.block, element, value);
    node.removeAttribute('aria-busy');
  };
  const node = el(
    'button',
    {
      type: 'button',
      class: `button ${name ?? ''}`,
      ...(label ? { 'aria-label': label } : {}),
      data: { focus: focusName(cx.surface, cx.block, element) + part, action: element.action_id },
      on: { click: press },
    },
    words,
  );
  return node;
}

export function button(element, cx) {
  const outside = element.url ? [' ', el('span', { class: 'outside', 'aria-hidden': 'true' }, '↗')] : [];
  return pressable(element, cx, {
    name: element.style,
    value: element.value,
    words: el('span', {}, plain(element.text), ...outside),
    label: labels(element, {})['aria-label'],
  });
}

export const iconButton = (element, cx) =>
  pressable(element, cx, {
    name: 'icon',
    value: element.value,
    words: plain(element.text),
    label: element.accessibility_label,
  });

/** Thumbs up and thumbs down. */
export function feedbackButtons(element, cx) {
  const half = (one, sign, part) =>
    pressable(element, cx, {
      name: 'icon',
      value: part,
      words: `${sign} ${plain(one.text)}`,
      label: one.accessibility_label,
      part,
    });
  return el(
    'span',
    { class: 'feedback' },
    half(element.positive_button, '👍', 'positive'),
    half(element.negative_button, '👎', 'negative'),
  );
}

/** Workflows live in Slack alone: the button is drawn and says so. */
export const workflowButton = (element) =>
  el(
    'button',
    {
      type: 'button',
      class: `button ${element.style ?? ''}`,
      on: { click: () => toast('Workflows run in Slack only, not in this playground.') },
    },
    plain(element.text),
  );
