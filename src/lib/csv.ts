import { stringify } from 'csv-stringify/sync';

export interface CsvColumn<Row> {
  readonly name: string;
  readonly cell: (row: Row) => string | number | undefined;
}

export function writeCsvHeader<Row>(columns: readonly CsvColumn<Row>[]): string {
  return stringify([columns.map(({ name }) => name)], { quoted_string: true });
}

/**
 * Rows as CSV text, safe to open in a spreadsheet. Text gets an apostrophe wherever a formula could begin
 * (`escapeFormulas`), and every text is quoted, so that no comma in it begins a new cell.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export function writeCsv<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const text = rows.map((row) =>
    columns.map(({ cell }) => {
      const value = cell(row);
      return typeof value === 'string' ? escapeFormulas(value) : (value ?? '');
    }),
  );
  return stringify(text, { quoted_string: true });
}

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
export function escapeFormulas(text: string): string {
  return `${isFormula(text) ? "'" : ''}${text.replaceAll(formulaInside, "'")}`;
}

/** True if a formula begins in the bytes after such a character, from `from` to the end of their cell at `to`. */
export function formulaPrefixes(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte >= 0x7f) return startsWithFormula(bytes, at, to);
    if (byte === 0x3d || byte === 0x2b || byte === 0x2d || byte === 0x40) return true;
    // After another separator, the check starts there.
    if ((byte > 0x20 && byte !== 0x22) || isSeparator[byte] === 1) return false;
  }
  return false;
}

/** By byte: 1 if some spreadsheet ends a cell there, even between quotes. */
export const isSeparator = Uint8Array.from({ length: 256 }, (_, byte) =>
  ';\t\r\n'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

// A cell of megabytes must not be read again at each of its semicolons.
const maxPrefixBytes = 64;

function startsWithFormula(bytes: Buffer, from: number, to: number): boolean {
  const text = bytes.toString('utf8', from, Math.min(to, from + maxPrefixBytes));
  // A long run of invisible characters counts as a formula.
  return formulaStart.test(text) || (to - from > maxPrefixBytes && invisibleOnly.test(text));
}

const formula = /^[\p{Z}\p{C}"\u{fffd}]*[=+\-@＝＋－＠﹦﹢﹣﹫−\t\r\n]/u;
const formulaStart = /^(?:(?![\t\r\n])[\p{Z}\p{C}"\u{fffd}])*[=+\-@＝＋－＠﹦﹢﹣﹫−]/u;
const formulaInside = /(?<=[;\t\r\n])(?=(?:(?![\t\r\n])[\p{Z}\p{C}"\u{fffd}])*[=+\-@＝＋－＠﹦﹢﹣﹫−])/gu;
const invisibleOnly = /^(?:(?![\t\r\n])[\p{Z}\p{C}"\u{fffd}])*$/u;
