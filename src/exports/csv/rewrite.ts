import type { CsvRow } from './cells.ts';
import { createCsvRows } from './rows.ts';

/** Rewrites a CSV file piece by piece. The bytes it returns are valid until the next call. */
export interface CsvRewriter {
  readonly write: (piece: Uint8Array) => Uint8Array;
  /** Once, after the last piece. */
  readonly end: () => Uint8Array;
}

/** The bytes of the rewritten rows. */
export interface Output {
  /** Makes room for `bytes` more bytes and returns the buffer to write them to, from `length` on. */
  readonly reserve: (bytes: number) => Buffer;
  length: number;
}

// 8 MiB: far above the URL and headers that any server accepts in one request.
const longestRow = 8_388_608;

/** Memory is bounded by one row and one piece. @throws UserError for a row longer than 8 MiB. */
export function createCsvRewriter(rewrite: (row: CsvRow, out: Output) => void): CsvRewriter {
  let buffer = Buffer.allocUnsafeSlow(131_072);
  const out: Output = {
    length: 0,
    reserve(bytes) {
      if (out.length + bytes > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(out.length + bytes, buffer.length * 2));
        buffer.copy(larger, 0, 0, out.length);
        buffer = larger;
      }
      return buffer;
    },
  };
  const rows = createCsvRows((row) => rewrite(row, out), { longest: longestRow, longer: 'refuse' });
  const take = (): Uint8Array => {
    const bytes = buffer.subarray(0, out.length);
    out.length = 0;
    return bytes;
  };
  return {
    write(piece) {
      rows.write(piece);
      return take();
    },
    end() {
      rows.end();
      return take();
    },
  };
}
