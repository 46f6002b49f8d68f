import { createHmac, randomBytes } from 'node:crypto';
import { findAddress, replaceAddresses } from './addresses.ts';
import { type CsvRow, cellText } from './cells.ts';
import { addressColumns } from './columns.ts';
import { type CsvRewriter, createCsvRewriter } from './rewrite.ts';

/**
 * Replaces IP addresses in a CSV file by pseudonyms such as `ip-7f3a9c21d4`, in address columns and anywhere else. An
 * address has one pseudonym in a file and another in the next: the key is made here and never leaves. In an address
 * column everything with a digit or a colon is replaced, whether it is an address or not. Statistics of the result hold
 * no address.
 *
 * @throws UserError for a row longer than 8 MiB.
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
    // Latin-1 both ways keeps the bytes of all other characters.
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

// Size of the cache, which is cleared when full: an HMAC takes as long as reading a row.
const mostKnown = 20_000;

/** 40 bits: among a million addresses, a collision has a chance of one in three. */
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
