import type { DataTableBlock } from '@slack/types';
import { formatInteger, formatUtc } from './format.ts';
import { plainText, truncate } from './text.ts';

export type Cell = string | { readonly number: number; readonly text: string } | { readonly at: Date };

export interface Table {
  readonly caption: string;
  /** The first is the name of a row; a phone shows two and a half. */
  readonly columns: readonly string[];
  /** A column sorts by number only if each cell is one: a missing value is `{ number: -1, text: 'not reported' }`. */
  readonly rows: readonly (readonly Cell[])[];
  readonly total?: number;
}

/** What fits a phone together with the sentence and the buttons. */
const pageSize = 5;

// The lowest of the published limits: newer pages name 200 rows and 20,000 characters.
const maxRows = 100;
const maxCharacters = 10_000;
const maxCell = 300;

/** Nothing if it has no rows. A message holds one. https://docs.slack.dev/reference/block-kit/blocks/data-table-block */
export function renderTable({ caption, columns, rows, total = rows.length }: Table): DataTableBlock[] {
  const header = columns.map((name) => renderCell(name));
  let left = maxCharacters - countCharacters(header);
  const shown: DataTableBlock['rows'] = [];
  for (const row of rows.slice(0, maxRows)) {
    const cells = row.map(renderCell);
    left -= countCharacters(cells);
    if (left < 0) break;
    shown.push(cells);
  }
  if (shown.length === 0) return [];
  const cut = shown.length < total ? `${formatInteger(shown.length)} of ${formatInteger(total)}: ` : '';
  return [
    {
      type: 'data_table',
      caption: plainText(`${cut}${caption}`, 150),
      page_size: pageSize,
      rows: [header, ...shown],
    },
  ];
}

/** A number in its unit's words; a missing one is `not reported` and sorts below all others. */
export function formatCell(value: number | undefined, format: (value: number) => string): Cell {
  return value === undefined ? { number: -1, text: 'not reported' } : { number: value, text: format(value) };
}

type RenderedCell = DataTableBlock['rows'][number][number];

function renderCell(cell: Cell): RenderedCell {
  if (typeof cell === 'string') return { type: 'raw_text', text: clean(cell) };
  if ('number' in cell) return { type: 'raw_number', value: cell.number, text: clean(cell.text) };
  const moment = {
    type: 'date' as const,
    timestamp: Math.floor(cell.at.getTime() / 1000),
    format: '{date_short_pretty} {time}',
    fallback: formatUtc(cell.at),
  };
  return { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [moment] }] };
}

function clean(text: string): string {
  return text.trim() === '' ? ' ' : truncate(plainText(text, maxCell), maxCell);
}

const momentCharacters = 40;

function countCharacters(cells: readonly RenderedCell[]): number {
  return cells.reduce(
    (sum, cell) => sum + (cell.type === 'rich_text' ? momentCharacters : (cell.text ?? '').length),
    0,
  );
}
