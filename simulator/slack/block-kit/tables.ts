import { isObject } from '../world.ts';
import { textLength } from './report.ts';
import { richText } from './rich-text.ts';
import {
  byType,
  flag,
  id,
  integer,
  list,
  number,
  oneOf,
  type Report,
  type Rule,
  shape,
  string,
} from './rules.ts';

// The safe bounds: where published pages differ, the lower one.
const tableText = 10_000;
const mostColumns = 20;
const cellText = string(tableText);
const cells: Record<string, Rule> = {
  raw_text: shape({ text: cellText }),
  raw_number: shape({ value: number, text: cellText }),
  rich_text: richText,
};
const row = list(byType(cells), mostColumns);
const header = list(byType(cells, ['raw_text']), mostColumns);
const settings = shape({}, { align: oneOf('left', 'center', 'right'), is_wrapped: flag });

/** At most 100 rows and 20 columns, one table in a message. */
export const table = shape(
  { rows: list(row, 100) },
  { block_id: id, column_settings: list(settings, mostColumns) },
  (value, at, report) => {
    if (report.count('table') > 1) report.refuse(at, 'only one table is allowed per message');
    countText(value['rows'], at, report);
  },
);

/** A caption; 2–101 rows with the header; 1–20 columns, the same in all rows; 10,000 characters a message. */
export const dataTable = shape(
  { caption: string(3000), rows: list(row, 101, 2) },
  { block_id: id, page_size: integer(1, 100), row_header_column_index: integer(0, mostColumns - 1) },
  (value, at, report) => {
    const rows = Array.isArray(value['rows']) ? value['rows'].filter((one) => Array.isArray(one)) : [];
    const [head = [], ...body] = rows as unknown[][];
    header(head, `${at}/rows/0`, report);
    if (rows.some((one) => one.length !== head.length))
      report.refuse(`${at}/rows`, 'all rows must have the same number of columns');
    const name = value['row_header_column_index'];
    if (typeof name === 'number' && name >= head.length)
      report.refuse(`${at}/row_header_column_index`, 'must be the index of a column');
    for (const column of head.keys()) {
      const numbers = body.filter((one) => isObject(one[column]) && one[column]['type'] === 'raw_number');
      if (numbers.length > 0 && numbers.length < body.length)
        report.advise(
          `${at}/rows`,
          `column ${column} holds ${numbers.length} numbers in ${body.length} rows, so it sorts as text`,
        );
    }
    countText(rows, at, report);
  },
);

function countText(rows: unknown, at: string, report: Report): void {
  if (report.count('table text', textLength(rows)) > tableText)
    report.refuse(at, `must be less than ${tableText + 1} characters in all tables of a message`);
}
