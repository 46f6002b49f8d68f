import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { type Options, parse } from 'csv-parse';
import { parse as parseText } from 'csv-parse/sync';
import { type EventColumns, readHeader } from './columns.ts';

// 8 MiB: far above the URL and headers that any server accepts in one request.
const longestRow = 8_388_608;
/** Bytes of a file by which its header and its separator are found. */
export const headerBytes = 65_536;

/** As lenient as a file that nobody specified needs: stray quotes are text, rows may have any width. */
const lenient = {
  bom: true,
  relax_quotes: true,
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: longestRow,
} satisfies Options;

/**
 * Reads a CSV file that comes in pieces; `onRow` gets the cells of each row. Memory is bounded by one row and one piece.
 * `write` and `end` throw what `onRow` throws, and the library's error where the file cannot be read: a quote is not
 * closed, or a row is longer than 8 MiB.
 */
export function createCsvReader(onRow: (cells: readonly string[]) => void) {
  let held: Uint8Array[] = [];
  let length = 0;
  let reading: Reading | undefined;

  const begin = () => {
    const start = Buffer.concat(held);
    held = [];
    const parser = parse({
      ...lenient,
      delimiter: findSeparator(start),
      // Rows end with CR only where the first one does.
      record_delimiter: endsWithReturn.test(start.toString('latin1')) ? '\r' : ['\r\n', '\n'],
      on_record(cells: string[]) {
        onRow(cells);
        return null;
      },
    });
    const ended = finished(parser.resume());
    // The next `write` or `end` throws it.
    ended.catch(() => undefined);
    reading = { parser, ended };
    return pass(reading, start);
  };

  return {
    async write(piece: Uint8Array): Promise<void> {
      if (reading) return pass(reading, piece);
      held.push(piece);
      length += piece.length;
      return length < headerBytes ? undefined : begin();
    },
    /** Once, after the last piece. */
    async end(): Promise<void> {
      if (!reading) await begin();
      reading?.parser.end();
      await reading?.ended;
    },
  };
}

interface Reading {
  readonly parser: ReturnType<typeof parse>;
  readonly ended: Promise<void>;
}

async function pass({ parser, ended }: Reading, piece: Uint8Array): Promise<void> {
  if (parser.destroyed) return ended;
  if (!parser.write(piece)) await Promise.race([once(parser, 'drain'), ended]);
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
    const header = readHeader(readFirstRow(start, separator));
    return { separator, width: header?.width ?? 0 };
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
