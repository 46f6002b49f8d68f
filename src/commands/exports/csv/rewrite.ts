import { UserError } from '../../../errors.ts';
import { type CsvRow, createCsvRows } from './rows.ts';

/** Rewrites a CSV file piece by piece. The bytes it returns are valid until the next call. */
export interface CsvRewriter {
  readonly write: (piece: Uint8Array) => Uint8Array;
  /** Once, after the last piece. */
  readonly end: () => Uint8Array;
}

/** Bytes that are collected until the end of a piece. */
export interface Output {
  /** Makes room for `bytes` more bytes and returns the buffer to write them to, from `length` on. */
  readonly reserve: (bytes: number) => Buffer;
  length: number;
  /** The collected bytes, valid until more are written. */
  readonly take: () => Buffer;
}

function createOutput(): Output {
  let buffer = Buffer.allocUnsafeSlow(131_072);
  const out: Output = {
    length: 0,
    reserve(bytes) {
      const needed = out.length + bytes;
      if (needed <= buffer.length) return buffer;
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
      buffer.copy(larger, 0, 0, out.length);
      buffer = larger;
      return buffer;
    },
    take() {
      const bytes = buffer.subarray(0, out.length);
      out.length = 0;
      return bytes;
    },
  };
  return out;
}

// 8 MiB: far above the URL and headers that any server accepts in one request.
const longestRow = 8_388_608;

/** Memory is bounded by one row and one piece. @throws UserError for a row longer than 8 MiB. */
export function createCsvRewriter(rewrite: (row: CsvRow, out: Output) => void): CsvRewriter {
  const out = createOutput();
  const rows = createCsvRows((row) => rewrite(row, out), { longest: longestRow, longer: 'refuse' });
  return {
    write(piece) {
      rows.write(piece);
      return out.take();
    },
    end() {
      rows.end();
      return out.take();
    },
  };
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
): { readonly write: (piece: Uint8Array) => void; readonly end: () => void } {
  const out = createOutput();
  let header: Buffer | undefined;
  let partLength = 0;
  let hasPart = false;

  const flush = (): void => {
    if (out.length > 0) onBytes(out.take());
  };
  const append = (bytes: Buffer, from: number, to: number): void => {
    const room = out.reserve(to - from);
    out.length += bytes.copy(room, out.length, from, to);
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
      if (partLength + rowLength > mostBytes)
        throw new UserError(
          `One row of the file is larger than ${mostBytes} bytes, so the file cannot be split.`,
          'Narrow the filters.',
        );
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
