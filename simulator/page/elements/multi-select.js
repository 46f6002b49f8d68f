import { el } from '../dom.js';
import { withEmoji } from '../emoji.js';
import { openPicker } from '../picker.js';
import { focusName, valueOf } from '../values.js';
import { commit, labels } from './commit.js';
import { nameOf, source } from './sources.js';

/** A menu with several choices, each a chip that can be taken away again. */
export function multiSelect(element, cx) {
  const chosen = () => (valueOf(cx.surface, cx.block, element) ?? []).filter(Boolean);
  const name = focusName(cx.surface, cx.block, element);
  const chips = el('span', { class: 'chips' });

  const change = async (values) => {
    await commit(element, cx, values);
    show();
  };
  const show = () => {
    chips.replaceChildren(
      ...chosen().map((one) =>
        el(
          'button',
          {
            type: 'button',
            class: 'chip',
            'aria-label': `Remove ${nameOf(one)}`,
            on: {
              click: async () => {
                await change(chosen().filter((other) => other.value !== one.value));
                add.focus();
              },
            },
          },
          withEmoji(nameOf(one)),
          el('span', { 'aria-hidden': 'true' }, ' ×'),
        ),
      ),
    );
    words.textContent = chosen().length ? 'Add…' : (element.placeholder?.text ?? 'Choose…');
  };

  const words = el('span', { class: 'select-words empty' });
  const add = el(
    'button',
    {
      type: 'button',
      class: 'select',
      role: 'combobox',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      ...labels(element, cx),
      data: { focus: name },
      on: {
        click: () =>
          openPicker({
            anchor: add,
            label: element.placeholder?.text ?? 'Choices',
            multi: true,
            ...source(element, cx),
            isChosen: (option) => chosen().some((one) => one.value === option.value),
            pick: async ({ value, text }) => {
              const without = chosen().filter((one) => one.value !== value);
              const full = element.max_selected_items && without.length >= element.max_selected_items;
              if (without.length === chosen().length && full) return;
              await change(without.length < chosen().length ? without : [...without, { value, text }]);
            },
          }),
      },
    },
    words,
    el('span', { class: 'caret', 'aria-hidden': 'true' }, '▾'),
  );
  show();
  return el('span', { class: 'multi' }, chips, add);
}
