import { stringify } from 'csv-stringify/sync';
import { escapeFormulas } from './formula.ts';

export type Cell = string | number | undefined;

/**
 * Rows as CSV text, safe to open in a spreadsheet. Foreign text gets an apostrophe wherever a formula could begin in
 * it (`withoutFormulas`), and every text is quoted, so that no comma in it begins a cell of its own.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export function writeCsv(rows: readonly (readonly Cell[])[]): string {
  return stringify(
    rows.map((row) => row.map((cell) => (typeof cell === 'string' ? escapeFormulas(cell) : (cell ?? '')))),
    { quoted_string: true },
  );
}
