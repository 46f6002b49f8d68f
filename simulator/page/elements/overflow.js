import { askFirst } from '../dialog.js';
import { el } from '../dom.js';
import { openPicker } from '../picker.js';
import { focusName } from '../values.js';
import { source } from './sources.js';

/** The ⋯ menu: choosing acts at once and nothing stays chosen. */
export function overflow(element, cx) {
  const node = el(
    'button',
    {
      type: 'button',
      class: 'button overflow',
      'aria-haspopup': 'listbox',
      'aria-expanded': 'false',
      'aria-label': 'More actions',
      data: { focus: focusName(cx.surface, cx.block, element) },
      on: {
        click: () =>
          openPicker({
            anchor: node,
            label: 'More actions',
            search: false,
            ...source(element, cx),
            isChosen: () => false,
            pick: async (option) => {
              if (element.confirm && !(await askFirst(element.confirm))) return;
              const { url } = element.options.find((one) => one.value === option.value) ?? {};
              if (/^https?:/i.test(url ?? '')) window.open(url, '_blank', 'noopener,noreferrer');
              await cx.surface.choose(cx.block, element, option.value);
            },
          }),
      },
    },
    '⋯',
  );
  return node;
}
