import { formulaPrefixes, isFormula, isSeparator } from '../../../lib/csv.ts';
import { type CsvRewriter, createCsvRewriter } from './rewrite.ts';
import { cellKinds, cellText } from './rows.ts';

const quote = 0x22;
const apostrophe = 0x27;
const comma = 0x2c;
const semicolon = 0x3b;
const lf = 0x0a;
const cr = 0x0d;

/**
 * Makes a CSV file safe to open in a spreadsheet: an apostrophe precedes every possible formula (`escapeFormulas` is the
 * rule), and every cell that is not empty is quoted, so that a comma in it begins no cell. Line breaks and the text of
 * other cells stay.
 *
 * @throws UserError for a row longer than 8 MiB.
 */
export function createSpreadsheetEscaper(): CsvRewriter {
  return createCsvRewriter((row, out) => {
    const { bytes, start, end, cells, from, to, kinds } = row;
    const room = out.reserve((end - start) * 2 + cells * 4 + 8);
    const hasMark =
      bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf && from[0] !== start;
    let at = out.length;
    if (hasMark) at += bytes.copy(room, at, start, start + 3);
    for (let nth = 0; nth < cells; nth += 1) {
      const first = from[nth] as number;
      const last = to[nth] as number;
      const kind = kinds[nth] as number;
      if (nth > 0) room[at++] = comma;
      if (first === last && kind === cellKinds.bare) continue;
      room[at++] = quote;
      if (mayBegin[bytes[first] as number] === 1 && isFormula(cellText(row, nth))) room[at++] = apostrophe;
      if (kind === cellKinds.stray || (kind === cellKinds.bare && row.broken)) {
        const text = Buffer.from(cellText(row, nth, 'latin1').replaceAll('"', '""'), 'latin1');
        at = copyQuoted(text, 0, text.length, room, at);
      } else at = copyQuoted(bytes, first, last, room, at);
      room[at++] = quote;
    }
    if (end > start && bytes[end - 1] === lf) {
      if (end > start + 1 && bytes[end - 2] === cr) room[at++] = cr;
      room[at++] = lf;
    } else if (end > start && bytes[end - 1] === cr && (cells === 0 || (to[cells - 1] as number) < end))
      room[at++] = cr;
    out.length = at;
  });
}

/** Writes a cell whose quotes are doubled, from `at` on. Returns the position after it. */
function copyQuoted(bytes: Buffer, from: number, to: number, room: Buffer, at: number): number {
  let end = at;
  let next = from;
  while (next < to) {
    let byte = 0;
    // Nearly no byte is a separator: two comparisons are faster than a table.
    do {
      byte = bytes[next++] as number;
      room[end++] = byte;
    } while (next < to && byte !== semicolon && byte > cr);
    if (isSeparator[byte] === 1 && formulaPrefixes(bytes, next, to)) room[end++] = apostrophe;
  }
  return end;
}

/** Bytes that can precede or begin a formula: signs, blanks and invisible characters. */
const mayBegin = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= 0x20 || byte >= 0x7f || '"=+-@'.includes(String.fromCharCode(byte)) ? 1 : 0,
);
