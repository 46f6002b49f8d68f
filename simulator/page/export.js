// What tables and charts hand out: the text of a cell, and a CSV file of rows.

import { cellContent } from './blocks/tables.js';
import { el } from './dom.js';

export const cellText = (cell) =>
  cellContent(cell)
    .map((node) => node.textContent ?? node)
    .join('');

/** Lets the browser save rows of texts as a CSV file. */
export function saveFile(name, rows) {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const csv = rows.map((row) => row.map(quoted).join(',')).join('\r\n');
  const href = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  el('a', { href, download: `${name.replaceAll(/[^\p{L}\p{N} -]/gu, '').trim() || 'table'}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
