import { stringify } from 'csv-stringify/sync';
import { isFormula } from './formula.ts';

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

function harmless(text: string): string {
  return isFormula(text) ? `'${text}` : text;
}
