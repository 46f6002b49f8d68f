const [quote, comma, lf, cr] = [0x22, 0x2c, 0x0a, 0x0d];

/**
 * Counts the rows of a file that is too large to be read as CSV: lines that are not empty, without line breaks between
 * quotes. Lines end with LF, or with CR in a file that has no LF. The header counts too.
 */
export function createRowCounter() {
  let isQuoted = false;
  let lastReturn = -1;
  let position = 0;
  // By each of the two line ends: the rows so far, and where the next one begins.
  const byLf = { rows: 0, start: 0 };
  const byCr = { rows: 0, start: 0 };
  const endRow = (count: typeof byLf, end: number, next: number): void => {
    if (end > count.start) count.rows += 1;
    count.start = next;
  };
  return {
    add(piece: Uint8Array): void {
      for (let at = 0; at < piece.length; at += 1) {
        const byte = piece[at] as number;
        // Nearly every byte of a file.
        if (byte > comma) continue;
        const here = position + at;
        if (byte === quote) isQuoted = !isQuoted;
        else if (isQuoted) continue;
        else if (byte === lf) endRow(byLf, lastReturn === here - 1 ? here - 1 : here, here + 1);
        else if (byte === cr) {
          endRow(byCr, here, here + 1);
          lastReturn = here;
        }
      }
      position += piece.length;
    },
    /** So far. A row that has begun counts. */
    rows(): number {
      const { rows, start } = byLf.rows > 0 ? byLf : byCr;
      return rows + (position > start ? 1 : 0);
    },
  };
}
