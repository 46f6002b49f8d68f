const [quote, comma, lf, cr] = [0x22, 0x2c, 0x0a, 0x0d];
const byteOrderMark = [0xef, 0xbb, 0xbf];
/** Comma, semicolon, tab and bar: behind them a quote opens a cell. */
const separators = new Set([comma, 0x3b, 0x09, 0x7c]);

/**
 * Counts the rows of a CSV file without reading its cells, in one pass over its bytes: a line break between quotes ends
 * none, empty lines are none, the last row may have no line break, and rows end with CRLF, with LF, or with CR where the
 * first one does. The header counts too.
 */
export function createRowCounter() {
  let rows = 0;
  // Positions in the file.
  let seen = 0;
  let rowStart = 0;
  const start: number[] = [];
  let last = 0;
  let isQuoted = false;
  /** The byte that ends rows; undefined before the first line break. */
  let lineEnd: number | undefined;
  /** The last piece ended with a CR that may be the first line break. */
  let isUndecided = false;

  const endRow = (end: number, next: number): void => {
    if (end > rowStart) rows += 1;
    rowStart = next;
  };
  /** A byte up to a comma; all others are text. */
  const readSpecial = (byte: number, at: number, before: number, behind: number | undefined): void => {
    if (byte === quote) {
      // A second quote behind a closing one is text of the cell; one inside a bare cell is a character.
      isQuoted = !isQuoted && (at === rowStart || before === quote || separators.has(before));
    } else if (isQuoted) return;
    else if (byte === lf) {
      lineEnd ??= lf;
      endRow(before === cr ? at - 1 : at, at + 1);
    } else if (byte === cr && lineEnd !== lf) {
      isUndecided = lineEnd === undefined && behind === undefined;
      if (!isUndecided && behind !== lf) {
        lineEnd = cr;
        endRow(at, at + 1);
      }
    }
  };

  return {
    add(piece: Uint8Array): void {
      if (piece.length === 0) return;
      if (start.length < byteOrderMark.length) {
        start.push(...piece.subarray(0, byteOrderMark.length - start.length));
        if (byteOrderMark.every((byte, nth) => start[nth] === byte)) rowStart = byteOrderMark.length;
      }
      if (isUndecided && piece[0] !== lf) readSpecial(cr, seen - 1, 0, piece[0]);
      isUndecided = false;
      for (let at = 0; at < piece.length; at += 1) {
        const byte = piece[at] as number;
        if (byte > comma) continue;
        readSpecial(byte, seen + at, at === 0 ? last : (piece[at - 1] as number), piece[at + 1]);
      }
      seen += piece.length;
      last = piece.at(-1) ?? last;
    },
    /** So far. A row that has begun counts. */
    rows: () => rows + (seen - (last === cr ? 1 : 0) > rowStart ? 1 : 0),
  };
}
