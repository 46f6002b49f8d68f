// Date and time fields on the browser's own controls, which people can also type into.

import { el } from '../dom.js';
import { focusName, valueOf } from '../values.js';
import { commit, labels } from './commit.js';

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
  // Typing a year passes through the years 2, 20 and 202: what is told is where typing came to rest.
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
