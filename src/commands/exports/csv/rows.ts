import { UserError } from '../../../errors.ts';

/** How a cell is written: bare, quoted, quoted with doubled quotes inside, or with stray quotes. */
export const cellKinds = { bare: 0, quoted: 1, doubled: 2, stray: 3 } as const;

/** The current row. Its memory is reused for the next row: copy what has to stay. */
export interface CsvRow {
  bytes: Buffer;
  /** The range of the row in the bytes, including a byte order mark and its line break. */
  start: number;
  end: number;
  /** 0: an empty line (also a byte order mark alone), or a row too long to be read. */
  cells: number;
  /** The range of each cell's text, without its quotes (with them if some are stray), and its kind. */
  from: Int32Array;
  to: Int32Array;
  kinds: Uint8Array;
  /** Quotes in the wrong place, or a row too long to be read. */
  broken: boolean;
}

const quote = 0x22;
const comma = 0x2c;
const lf = 0x0a;
const cr = 0x0d;
const byteOrderMark = Buffer.from('\u{feff}');
/** Larger pieces are read in slices of this size. */
const slice = 65_536;
const mostCells = 16_384;
// Checked between two slices, and a cell takes at least one byte.
const roomForCells = mostCells + slice + 1;

/** The position of the next byte within a cell. */
const places = { first: 0, bare: 1, quoted: 2, behindQuote: 3, behindBreak: 4, behindReturn: 5 } as const;

/** Line ending of the first row, which decides: only after a CR alone does a CR end rows. */
const ends = { unknown: 0, lf: 1, cr: 2 } as const;

/**
 * Finds the rows and cells of a CSV file (RFC 4180) in pieces of bytes: line breaks and doubled quotes between quotes,
 * CRLF, LF and, where the first row ends so, CR alone; a byte order mark. It never fails over a broken file: what follows
 * a closing quote belongs to the cell (as spreadsheets read it), a quote inside a bare cell is a character, and either
 * marks the row as broken.
 * Tests compare it with csv-parse, which is 40 times slower (docs/performance.md). Nothing is decoded here.
 */
export function createCsvRows(
  onRow: (row: CsvRow) => void,
  {
    /** Longest row that is buffered, in bytes. */
    longest = 1_048_576,
    /** A longer row is passed on without cells, or refused with a UserError. */
    longer = 'pass',
  }: { readonly longest?: number; readonly longer?: 'pass' | 'refuse' } = {},
) {
  const row = newRow();
  // State between two pieces: bytes buffered, bytes read, and the position in the current cell.
  let held = 0;
  let at = 0;
  let place: number = places.first;
  let cellStart = 0;
  let kind: number = cellKinds.bare;
  let hasBegun = false;
  let lineEnds: number = ends.unknown;
  /** The row is too long: it is read to its end without being buffered. */
  let isPassing = false;

  const endRow = (contentEnd: number, end: number): void => {
    if (isPassing) {
      row.cells = 0;
      row.broken = true;
      isPassing = false;
    } else if (row.cells > 0 || contentEnd > cellStart || kind !== cellKinds.bare) {
      endCell(row, cellStart, contentEnd, kind);
    }
    row.end = end;
    onRow(row);
    row.start = end;
    row.cells = 0;
    row.broken = false;
    cellStart = end;
    kind = cellKinds.bare;
  };

  /** Reads the buffered bytes. The hot loop: every byte of a file passes it. */
  const scan = (): void => {
    const { bytes } = row;
    const stop = held;
    // Ends the search in a cell that goes on in the next piece.
    bytes[stop] = comma;
    let now = at;
    let here = place;
    while (now < stop) {
      if (here === places.bare) {
        // Nearly every byte of a file is larger than a comma.
        let byte = 0;
        do byte = bytes[now++] as number;
        while (byte > comma);
        if (now > stop) now = stop;
        else if (byte === comma) {
          endCell(row, cellStart, now - 1, kind);
          cellStart = now;
          kind = cellKinds.bare;
          if (now === stop || bytes[now] === quote) here = places.first;
        } else if (byte === lf) {
          const isPair = now - 2 >= cellStart && bytes[now - 2] === cr;
          endRow(isPair ? now - 2 : now - 1, now);
          if (lineEnds === ends.unknown) lineEnds = ends.lf;
          here = places.first;
        } else if (byte === cr && lineEnds !== ends.lf) here = places.behindReturn;
        else if (byte === quote) row.broken = true;
      } else if (here === places.first) {
        if (bytes[now] === quote) {
          now += 1;
          cellStart = now;
          kind = cellKinds.quoted;
          here = places.quoted;
        } else here = places.bare;
      } else if (here === places.quoted) {
        let byte = 0;
        do byte = bytes[now++] as number;
        while (byte !== quote && now < stop);
        if (byte === quote) here = places.behindQuote;
      } else if (here === places.behindReturn) {
        const isPair = bytes[now] === lf;
        if (lineEnds === ends.unknown) lineEnds = isPair ? ends.lf : ends.cr;
        endRow(now - 1, isPair ? now + 1 : now);
        if (isPair) now += 1;
        here = places.first;
      } else if (bytes[now] === lf) {
        now += 1;
        endRow(now - (here === places.behindQuote ? 2 : 3), now);
        if (lineEnds === ends.unknown) lineEnds = ends.lf;
        here = places.first;
      } else if (here === places.behindBreak && lineEnds !== ends.lf) {
        endRow(now - 2, now);
        lineEnds = ends.cr;
        here = places.first;
      } else if (here === places.behindQuote && bytes[now] === comma) {
        endCell(row, cellStart, now - 1, kind);
        now += 1;
        cellStart = now;
        kind = cellKinds.bare;
        here = places.first;
      } else if (here === places.behindQuote && bytes[now] === quote) {
        kind = cellKinds.doubled;
        now += 1;
        here = places.quoted;
      } else if (here === places.behindQuote && bytes[now] === cr) {
        now += 1;
        here = places.behindBreak;
      } else {
        // The cell continues after its closing quote.
        cellStart -= 1;
        kind = cellKinds.stray;
        row.broken = true;
        here = places.bare;
      }
    }
    at = now;
    place = here;
  };

  /** Moves the unfinished row to the front. */
  const keepRest = (): void => {
    if (held - row.start > longest || row.cells >= mostCells) isPassing = true;
    if (isPassing && longer === 'refuse')
      throw new UserError(`One row of the file is larger than ${longest} bytes.`, 'Take the file as it is.');
    // Of a row that is too long only unread bytes are kept.
    const start = isPassing ? at : row.start;
    row.bytes.copyWithin(0, start, held);
    held -= start;
    at -= start;
    cellStart = isPassing ? 0 : cellStart - start;
    if (isPassing) row.cells = 0;
    for (let nth = 0; nth < row.cells; nth += 1) {
      row.from[nth] = (row.from[nth] as number) - start;
      row.to[nth] = (row.to[nth] as number) - start;
    }
    row.start = 0;
  };

  const begin = (): void => {
    hasBegun = true;
    if (row.bytes.subarray(0, Math.min(held, 3)).equals(byteOrderMark)) at = cellStart = 3;
  };

  return {
    /** The next piece of the file, cut anywhere. */
    write(piece: Uint8Array): void {
      for (let taken = 0; taken < piece.length; taken += slice) {
        const part = piece.subarray(taken, taken + slice);
        if (held + part.length >= row.bytes.length) enlargeBytes(row, held + part.length + 1);
        row.bytes.set(part, held);
        held += part.length;
        if (!hasBegun && held < byteOrderMark.length) continue;
        if (!hasBegun) begin();
        scan();
        keepRest();
      }
    },
    /** After the last piece: the last row may have no line break. */
    end(): void {
      if (!hasBegun) {
        begin();
        scan();
      }
      if (place === places.quoted) row.broken = true;
      const behind = place === places.behindBreak ? 2 : place >= places.behindQuote ? 1 : 0;
      if (held > row.start || isPassing) endRow(held - behind, held);
    },
  };
}

function newRow(): CsvRow {
  return {
    bytes: Buffer.allocUnsafeSlow(slice * 2),
    start: 0,
    end: 0,
    cells: 0,
    from: new Int32Array(roomForCells),
    to: new Int32Array(roomForCells),
    kinds: new Uint8Array(roomForCells),
    broken: false,
  };
}

function endCell(row: CsvRow, from: number, to: number, kind: number): void {
  const nth = row.cells++;
  row.from[nth] = from;
  row.to[nth] = to;
  row.kinds[nth] = kind;
}

function enlargeBytes(row: CsvRow, needed: number): void {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, row.bytes.length * 2));
  row.bytes.copy(larger);
  row.bytes = larger;
}

/** The decoded text of a cell; as `latin1`, one character per byte. */
export function cellText(row: CsvRow, nth: number, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  const { bytes, from, to, kinds } = row;
  const text = bytes.toString(encoding, from[nth], to[nth]);
  const kind = kinds[nth];
  if (kind === cellKinds.doubled) return text.replaceAll('""', '"');
  if (kind !== cellKinds.stray) return text;
  // `"a ""b"" c"d "e"`: up to the closing quote as between quotes, behind it as it stands.
  const [, between = '', behind = ''] = /^"((?:[^"]|"")*)"?(.*)$/su.exec(text) ?? [];
  return between.replaceAll('""', '"') + behind;
}
