import type { Button, DataTableBlock } from '@slack/types';
import { section } from './blocks.ts';
import { andMore, formatInteger, formatUtc } from './format.ts';
import { paginate, writeNames, writeRow } from './native.ts';
import { escapeMrkdwn, plainText, truncate } from './text.ts';

export type Cell =
  | string
  | { readonly number: number; readonly text: string }
  | { readonly at: Date | string };

export interface Table {
  readonly caption: string;
  /** The first is the name of a row; a phone shows two and a half, so texts of others go behind the name. */
  readonly columns: readonly string[];
  /** A column sorts by number only if each cell is one: a missing value is `{ number: -1, text: 'not reported' }`. */
  readonly rows: readonly (readonly Cell[])[];
  readonly total?: number;
}

/** Of a list with nothing but a headline and a row of buttons around it. */
export const listHeight = 22;

/** What fits a phone together with the sentence and the buttons. */
const pageSize = 5;

// The lowest of the published limits: newer pages name 200 rows and 20,000 characters.
const maxRows = 100;
const maxCharacters = 10_000;
const maxCell = 300;

/** Nothing if it has no rows. A message holds one. https://docs.slack.dev/reference/block-kit/blocks/data-table-block */
export function renderTable({ caption, columns, rows, total = rows.length }: Table): DataTableBlock[] {
  const isText = columns.map((_, at) => at > 0 && rows.every((cells) => typeof cells[at] === 'string'));
  const header = columns.filter((_, at) => !isText[at]).map(renderCell);
  let left = maxCharacters - countCharacters(header);
  const shown: DataTableBlock['rows'] = [];
  for (const row of rows.slice(0, maxRows)) {
    const cells = foldTexts(row, isText).map(renderCell);
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

/** `checkout (disabled, old TLS)` and its numbers. */
function foldTexts(row: readonly Cell[], isText: readonly boolean[]): readonly Cell[] {
  const texts = row.flatMap((cell, at) => (isText[at] && typeof cell === 'string' ? cell.trim() || [] : []));
  const [name, ...others] = row.filter((_, at) => !isText[at]);
  return typeof name === 'string' && texts.length > 0
    ? [`${name} (${texts.join(', ')})`, ...others]
    : [name ?? '', ...others];
}

interface Pages {
  readonly total?: number;
  /** From 1. */
  readonly page?: number | undefined;
  /** Lines of a phone; more where little stands around them. */
  readonly height?: number;
  /** The button of a page. */
  readonly turn?: (label: string, page: number) => Button;
}

/** Rows of texts: a phone shows ten characters of a column, so they are lines. */
export function renderLines({
  columns = [],
  rows,
  total = rows.length,
  ...pages
}: Partial<Pick<Table, 'columns'>> & Pick<Table, 'rows'> & Pages) {
  const names = writeNames(columns.map((name) => escapeMrkdwn(name)));
  return renderPage(
    rows.map((cells) => writeRow(cells.map(renderCell))),
    { ...pages, total },
    names,
  );
}

/** As many lines below `names` as a phone shows, and the buttons of all pages. */
export function renderPage(
  lines: readonly string[],
  { total = lines.length, page = 1, height, turn }: Pages = {},
  names = '',
) {
  const pages = paginate(lines, names, height);
  const ends = pages.map((_, nth) => pages.slice(0, nth + 1).flat().length);
  const at = pages[page - 1] ? page - 1 : 0;
  const end = ends[at] ?? 0;
  const buttons = pages.flatMap((shown, nth) => {
    const end = ends[nth] ?? 0;
    return turn?.(`${end - shown.length + 1}–${end} of ${formatInteger(total)}`, nth + 1) ?? [];
  });
  return {
    picture: lines.length > 0 ? [section([names, ...(pages[at] ?? []), andMore(total - end)])] : [],
    /** Of the lines that it shows. */
    range: [end - (pages[at]?.length ?? 0), end] as const,
    pages: buttons.length > 1 ? buttons : [],
    chosen: buttons[at]?.text.text ?? '',
  };
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
    timestamp: Math.floor(new Date(cell.at).getTime() / 1000),
    format: '{date_short_pretty} {time}',
    fallback: formatUtc(new Date(cell.at)),
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
