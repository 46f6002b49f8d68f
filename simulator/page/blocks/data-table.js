// A table to sort, search and leaf through, in Slack's sizes. All of it happens here, over what the message holds.

import { el } from '../dom.js';
import { cellText, saveFile } from '../export.js';
import { openPicker } from '../picker.js';
import { toast } from '../toast.js';
import { cellContent } from './tables.js';

const leastColumn = 120;

export function dataTable(block) {
  const [head = [], ...rows] = block.rows;
  const size = block.page_size ?? 5;
  const name = block.row_header_column_index ?? 0;
  const state = { column: undefined, down: false, page: 0, typed: '' };
  const root = el('div', { class: 'data-table' });
  const words = rows.map((row) => row.map(cellText).join('\n').toLowerCase());
  // Slack sorts a column as numbers only if each of its cells is one.
  const isNumeric = head.map((_, column) => rows.every((row) => row[column]?.type === 'raw_number'));

  const search = el('input', {
    type: 'search',
    class: 'table-search',
    'aria-label': `Search ${block.caption}`,
    placeholder: 'Search',
    hidden: true,
    on: {
      input: () => {
        Object.assign(state, { typed: search.value.trim().toLowerCase(), page: 0 });
        draw();
      },
      keydown: (event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        openSearch(false);
      },
    },
  });
  const openSearch = (open) => {
    search.hidden = !open;
    finder.setAttribute('aria-expanded', String(open));
    if (open) return search.focus();
    search.value = '';
    Object.assign(state, { typed: '', page: 0 });
    draw();
    finder.focus();
  };
  const finder = icon('Search table', '⌕', () => openSearch(search.hidden));
  finder.setAttribute('aria-expanded', 'false');
  const menu = icon('Table options', '⋯', () =>
    openPicker({
      anchor: menu,
      label: 'Table options',
      search: false,
      load: () => [{ options: ['Copy table', 'Download table'].map((text) => ({ value: text, text })) }],
      isChosen: () => false,
      pick: ({ value }) => (value === 'Copy table' ? copy() : saveFile(block.caption, textRows())),
    }),
  );
  menu.setAttribute('aria-haspopup', 'listbox');
  menu.setAttribute('aria-expanded', 'false');
  const textRows = () => [head, ...ordered()].map((row) => row.map(cellText));
  const copy = async () => {
    await navigator.clipboard.writeText(
      textRows()
        .map((row) => row.join('\t'))
        .join('\n'),
    );
    toast('Copied.');
  };

  const sortBy = (column) => {
    state.down = state.column === column ? !state.down : false;
    Object.assign(state, { column, page: 0 });
    draw(`sort ${column}`);
  };

  const headCell = (cell, column) => {
    const sorted = state.column === column;
    const direction = sorted ? (state.down ? 'descending' : 'ascending') : 'none';
    const button = el(
      'button',
      { type: 'button', class: 'sort', data: { own: `sort ${column}` }, on: { click: () => sortBy(column) } },
      el('span', { class: 'cell' }, ...cellContent(cell)),
      el('span', { class: 'arrow', 'aria-hidden': 'true' }, sorted ? (state.down ? '↓' : '↑') : '↕'),
    );
    return el('th', { scope: 'col', 'aria-sort': direction }, button);
  };

  // One line a cell; what is cut opens when pressed.
  const bodyCell = (cell, column) => {
    const inside = el('div', { class: 'cell' }, ...cellContent(cell));
    const isName = column === name;
    return el(
      isName ? 'th' : 'td',
      {
        scope: isName ? 'row' : undefined,
        class: isNumeric[column] ? 'number' : undefined,
        on: { click: () => inside.classList.toggle('open', inside.scrollWidth > inside.clientWidth) },
      },
      inside,
    );
  };

  const ordered = () => {
    const found = rows.filter((_, at) => words[at].includes(state.typed));
    const { column, down } = state;
    if (column === undefined) return found;
    const compare = isNumeric[column] ? byNumber : byText;
    return found.toSorted((a, b) => (down ? -1 : 1) * compare(a[column], b[column]));
  };

  const turn = (label, sign, by, able) =>
    el(
      'button',
      {
        type: 'button',
        class: 'icon-button',
        'aria-label': label,
        title: label,
        disabled: !able,
        data: { own: label },
        on: {
          click: () => {
            state.page += by;
            draw(label);
          },
        },
      },
      sign,
    );

  const table = el('div', {
    class: 'table-wrap',
    tabindex: '0',
    role: 'region',
    'aria-label': block.caption,
  });
  const foot = el('div', { class: 'table-pages' });
  const bar = el(
    'div',
    { class: 'table-bar' },
    el('span', { class: 'caption' }, block.caption),
    search,
    finder,
    menu,
  );
  root.append(bar, table, foot);

  const draw = (focus) => {
    const found = ordered();
    const shown = found.slice(state.page * size, (state.page + 1) * size);
    const pages = Math.ceil(found.length / size);
    const columns = el('table', { 'aria-label': block.caption });
    columns.style.minWidth = `${head.length * leastColumn}px`;
    columns.append(
      el('thead', {}, el('tr', {}, ...head.map(headCell))),
      el('tbody', {}, ...shown.map((row) => el('tr', {}, ...row.map(bodyCell)))),
    );
    const { scrollLeft } = table;
    table.replaceChildren(columns);
    table.scrollLeft = scrollLeft;
    const first = state.page * size + 1;
    const range = found.length === 0 ? 'No rows' : `${first}–${first + shown.length - 1} of ${found.length}`;
    foot.classList.toggle('empty', rows.length <= size);
    foot.replaceChildren(
      ...(rows.length <= size && found.length > 0
        ? []
        : [
            el('span', { role: 'status' }, range),
            turn('Previous rows', '‹', -1, state.page > 0),
            turn('More rows', '›', 1, state.page < pages - 1),
          ]),
    );
    if (!focus) return;
    const again = root.querySelector(`[data-own="${focus}"]:not(:disabled)`);
    (again ?? foot.querySelector('button:not(:disabled)'))?.focus();
  };
  draw();
  return root;
}

function icon(label, sign, click) {
  return el(
    'button',
    { type: 'button', class: 'icon-button', 'aria-label': label, title: label, on: { click } },
    sign,
  );
}

const byNumber = (a, b) => a.value - b.value;
const byText = (a, b) => cellText(a).localeCompare(cellText(b), 'en');
