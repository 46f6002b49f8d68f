import { el, freshId } from '../dom.js';
import { textNode } from '../text.js';
import { focusName, valueOf } from '../values.js';
import { commit, labels } from './commit.js';

/** Checkboxes: the value is the list of what is ticked. */
export function checkboxes(element, cx) {
  const ticked = () => valueOf(cx.surface, cx.block, element) ?? [];
  const change = async (option, box) => {
    const wanted = box.checked
      ? [...ticked(), option.value]
      : ticked().filter((value) => value !== option.value);
    if (!(await commit(element, cx, wanted))) box.checked = !box.checked;
  };
  return group(element, cx, 'group', (option, name) => {
    const box = el('input', {
      type: 'checkbox',
      checked: ticked().includes(option.value),
      data: { focus: name },
      on: { change: () => change(option, box) },
    });
    return box;
  });
}

/** Radio buttons: the value is the one that is on. */
export function radioButtons(element, cx) {
  const family = freshId('radio');
  const buttons = new Map();
  const chosen = () => valueOf(cx.surface, cx.block, element);
  const change = async (option) => {
    const before = chosen();
    if (await commit(element, cx, option.value)) return;
    for (const [value, button] of buttons) button.checked = value === before;
  };
  return group(element, cx, 'radiogroup', (option, name) => {
    const button = el('input', {
      type: 'radio',
      name: family,
      checked: chosen() === option.value,
      data: { focus: name },
      on: { change: () => change(option) },
    });
    buttons.set(option.value, button);
    return button;
  });
}

function group(element, cx, role, control) {
  const rows = element.options.map((option) =>
    el(
      'label',
      { class: 'choice' },
      control(option, `${focusName(cx.surface, cx.block, element)}:${option.value}`),
      el(
        'span',
        {},
        textNode(option.text, 'span'),
        option.description && textNode(option.description, 'span', 'description'),
      ),
    ),
  );
  return el('div', { class: 'choices', role, ...labels(element, cx, 'Choices') }, ...rows);
}
