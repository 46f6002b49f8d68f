import { stringify } from 'csv-stringify/sync';

export interface CsvColumn<Row> {
  readonly name: string;
  readonly cell: (row: Row) => string | number | undefined;
}

/** First in a file for spreadsheets: without it some read UTF-8 as another encoding. */
export const byteOrderMark = '\u{feff}';

/** The beginning of a file: the byte order mark and the names of its columns. */
export function writeCsvHeader<Row>(columns: readonly CsvColumn<Row>[]): string {
  return byteOrderMark + stringify([columns.map(({ name }) => name)], { quoted_string: true });
}

/**
 * Rows as CSV text, safe to open in a spreadsheet. Text gets an apostrophe where it needs one
 * (`escapeCell`), and every text is quoted, so that no comma in it begins a new cell.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
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
 * The text of a cell as a spreadsheet has to get it: with an apostrophe wherever a formula could begin, and before an id
 * that would be read as another number (more than fifteen digits, leading zeros, `12e34`).
 */
export function escapeCell(text: string): string {
  return otherNumber.test(text) ? `'${text}` : escapeFormulas(text);
}

const otherNumber = /^\s*(?:\d{16,}|0\d+|\d+(?:\.\d+)?e[+-]?\d+)\s*$/iu;

/**
 * True if a spreadsheet may run a cell as a formula: it begins with `= + - @` (also full-width or small), a tab or a line
 * break, after any spaces, quotes, byte order marks and invisible characters, since some spreadsheets drop those. A number
 * below zero counts, too: `-2+3+cmd|…` begins like one.
 *
 * `-5` with an apostrophe in front reads as -5 in a spreadsheet, and no longer runs.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export function isFormula(text: string): boolean {
  return formula.test(text);
}

/**
 * The text of a cell with an apostrophe wherever a formula could begin: in front, and after every character that may end
 * a cell (`;`, tab, line breaks). Where semicolons separate lists (most of Europe), a spreadsheet opened by double click
 * splits at them although the file uses commas, and ignores quotes that do not begin a cell.
 */
function escapeFormulas(text: string): string {
  return `${isFormula(text) ? "'" : ''}${text.replaceAll(formulaInside, "'")}`;
}

const formula = /^[\p{Z}\p{C}"\u{fffd}]*[=+\-@＝＋－＠﹦﹢﹣﹫−\t\r\n]/u;
const formulaInside = /(?<=[;\t\r\n])(?=(?:(?![\t\r\n])[\p{Z}\p{C}"\u{fffd}])*[=+\-@＝＋－＠﹦﹢﹣﹫−])/gu;
