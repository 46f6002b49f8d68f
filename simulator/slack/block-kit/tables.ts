import type { Json } from '../world.ts';
import { textLength } from './report.ts';
import { richText } from './rich-text.ts';
import {
  anything,
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

const tableText = 10_000;
const cellText = string(tableText);
const cell: Rule = byType({
  raw_text: shape({ text: cellText }),
  raw_number: shape({ value: number, text: cellText }),
  rich_text: richText,
});
const row = list(cell, 20);
const settings = shape({}, { align: oneOf('left', 'center', 'right'), is_wrapped: flag });

/** At most 100 rows and 20 columns, one table in a message. */
export const table = shape(
  { rows: list(row, 100) },
  { block_id: id, column_settings: list(settings, 20) },
  (value, at, report) => {
    if (report.count('table') > 1) report.refuse(at, 'only one table is allowed per message');
    if (report.count('table text', textLength(value['rows'])) > tableText)
      report.advise(at, `the tables of a message hold more than ${tableText} characters`);
  },
);

/** A caption; 2–101 rows with the header; 1–20 columns, the same in all rows; 10,000 characters a table and a message. */
export const dataTable = shape(
  { caption: string(3000), rows: list(row, 101, 2) },
  { block_id: id, page_size: integer(1, 100), row_header_column_index: integer(0, 19) },
  (value, at, report) => {
    const rows = Array.isArray(value['rows']) ? value['rows'].filter((cells) => Array.isArray(cells)) : [];
    const columns = rows[0]?.length ?? 0;
    if (rows.some((cells) => cells.length !== columns))
      report.refuse(`${at}/rows`, 'all rows must have the same number of columns');
    const header = value['row_header_column_index'];
    if (typeof header === 'number' && header >= columns)
      report.refuse(`${at}/row_header_column_index`, 'must be the index of a column');
    if (report.count('data_table text', textLength(rows)) > tableText)
      report.refuse(at, `must be less than ${tableText + 1} characters in all data tables`);
  },
);

const label = string(50);
const segment = shape({ label, value: number });
const point = shape({ label: string(255), value: number });
const series = shape({ name: label, data: list(point, 1000) }, { color: string(50) });
const axes: Record<string, Rule> = { axis_config: anything };
const plotted = shape({ series: list(series, 6) }, axes);

/** A title of up to 50 characters and one chart: a pie of 1–6 segments, or 1–6 series; two in a message. */
export const dataVisualization = shape(
  {
    title: string(50),
    chart: byType({ pie: shape({ segments: list(segment, 6) }), line: plotted, bar: plotted, area: plotted }),
  },
  { block_id: id },
  (_value: Json, at: string, report: Report) => {
    if (report.count('data_visualization') > 2)
      report.refuse(at, 'no more than 2 data_visualization blocks are allowed per message');
  },
);
