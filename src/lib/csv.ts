import { stringify } from 'csv-stringify/sync';

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

/**
 * Whether a spreadsheet may run a cell as a formula: it begins with one of `= + - @` (also full-width or small), a tab
 * or a line break, whatever blanks, quotes, byte order marks and invisible signs stand in front, since some spreadsheets
 * drop those. A number below zero counts as well: `-2+3+cmd|…` begins like one.
 *
 * `-5` with an apostrophe in front reads as -5 in a spreadsheet, and no longer runs.
 * https://owasp.org/www-community/attacks/CSV_Injection
 */
export function isFormula(text: string): boolean {
  return formula.test(text);
}

/**
 * The text of a cell with an apostrophe wherever a formula could begin: in front, and behind every sign in it that may
 * end a cell (`;`, tab, line breaks). Where a semicolon separates lists (most of Europe), a spreadsheet that is opened
 * by double click splits at those although we wrote commas, and takes no quote for one that does not begin a cell.
 */
export function escapeFormulas(text: string): string {
  return `${isFormula(text) ? "'" : ''}${text.replaceAll(formulaInside, "'")}`;
}

/** The same question for the bytes behind such a sign, from `from` to the end of their cell at `to`. */
export function formulaPrefixes(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number;
    if (byte >= 0x7f) return startsWithFormula(bytes, at, to);
    if (byte === 0x3d || byte === 0x2b || byte === 0x2d || byte === 0x40) return true;
    // Behind one more that ends a cell, that one is asked.
    if ((byte > 0x20 && byte !== 0x22) || isSeparator[byte] === 1) return false;
  }
  return false;
}

/** By byte: whether some spreadsheet ends a cell there, whatever quotes it stands between. */
export const isSeparator = Uint8Array.from({ length: 256 }, (_, byte) =>
  ';\t\r\n'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

// A cell of megabytes must not be read anew at each of its semicolons.
const maxPrefixBytes = 64;

function startsWithFormula(bytes: Buffer, from: number, to: number): boolean {
  const text = bytes.toString('utf8', from, Math.min(to, from + maxPrefixBytes));
  // So much that nobody sees stands in front of nothing good.
  return formulaStart.test(text) || (to - from > maxPrefixBytes && invisibleOnly.test(text));
}

const formula = /^[\p{Z}\p{C}"\u{fffd}]*[=+\-@＝＋－＠﹦﹢﹣﹫−\t\r\n]/u;
const formulaStart = /^(?:(?![\t\r\n])[\p{Z}\p{C}"\u{fffd}])*[=+\-@＝＋－＠﹦﹢﹣﹫−]/u;
const formulaInside = /(?<=[;\t\r\n])(?=(?:(?![\t\r\n])[\p{Z}\p{C}"\u{fffd}])*[=+\-@＝＋－＠﹦﹢﹣﹫−])/gu;
const invisibleOnly = /^(?:(?![\t\r\n])[\p{Z}\p{C}"\u{fffd}])*$/u;
