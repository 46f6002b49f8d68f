import { el } from '../dom.js';
import { fileSize } from '../files.js';
import { focusName, remember, valueOf, wire } from '../values.js';
import { commit, labels } from './commit.js';

const inputTypes = { email_text_input: 'email', url_text_input: 'url', number_input: 'text' };

/** Text on one line or several, an e-mail address, a web address, a number, rich text (typed as plain text here). */
export function textInput(element, cx) {
  const tall = element.multiline === true || element.type === 'rich_text_input';
  const node = el(tall ? 'textarea' : 'input', {
    ...(tall ? { rows: element.min_lines ?? 4 } : { type: inputTypes[element.type] ?? 'text' }),
    class: 'field',
    placeholder: element.placeholder?.text,
    maxlength: element.max_length,
    inputmode: element.type === 'number_input' ? 'decimal' : undefined,
    autocomplete: 'off',
    spellcheck: tall ? 'true' : 'false',
    ...labels(element, cx),
    data: {
      focus: focusName(cx.surface, cx.block, element),
      ...(element.focus_on_load ? { first: '' } : {}),
    },
    on: {
      input: () => {
        remember(cx.surface, cx.block, element, node.value);
        if (tells('on_character_entered')) tell();
      },
      keydown: (event) => {
        if (event.key !== 'Enter' || tall || event.isComposing || !tells('on_enter_pressed')) return;
        event.preventDefault();
        event.stopPropagation();
        tell();
      },
    },
  });
  const tells = (moment) => {
    if (!cx.block.dispatch_action) return false;
    return (element.dispatch_action_config?.trigger_actions_on ?? ['on_enter_pressed']).includes(moment);
  };
  const tell = () => cx.surface.choose(cx.block, element, wire(node.value) ?? '');
  node.value = valueOf(cx.surface, cx.block, element) ?? '';
  return node;
}

const two = (number) => String(number).padStart(2, '0');

/** Unix seconds as the local 'YYYY-MM-DDTHH:mm' of the browser's field. */
function toField(seconds) {
  const date = new Date(seconds * 1000);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

const same = (value) => value;
export const datePicker = (element, cx) => field('date', element, cx, { read: same, write: same });
export const timePicker = (element, cx) => field('time', element, cx, { read: same, write: same });
export const dateTimePicker = (element, cx) =>
  field('datetime-local', element, cx, {
    read: (text) => Math.floor(new Date(text).getTime() / 1000),
    write: toField,
  });

function field(type, element, cx, { read, write }) {
  const before = valueOf(cx.surface, cx.block, element);
  const shown = (value) => (value === undefined || value === null || value === '' ? '' : write(value));
  let told = shown(before);
  let waiting;
  // Typing a year passes through the years 2, 20 and 202: only the final value is sent.
  const settle = async () => {
    clearTimeout(waiting);
    if (node.value === told || (type !== 'time' && node.value.startsWith('0'))) return;
    const last = told;
    told = node.value;
    if (await commit(element, cx, node.value ? read(node.value) : undefined)) return;
    told = last;
    node.value = last;
  };
  const node = el('input', {
    type,
    class: 'field date',
    value: told,
    ...labels(element, cx, type === 'time' ? 'Time' : 'Date'),
    data: { focus: focusName(cx.surface, cx.block, element) },
    on: {
      change: () => {
        clearTimeout(waiting);
        waiting = setTimeout(settle, cx.input ? 0 : 800);
      },
      blur: settle,
    },
  });
  return node;
}

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
