/** How a cell stands in the file: bare, between quotes, between quotes with doubled ones inside, or with stray quotes. */
export const cellKinds = { bare: 0, quoted: 1, doubled: 2, stray: 3 } as const;

/** The row at hand. It and its bytes are used again for the next one: take out of it what is to stay. */
export interface CsvRow {
  bytes: Buffer;
  /** Where the row begins and ends in the bytes, a byte order mark and its line break included. */
  start: number;
  end: number;
  /** 0: an empty line (also a byte order mark alone), or a row too long to be read. */
  cells: number;
  /** Where the text of each cell begins and ends, without its quotes (with them where some are stray), and its kind. */
  from: Int32Array;
  to: Int32Array;
  kinds: Uint8Array;
  /** Quotes in the wrong place, or too long to be read. */
  broken: boolean;
}

const quote = 0x22;

/** The text of a cell as whoever reads the file gets it; as `latin1`, one character for each byte. */
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

/** The bytes of a cell of the kind `doubled`, its quotes no longer doubled, as far as there is room. Gives their number. */
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
