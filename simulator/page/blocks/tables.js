import { el } from '../dom.js';
import { richText } from '../rich-text.js';

/** The content of a table cell: raw text, a number, or rich text. */
export function cellContent(cell) {
  if (cell?.type === 'rich_text') return richText(cell.elements);
  return [cell?.text ?? (cell?.value === undefined ? '' : String(cell.value))];
}

export function table(block) {
  const columns = block.column_settings ?? [];
  const rows = block.rows.map((row, index) =>
    el(
      'tr',
      {},
      ...row.map((cell, column) => {
        const { align, is_wrapped: wrapped } = columns[column] ?? {};
        const name = `${align ?? 'left'}${wrapped ? ' wrapped' : ''}`;
        return el(
          index === 0 ? 'th' : 'td',
          { class: name, scope: index === 0 ? 'col' : undefined },
          ...cellContent(cell),
        );
      }),
    ),
  );
  const scroller = { class: 'table-wrap', tabindex: '0', role: 'region', 'aria-label': 'Table' };
  return el('div', scroller, el('table', {}, el('thead', {}, rows[0]), el('tbody', {}, ...rows.slice(1))));
}

const sortValue = (cell) =>
  cell?.type === 'raw_number'
    ? cell.value
    : cellContent(cell)
        .map((node) => node.textContent ?? node)
        .join('');

function compare(a, b) {
  const [left, right] = [sortValue(a), sortValue(b)];
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left).localeCompare(String(right), 'en', { numeric: true });
}

export function dataTable(block) {
  const [head = [], ...rows] = block.rows;
  const size = block.page_size ?? 5;
  const name = block.row_header_column_index ?? 0;
  const state = { column: undefined, down: false, page: 0 };
  const root = el('div', { class: 'data-table' });

  const sortBy = (column) => {
    state.down = state.column === column ? !state.down : false;
    Object.assign(state, { column, page: 0 });
    draw(`sort ${column}`);
  };

  const headCell = (cell, column) => {
    const sorted = state.column === column;
    const arrow = sorted ? (state.down ? ' ↓' : ' ↑') : '';
    const button = el(
      'button',
      { type: 'button', class: 'sort', data: { own: `sort ${column}` }, on: { click: () => sortBy(column) } },
      ...cellContent(cell),
      el('span', { 'aria-hidden': 'true' }, arrow),
    );
    const direction = sorted ? (state.down ? 'descending' : 'ascending') : 'none';
    return el('th', { scope: 'col', 'aria-sort': direction, class: numeric(column) }, button);
  };

  const numeric = (column) => (rows[0]?.[column]?.type === 'raw_number' ? 'right' : 'left');

  const bodyCell = (cell, column) =>
    el(
      column === name ? 'th' : 'td',
      { scope: column === name ? 'row' : undefined, class: numeric(column) },
      ...cellContent(cell),
    );

  const turn = (label, by, able) =>
    el(
      'button',
      {
        type: 'button',
        class: 'button small',
        disabled: !able,
        data: { own: label },
        on: {
          click: () => {
            state.page += by;
            draw(label);
          },
        },
      },
      label,
    );

  const draw = (focus) => {
    const { column, down, page } = state;
    const ordered =
      column === undefined ? rows : rows.toSorted((a, b) => (down ? -1 : 1) * compare(a[column], b[column]));
    const shown = ordered.slice(page * size, (page + 1) * size);
    const pages = Math.max(1, Math.ceil(rows.length / size));
    root.replaceChildren(
      el(
        'div',
        { class: 'table-wrap', tabindex: '0', role: 'region', 'aria-label': block.caption },
        el(
          'table',
          {},
          el('caption', {}, block.caption),
          el('thead', {}, el('tr', {}, ...head.map(headCell))),
          el('tbody', {}, ...shown.map((row) => el('tr', {}, ...row.map(bodyCell)))),
        ),
      ),
    );
    if (pages > 1) {
      root.append(
        el(
          'div',
          { class: 'table-pages' },
          el('span', {}, `Rows ${page * size + 1}–${page * size + shown.length} of ${rows.length}`),
          turn('Previous rows', -1, page > 0),
          turn('More rows', 1, page < pages - 1),
        ),
      );
    }
    if (focus) {
      const again = root.querySelector(`[data-own="${focus}"]:not(:disabled)`);
      (again ?? root.querySelector('.table-pages button:not(:disabled)'))?.focus();
    }
  };
  draw();
  return root;
}
