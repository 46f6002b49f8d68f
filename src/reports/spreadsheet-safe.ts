import type { Transform } from 'node:stream';

/**
 * A copy of a CSV file that is safe to open in a spreadsheet: bytes in, bytes out. Every cell that would run as a
 * formula gets an apostrophe in front, every cell is quoted, and nothing else changes; see `isFormula` for the rule.
 *
 * Fails with a UserError where one row is larger than 8 MB: it cannot be made safe without being held.
 */
export function spreadsheetSafe(): Transform {
  throw new Error('To be written');
}
