import { UserError } from '../../errors.ts';
import { createCsvRows } from './rows.ts';

export interface CsvSplitter {
  readonly write: (piece: Uint8Array) => void;
  /** Once, after the last piece. */
  readonly end: () => void;
}

/**
 * Cuts a CSV file between rows into parts of at most `mostBytes`, each of which begins with the header. A file that
 * fits is one part, byte for byte; an empty file has none. Memory is bounded by one piece and one row.
 *
 * `onPart` is called before the first bytes of a part. The bytes that `onBytes` gets are valid during the call only.
 *
 * @throws UserError where one row and the header are larger than a part.
 */
export function createCsvSplitter(
  mostBytes: number,
  { onPart, onBytes }: { readonly onPart: () => void; readonly onBytes: (bytes: Uint8Array) => void },
): CsvSplitter {
  let header: Buffer | undefined;
  let partLength = 0;
  let hasPart = false;
  // Rows are collected until the end of a piece or a part: one call per row would be slow.
  let pending = Buffer.allocUnsafeSlow(131_072);
  let length = 0;

  const flush = (): void => {
    if (length > 0) onBytes(pending.subarray(0, length));
    length = 0;
  };
  const append = (bytes: Buffer, from: number, to: number): void => {
    const needed = length + to - from;
    if (needed > pending.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, pending.length * 2));
      pending.copy(larger, 0, 0, length);
      pending = larger;
    }
    length += bytes.copy(pending, length, from, to);
    partLength += to - from;
  };
  const startPart = (): void => {
    flush();
    onPart();
    hasPart = true;
    partLength = 0;
  };
  const rows = createCsvRows(
    (row) => {
      const rowLength = row.end - row.start;
      if (!hasPart) startPart();
      if (header && partLength + rowLength > mostBytes && partLength > header.length) {
        startPart();
        append(header, 0, header.length);
      }
      if (partLength + rowLength > mostBytes) {
        throw new UserError(
          `One row of the file is larger than ${mostBytes} bytes, so the file cannot be split.`,
          'Narrow the filters.',
        );
      }
      append(row.bytes, row.start, row.end);
      if (!header && row.cells > 0) header = Buffer.from(row.bytes.subarray(row.start, row.end));
    },
    { longest: mostBytes, longer: 'refuse' },
  );
  return {
    write(piece) {
      rows.write(piece);
      flush();
    },
    end() {
      rows.end();
      flush();
    },
  };
}
