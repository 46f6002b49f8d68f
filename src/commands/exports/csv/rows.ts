const [quote, lf, cr, largestSpecial] = [0x22, 0x0a, 0x0d, 0x2c];
const byteOrderMark = [0xef, 0xbb, 0xbf];
/** Comma, semicolon, tab and bar: behind them a quote opens a cell. */
const separators = new Set([0x2c, 0x3b, 0x09, 0x7c]);

/**
 * Counts the rows of a CSV file without reading its cells, in one pass over its bytes: a line break between quotes ends
 * none, empty lines are none, the last row may have no line break, and rows end with CRLF, with LF, or with CR where the
 * first one does. The header counts too.
 */
export function createRowCounter() {
  let rows = 0;
  let at = 0;
  let previous = lf;
  let isQuoted = false;
  let hasContent = false;
  /** A CR that ends a row if an LF follows, or if it is the first line break of the file. */
  let isAfterReturn = false;
  /** The byte that ends rows; undefined before the first line break. */
  let lineEnd: number | undefined;

  const endRow = (by: number): void => {
    lineEnd ??= by;
    if (hasContent) rows += 1;
    hasContent = false;
  };
  const readReturn = (next: number): void => {
    isAfterReturn = false;
    if (next === lf) return;
    if (lineEnd === lf) hasContent = true;
    else endRow(cr);
  };
  const readSpecial = (byte: number): void => {
    if (byte === quote) {
      // A second quote behind a closing one is text of the cell; one inside a bare cell is a character.
      const opens = previous === quote || previous === lf || previous === cr || separators.has(previous);
      isQuoted = !isQuoted && opens;
    } else if (!isQuoted && byte === lf) return endRow(lf);
    else if (!isQuoted && byte === cr) {
      isAfterReturn = true;
      return;
    }
    hasContent = true;
  };

  return {
    add(piece: Uint8Array): void {
      for (const byte of piece) {
        if (at < byteOrderMark.length && byte === byteOrderMark[at]) {
          at += 1;
          continue;
        }
        at = byteOrderMark.length;
        if (isAfterReturn) readReturn(byte);
        if (byte > largestSpecial) hasContent = true;
        else readSpecial(byte);
        previous = byte;
      }
    },
    /** So far. A row that has begun counts. */
    rows: () => rows + (hasContent ? 1 : 0),
  };
}
