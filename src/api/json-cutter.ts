const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** 1 for quotes and brackets: the bytes at which reading a value is interrupted. */
const isSign = new Uint8Array(256);
for (const byte of [quote, openArray, closeArray, openObject, closeObject]) isSign[byte] = 1;

/** The rest of a document once its elements are cut out. */
export interface Outside {
  /** Whether the list was there: at the top, or as the named member of an object. */
  readonly found: 'top' | 'member' | 'nowhere';
  /** The document with an empty list in the list's place. */
  readonly document: unknown;
}

export interface Cutter {
  /** Calls `take` with the JSON text of each element that ends in this chunk. */
  readonly push: (chunk: Uint8Array, take: (json: string) => void) => void;
  /** To be called after the last chunk. Throws a SyntaxError where the document is not whole. */
  readonly end: () => Outside;
}

// What stands around the list is a few members. A document of another shape must not be kept whole.
const longestOutside = 1_000_000;

/**
 * Cuts a JSON document that is a list, or an object with a list in its member `member`, into the list's elements
 * while the document arrives. It only finds the borders: brackets and strings on bytes, so a chunk may end anywhere,
 * also inside a character. JSON.parse of each element, which is the caller's, checks the rest. Throws a SyntaxError
 * where the borders make no sense. Why not one JSON.parse: DESIGN §9.
 */
export function createCutter(member: string): Cutter {
  let place: 'outside' | 'list' = 'outside';
  let found: Outside['found'] = 'nowhere';
  let depth = 0;
  let inString = false;
  let escaped = false;
  const inside: Place = { level: 0, isText: false, isEscaped: false };
  let elements = 0;
  // The pieces of the element, or of the outside, that came with earlier chunks.
  let pending: Buffer[] = [];
  const outside: Buffer[] = [];
  let outsideLength = 0;
  // The last sign that was neither space nor inside a string: a string after `{` or `,` is a name.
  let sign = 0;
  let name: Buffer[] = [];
  let isName = false;

  return { push, end };

  function push(input: Uint8Array, take: (json: string) => void): void {
    const chunk = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    for (let at = 0; at < chunk.length; )
      at = place === 'list' ? cutList(chunk, at, take) : readOutside(chunk, at);
  }

  /** Elements from `at` on. Returns where the list ends, or the chunk. */
  function cutList(chunk: Buffer, at: number, take: (json: string) => void): number {
    for (let start = at; ; ) {
      const border = nextBorder(chunk, start, inside);
      if (border === chunk.length) {
        pending.push(chunk.subarray(start));
        return border;
      }
      const isEnd = chunk[border] !== comma;
      if (chunk[border] === closeObject) throw new SyntaxError('A list is closed like an object.');
      emit(chunk, start, border, take, isEnd);
      if (isEnd) {
        place = 'outside';
        depth = found === 'top' ? 1 : 2;
        return border;
      }
      start = border + 1;
    }
  }

  function emit(
    chunk: Buffer,
    start: number,
    end: number,
    take: (json: string) => void,
    isEnd: boolean,
  ): void {
    let json = chunk.toString('utf8', start, end);
    if (pending.length > 0) json = Buffer.concat([...pending, chunk.subarray(start, end)]).toString('utf8');
    pending = [];
    if (isEnd && elements === 0 && json.trim() === '') return;
    elements += 1;
    take(json);
  }

  /** What is not in the list, byte by byte. Returns where the list begins, or the end of the chunk. */
  function readOutside(chunk: Buffer, at: number): number {
    for (let index = at; index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inString = false;
        if (isName) name.push(chunk.subarray(index, index + 1));
        continue;
      }
      if (isSpace(byte)) continue;
      if (byte === quote) {
        inString = true;
        isName = depth === 1 && (sign === openObject || sign === comma);
        if (isName) name = [chunk.subarray(index, index + 1)];
        continue;
      }
      const begins = byte === openArray && (depth === 0 || (depth === 1 && sign === colon && isMember()));
      if (depth === 0 && sign === 0 && byte !== openArray && byte !== openObject && !isMark(byte)) {
        // A web page, most likely. Nothing of it needs to be read.
        throw new SyntaxError('The document is neither a list nor an object.');
      }
      if (!isMark(byte)) sign = byte;
      if (byte === openArray || byte === openObject) depth += 1;
      if (byte === closeArray || byte === closeObject) depth -= 1;
      if (begins) {
        if (found !== 'nowhere') throw new SyntaxError('A second list.');
        found = depth === 1 ? 'top' : 'member';
        keep(chunk.subarray(at, index + 1));
        place = 'list';
        depth = 0;
        return index + 1;
      }
    }
    keep(chunk.subarray(at));
    return chunk.length;
  }

  function isMember(): boolean {
    const text = Buffer.concat(name).toString('utf8');
    return text === `"${member}"`;
  }

  function keep(bytes: Buffer): void {
    outsideLength += bytes.length;
    if (outsideLength > longestOutside) throw new SyntaxError('Too much stands around the list.');
    // A copy: the chunk may be large, and this is kept to the end.
    outside.push(Buffer.from(bytes));
  }

  function end(): Outside {
    if (place === 'list') throw new SyntaxError('The list has no end.');
    const text = new TextDecoder().decode(Buffer.concat(outside));
    return { found, document: JSON.parse(text) };
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** A byte of the UTF-8 byte order mark. */
function isMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf;
}

/** Where in an element the last chunk ended. */
interface Place {
  /** Brackets that are open. */
  level: number;
  isText: boolean;
  /** The next byte stands behind a backslash. */
  isEscaped: boolean;
}

/**
 * Where the element that goes on at `start` ends: the comma behind it or the bracket that closes the list; the length
 * of `bytes` where it goes on in the next chunk. Small and on its own, since this is where the time goes.
 */
function nextBorder(bytes: Uint8Array, start: number, place: Place): number {
  const { length } = bytes;
  let { level, isText } = place;
  let index = place.isEscaped ? start + 1 : start;
  for (; index < length; index += 1) {
    if (isText) {
      for (; index < length; index += 1) {
        const byte = bytes[index];
        if (byte === quote) break;
        // It takes the byte behind it along, which may be the first of the next chunk.
        if (byte === backslash) index += 1;
      }
      if (index >= length) break;
      isText = false;
      continue;
    }
    const byte = bytes[index] as number;
    if (isSign[byte] === 0) {
      if (byte !== comma || level > 0) continue;
      break;
    }
    if (byte === quote) isText = true;
    else if (byte === openObject || byte === openArray) level += 1;
    else if (level === 0) break;
    else level -= 1;
  }
  place.level = level;
  place.isText = isText;
  place.isEscaped = index > length;
  return Math.min(index, length);
}
