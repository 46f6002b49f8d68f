import { createHmac, randomBytes } from 'node:crypto';
import { findAddress, replaceAddresses } from './addresses.ts';
import { type CsvRow, cellText } from './cells.ts';
import { addressColumns } from './columns.ts';
import { type CsvRewriter, createCsvRewriter } from './rewrite.ts';

/**
 * Replaces IP addresses in a CSV file by pseudonyms such as `ip-7f3a9c21d4`, in the columns of addresses and wherever
 * else in a cell an IPv4 or IPv6 address stands: bytes in, bytes out. The same address has the same pseudonym within
 * one stream, and another one in the next: the key is made here and never leaves. In a column of addresses everything
 * that has a digit or a colon goes, whether it is an address or not.
 *
 * Count (`createEventFigures`) behind it, and the figures hold no address either. Fails with a UserError where one row
 * is larger than 8 MB.
 */
export function createPseudonymizer(): CsvRewriter {
  const pseudonymOf = createPseudonyms();
  let columns: readonly number[] | undefined;

  const inColumn = (text: string): string => {
    if (!/[\d:]/u.test(text)) return text;
    return pseudonymOf(findAddress(text) ?? text.trim().toLowerCase());
  };

  return createCsvRewriter((row, out) => {
    const { bytes, start, end, from, to } = row;
    const parts: string[] = [];
    let done = start;
    const isHeader = columns === undefined && row.cells > 0;
    if (isHeader) columns = addressColumns(Array.from({ length: row.cells }, (_, nth) => cellText(row, nth)));
    else
      for (const column of columns ?? []) {
        if (column >= row.cells) continue;
        parts.push(elsewhere(bytes, done, from[column] as number), inCell(row, column));
        done = to[column] as number;
      }
    parts.push(isHeader ? bytes.toString('latin1', done, end) : elsewhere(bytes, done, end));
    // Latin 1 both ways: the bytes of other signs stay what they are.
    const text = parts.join('');
    const room = out.reserve(text.length);
    out.length += room.write(text, out.length, 'latin1');
  });

  function elsewhere(bytes: Buffer, from: number, to: number): string {
    return replaceAddresses(bytes.toString('latin1', from, to), pseudonymOf);
  }

  function inCell(row: CsvRow, nth: number): string {
    return inColumn(row.bytes.toString('latin1', row.from[nth], row.to[nth]));
  }
}

// A cache of pseudonyms, begun anew when it is full: making one takes as long as reading a row.
const mostKnown = 20_000;

/** 40 bits: of a million addresses two have the same pseudonym with a chance of one in three. */
function createPseudonyms(): (address: string) => string {
  const key = randomBytes(32);
  const known = new Map<string, string>();
  return (address) => {
    let pseudonym = known.get(address);
    if (pseudonym === undefined) {
      if (known.size >= mostKnown) known.clear();
      pseudonym = `ip-${createHmac('sha256', key).update(address).digest('hex').slice(0, 10)}`;
      known.set(address, pseudonym);
    }
    return pseudonym;
  };
}
