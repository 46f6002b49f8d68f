import { el } from '../dom.js';
import { fileSize } from '../files.js';
import { focusName, remember, valueOf } from '../values.js';
import { labels } from './commit.js';

/** Files to hand over: the playground tells their names and sizes, it does not upload them. */
export function fileInput(element, cx) {
  const shown = el('ul', { class: 'picked-files' });
  const show = () => {
    const files = valueOf(cx.surface, cx.block, element) ?? [];
    shown.replaceChildren(...files.map((file) => el('li', {}, `${file.name} · ${fileSize(file.size)}`)));
  };
  const picker = el('input', {
    type: 'file',
    multiple: (element.max_files ?? 10) > 1,
    accept: element.filetypes?.map((type) => `.${type}`).join(','),
    ...labels(element, cx, 'Files'),
    data: { focus: focusName(cx.surface, cx.block, element) },
    on: {
      change: () => {
        const files = [...picker.files].slice(0, element.max_files ?? 10);
        const told = files.map(({ name, size, type }, index) => ({
          id: `F0LOCAL${index}`,
          name,
          size,
          mimetype: type,
        }));
        remember(cx.surface, cx.block, element, told);
        show();
      },
    },
  });
  show();
  return el('div', { class: 'file-input' }, picker, shown);
}
