import { createHmac, randomBytes } from 'node:crypto';
import { stringify } from 'csv-stringify/sync';
import { UserError } from '../../../errors.ts';
import { byteOrderMark, escapeCell } from '../../../lib/csv.ts';
import { findAddress, replaceAddresses } from './addresses.ts';
import { readHeader } from './columns.ts';

type Row = readonly string[];

/** Rows as CSV text, quoted where it is needed. */
export function writePlain(rows: readonly Row[]): string {
  return stringify(rows as string[][]);
}

/**
 * Writes rows as a CSV file that is safe to open in a spreadsheet: a byte order mark first, so that it is read as UTF-8,
 * every cell quoted, and an apostrophe before what would run as a formula or be read as another number.
 */
export function createSafeWriter(): (rows: readonly Row[]) => string {
  let mark = byteOrderMark;
  return (rows) => {
    const cells = rows.map((row) => row.map(escapeCell));
    const text = mark + stringify(cells, { quoted: true });
    mark = '';
    return text;
  };
}

/**
 * Replaces IP addresses in the rows of a file by pseudonyms such as `ip-7f3a9c21d4`, in address columns and anywhere
 * else. An address has one pseudonym in a file and another in the next: the key is made here and never leaves. In an
 * address column everything with a digit or a colon is replaced, whether it is an address or not.
 *
 * @throws UserError where the first row names no address column: what is not recognized cannot be promised to be replaced.
 */
export function createPseudonymizer(): (row: Row) => Row {
  const key = randomBytes(32);
  // 40 bits: among a million addresses, a collision has a chance of one in three.
  const pseudonymOf = (address: string): string =>
    `ip-${createHmac('sha256', key).update(address).digest('hex').slice(0, 10)}`;
  let columns: ReadonlySet<number> | undefined;
  return (row) => {
    if (!columns) {
      columns = new Set(readHeader(row)?.addresses);
      if (columns.size === 0)
        throw new UserError(
          'I cannot tell which column of the CDN’s file holds IP addresses, so they cannot be replaced.',
          'Export without pseudonyms, to yourself first, and look at the file.',
        );
      return row;
    }
    return row.map((cell, nth) => {
      if (!columns?.has(nth)) return replaceAddresses(cell, pseudonymOf);
      return /[\d:]/u.test(cell) ? pseudonymOf(findAddress(cell) ?? cell.trim().toLowerCase()) : cell;
    });
  };
}
