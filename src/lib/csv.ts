import { stringify } from 'csv-stringify/sync';

export interface CsvColumn<Row> {
  readonly name: string;
  readonly cell: (row: Row) => string | number | undefined;
}

/** First in a file for spreadsheets: without it some read UTF-8 as another encoding. */
export const byteOrderMark = '\u{feff}';

export function writeCsvHeader<Row>(columns: readonly CsvColumn<Row>[]): string {
  return byteOrderMark + stringify([columns.map(({ name }) => name)], { quoted_string: true });
}

/** Rows as CSV text, safe to open in a spreadsheet: text is quoted and, where needed, gets an apostrophe. */
export function writeCsv<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const text = rows.map((row) =>
    columns.map(({ cell }) => {
      const value = cell(row);
      return typeof value === 'string' ? escapeCell(value) : (value ?? '');
    }),
  );
  return stringify(text, { quoted_string: true });
}

/**
 * A cell as a spreadsheet has to get it: an apostrophe before a formula, and before an id that would be read as another number.
 */
export function escapeCell(text: string): string {
  if (otherNumber.test(text)) return `'${text}`;
  // Also after `;`, tabs and line breaks, where cells begin, too. https://owasp.org/www-community/attacks/CSV_Injection
  return `${formula.test(text) ? "'" : ''}${text.replaceAll(formulaInside, "'")}`;
}

const otherNumber = /^\s*(?:\d{16,}|0\d+|\d+(?:\.\d+)?e[+-]?\d+)\s*$/iu;

const formula = /^[\p{Z}\p{C}"\u{fffd}]*[=+\-@＝＋－＠﹦﹢﹣﹫−\t\r\n]/u;
const formulaInside = /(?<=[;\t\r\n])(?=(?:(?![\t\r\n])[\p{Z}\p{C}"\u{fffd}])*[=+\-@＝＋－＠﹦﹢﹣﹫−])/gu;
