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
