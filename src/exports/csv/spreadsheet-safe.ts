import { formulaPrefixes, isFormula, isSeparator } from '../../lib/csv.ts';
import { cellKinds, cellText } from './cells.ts';
import { type CsvRewriter, createCsvRewriter } from './rewrite.ts';

const quote = 0x22;
const apostrophe = 0x27;
const comma = 0x2c;
const semicolon = 0x3b;
const lf = 0x0a;
const cr = 0x0d;

/**
 * A copy of a CSV file that is safe to open in a spreadsheet: bytes in, bytes out. Every cell gets an apostrophe
 * wherever a formula could begin in it (`withoutFormulas` is the rule), and every cell with something in it is quoted,
 * so that no comma in it begins a cell of its own. As text the other cells stay what they were, and so do the line
 * breaks.
 *
 * Fails with a UserError where one row is larger than 8 MB: it cannot be made safe without being held.
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
        at = copied(text, 0, text.length, room, at);
      } else at = copied(bytes, first, last, room, at);
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

/** Writes a cell, its quotes doubled already, from `at` on. Gives where it ends. */
function copied(bytes: Buffer, from: number, to: number, room: Buffer, at: number): number {
  let end = at;
  let next = from;
  while (next < to) {
    let byte = 0;
    // Nearly every byte is none that splits: two comparisons are less than a look into a table.
    do {
      byte = bytes[next++] as number;
      room[end++] = byte;
    } while (next < to && byte !== semicolon && byte > cr);
    if (isSeparator[byte] === 1 && formulaPrefixes(bytes, next, to)) room[end++] = apostrophe;
  }
  return end;
}

/** Bytes that a formula can begin with: signs, blanks and what is invisible. Nearly every cell begins with another one. */
const mayBegin = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= 0x20 || byte >= 0x7f || '"=+-@'.includes(String.fromCharCode(byte)) ? 1 : 0,
);
