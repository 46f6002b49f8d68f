import { createHmac, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Options, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { UserError } from '../../../errors.ts';
import { escapeCell } from '../../../lib/csv.ts';
import { type EventColumns, findAddress, readHeader, replaceAddresses } from './columns.ts';

/** Bytes of a file by which its header and its separator are found. */
export const headerBytes = 65_536;

/** As lenient as a file that nobody specified needs: stray quotes are text, rows may have any width. */
const lenient = {
  bom: true,
  relax_quotes: true,
  relax_column_count: true,
  skip_empty_lines: true,
  // 8 MiB: far above the URL and headers that any server accepts in one request.
  max_record_size: 8_388_608,
} satisfies Options;

/**
 * Reads a CSV file; `onRow` gets the cells of each row. Memory is bounded by one row and one piece.
 *
 * @throws what `onRow` throws, and the library's error where a quote is not closed or a row is longer than 8 MiB.
 */
export async function readCsv(
  start: Buffer,
  pieces: Iterable<Uint8Array>,
  onRow: (cells: readonly string[]) => void,
): Promise<void> {
  const parser = parse({
    ...lenient,
    delimiter: findSeparator(start),
    // Rows end with CR only where the first one does; CR LF and LF may be mixed.
    record_delimiter: endsWithReturn.test(start.toString('latin1')) ? '\r' : ['\r\n', '\n'],
    on_record(cells: string[]) {
      onRow(cells);
      return null;
    },
  });
  await pipeline(Readable.from(pieces), parser.resume());
}

/** A first row, with line breaks between quotes, that ends with CR alone. */
const endsWithReturn = /^(?:"(?:[^"]|"")*"|[^"\r\n])*\r(?!\n)/u;

/** The columns that the first row names; undefined if it is no header that is recognized. */
export function findHeader(start: Buffer): EventColumns | undefined {
  return readHeader(readFirstRow(start, findSeparator(start)));
}

/** The separator that makes most cells of a header that is recognized; else a comma. */
function findSeparator(start: Buffer): string {
  const widths = [',', ';', '\t', '|'].map((separator) => {
    const cells = readFirstRow(start, separator);
    return { separator, width: readHeader(cells) ? cells.length : 0 };
  });
  return widths.reduce((best, one) => (one.width > best.width ? one : best)).separator;
}

function readFirstRow(start: Buffer, delimiter: string): string[] {
  try {
    const [first = []] = parseText(start, { ...lenient, delimiter, to: 1 });
    return first;
  } catch {
    return [];
  }
}

const [quote, lf, cr] = [0x22, 0x0a, 0x0d];

/**
 * Counts the rows of a file that is not read as CSV: lines that are not empty, without line breaks between quotes. The
 * header counts too.
 */
export function createRowCounter() {
  let rows = 0;
  let isQuoted = false;
  let isEmpty = true;
  return {
    // By index and with local variables: six times as fast, which is seconds of an export of a gigabyte.
    add(piece: Uint8Array): void {
      let [ends, quoted, empty] = [0, isQuoted, isEmpty];
      for (let at = 0; at < piece.length; at += 1) {
        const byte = piece[at];
        if (byte === quote) quoted = !quoted;
        const isEnd = (byte === lf || byte === cr) && !quoted;
        if (isEnd && !empty) ends += 1;
        empty = isEnd;
      }
      rows += ends;
      [isQuoted, isEmpty] = [quoted, empty];
    },
    /** So far. A row that has begun counts. */
    rows: () => rows + (isEmpty ? 0 : 1),
  };
}

type Row = readonly string[];

/** Rows as CSV text, quoted where it is needed. */
export function writePlain(rows: readonly Row[]): string {
  return stringify(rows as string[][]);
}

/**
 * Rows as CSV text that is safe to open in a spreadsheet behind a byte order mark: every cell is quoted, with an
 * apostrophe before what would run as a formula or be read as another number.
 */
export function writeSafe(rows: readonly Row[]): string {
  return stringify(
    rows.map((row) => row.map(escapeCell)),
    { quoted: true },
  );
}

/**
 * Replaces IP addresses in the rows of a file by pseudonyms such as `ip-7f3a9c21d4`, in address columns and anywhere
 * else. An address has one pseudonym in a file and another in the next: the key is made here and never leaves. In an
 * address column everything with a digit or a colon is replaced, whether it is an address or not.
 *
 * @throws UserError without an address column: what is not recognized cannot be promised to be replaced.
 */
export function createPseudonymizer(addresses: readonly number[]): (row: Row) => Row {
  if (addresses.length === 0)
    throw new UserError(
      'I cannot tell which column of the CDN’s file holds IP addresses, so they cannot be replaced.',
      'Export without pseudonyms, to yourself first, and look at the file.',
    );
  const columns = new Set(addresses);
  const key = randomBytes(32);
  // 40 bits: among a million addresses, a collision has a chance of one in three.
  const pseudonymOf = (address: string): string =>
    `ip-${createHmac('sha256', key).update(address).digest('hex').slice(0, 10)}`;
  return (row) =>
    row.map((cell, nth) => {
      if (!columns.has(nth)) return replaceAddresses(cell, pseudonymOf);
      return /[\d:]/u.test(cell) ? pseudonymOf(findAddress(cell) ?? cell.trim().toLowerCase()) : cell;
    });
}
