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

const formula = /^[\p{Z}\p{C}"\u{fffd}]*[=+\-@＝＋－＠﹦﹢﹣﹫−\t\r\n]/u;
