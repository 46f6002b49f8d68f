import { el } from '../dom.js';
import { withEmoji } from '../emoji.js';
import { openPicker } from '../picker.js';
import { focusName, valueOf } from '../values.js';
import { commit, labels } from './commit.js';
import { nameOf, source } from './sources.js';

/** A menu with one choice, whatever its choices come from. */
export function select(element, cx) {
  const words = el('span', { class: 'select-words' });
  const show = () => {
    const value = valueOf(cx.surface, cx.block, element);
    words.textContent = value ? withEmoji(nameOf(value)) : (element.placeholder?.text ?? 'Choose…');
    words.classList.toggle('empty', !value);
  };
  const node = el(
    'button',
    {
      type: 'button',
      class: 'select',
      role: 'combobox',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      ...labels(element, cx),
      data: { focus: focusName(cx.surface, cx.block, element) },
      on: {
        click: () =>
          openPicker({
            anchor: node,
            label: element.placeholder?.text ?? 'Choices',
            ...source(element, cx),
            isChosen: (option) => valueOf(cx.surface, cx.block, element)?.value === option.value,
            pick: async ({ value, text }) => {
              await commit(element, cx, { value, text });
              show();
            },
          }),
        keydown: (event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          node.click();
        },
      },
    },
    words,
    el('span', { class: 'caret', 'aria-hidden': 'true' }, '▾'),
  );
  show();
  return node;
}
