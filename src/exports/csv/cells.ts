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

/** Writes a cell of the kind `doubled` with single quotes to `room`, as much as fits. Returns its length. */
export function unescapeQuotes({ bytes, from, to }: CsvRow, nth: number, room: Buffer): number {
  const end = to[nth] as number;
  let length = 0;
  for (let at = from[nth] as number; at < end && length < room.length; at += 1) {
    const byte = bytes[at] as number;
    room[length++] = byte;
    if (byte === quote) at += 1;
  }
  return length;
}
