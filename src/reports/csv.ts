import { stringify } from 'csv-stringify/sync';

export type Cell = string | number | undefined;

/**
 * Rows as CSV text, safe to open in a spreadsheet. Foreign text that would run as a formula gets an apostrophe in
 * front, and every text is quoted, so that no sign in it begins a cell of its own.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export function csvOf(rows: readonly (readonly Cell[])[]): string {
  return stringify(
    rows.map((row) => row.map((cell) => (typeof cell === 'string' ? harmless(cell) : (cell ?? '')))),
    { quoted_string: true },
  );
}

// Spreadsheets skip blanks and control signs in front of a formula; some take the full-width signs for the plain ones.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for here
const formula = /^[\s\u0000-\u001f\u007f\u200b-\u200f\u2060]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

function harmless(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}
