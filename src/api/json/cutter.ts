const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openArray = 0x5b;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** The rest of a document after its elements are cut out. */
export interface Outside {
  /** Where the list was: at the top, or the named member of an object. */
  readonly found: 'top' | 'member' | 'nowhere';
  /** The document with an empty list in its place. */
  readonly document: unknown;
}

/** Parses the text of a JSON list. Throws a SyntaxError if it is none. */
export type ParseList = (json: string) => readonly unknown[];

// Bytes around the list: a few members. A document of another shape must not be kept whole.
const maxOutsideLength = 1_000_000;

/**
 * Cuts a JSON document (a list, or an object with a list in `member`) into the list's elements while it arrives. It finds
 * brackets and strings on bytes, so a chunk may end anywhere, even inside a character; `parse` gets one or more elements
 * as a list and checks the rest. Throws a SyntaxError for invalid JSON, after `take` got the elements before it. One
 * JSON.parse of the whole document would block the event loop for seconds (docs/performance.md).
 */
export function createCutter(member: string, parse: ParseList = (json) => JSON.parse(json) as unknown[]) {
  let isInList = false;
  let found: Outside['found'] = 'nowhere';
  let opening: Opening | undefined;
  let hasElements = false;
  // Pieces of the element from earlier chunks.
  let pending: Buffer[] = [];
  // In latin1, a character a byte.
  let outside = '';
  const memberStart = new RegExp(`[{,]\\s*"${member}"\\s*:\\s*\\[$`);
  // In the element, or outside of the list.
  const position: Position = { depth: 0, isText: false, isEscaped: false };

  return {
    /** Calls `take` with each element that ends in this chunk. */
    push(input: Uint8Array, take: (element: unknown) => void): void {
      const chunk = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
      for (let at = 0; at < chunk.length; ) at = isInList ? cutList(chunk, at, take) : readOutside(chunk, at);
    },
    /** Call it after the last chunk. Throws a SyntaxError if the document is incomplete. */
    end(): Outside {
      if (isInList) throw new SyntaxError('The list has no end.');
      const text = new TextDecoder().decode(Buffer.from(outside, 'latin1'));
      return { found, document: JSON.parse(text) };
    },
  };

  /** Elements from `at` on. Returns where the list ends, or the chunk. */
  function cutList(chunk: Buffer, at: number, take: (element: unknown) => void): number {
    let isTried = false;
    for (let start = at; ; ) {
      if (!isTried && pending.length === 0) {
        isTried = true;
        start = cutBatch(chunk, start, take);
      }
      const border = findBorder(chunk, start, position);
      if (border === chunk.length) {
        pending.push(chunk.subarray(start));
        return border;
      }
      if (chunk[border] === closeObject) throw new SyntaxError('A list is closed like an object.');
      const isEnd = chunk[border] === closeArray;
      cutElement(chunk.subarray(start, border), isEnd, take);
      if (isEnd) {
        isInList = false;
        position.depth = found === 'top' ? 1 : 2;
        return border;
      }
      start = border + 1;
    }
  }

  /**
   * All elements from `start` on but the last, in one parse. Where the last one begins is guessed instead of reading every
   * byte, and JSON.parse verifies it: the text before is a list exactly if no string, object or list is open there. Returns
   * where single elements follow.
   */
  function cutBatch(chunk: Buffer, start: number, take: (element: unknown) => void): number {
    const last = opening ? findLastElement(chunk, start, opening) : -1;
    if (last === -1) {
      // Later elements may look different.
      opening = undefined;
      return start;
    }
    let elements: readonly unknown[];
    try {
      elements = parse(`[${chunk.toString('utf8', start, last)}]`);
    } catch (error) {
      if (error instanceof SyntaxError) return start;
      throw error;
    }
    for (const element of elements) take(element);
    return last + 1;
  }

  function cutElement(end: Buffer, isLast: boolean, take: (element: unknown) => void): void {
    const bytes = pending.length === 0 ? end : Buffer.concat([...pending, end]);
    const json = bytes.toString('utf8');
    pending = [];
    if (isLast && !hasElements && json.trim() === '') return;
    hasElements = true;
    const elements = parse(`[${json}]`);
    if (elements.length !== 1) throw new SyntaxError('Nothing stands between two borders.');
    opening ??= readOpening(bytes);
    take(elements[0]);
  }

  /** Bytes outside of the list. Returns where the list begins, or the end of the chunk. */
  function readOutside(chunk: Buffer, at: number): number {
    for (let index = at; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (position.isText) {
        if (position.isEscaped) position.isEscaped = false;
        else if (byte === backslash) position.isEscaped = true;
        else if (byte === quote) position.isText = false;
      } else if (byte === quote) position.isText = true;
      else if (byte === closeArray || byte === closeObject) position.depth -= 1;
      else if (byte === openObject) position.depth += 1;
      else if (byte === openArray) {
        const { depth } = position;
        position.depth += 1;
        if (depth > 1) continue;
        keep(chunk.toString('latin1', at, index + 1));
        if (depth === 0 || memberStart.test(outside.slice(-maxMemberLength))) {
          if (found !== 'nowhere') throw new SyntaxError('A second list.');
          found = depth === 0 ? 'top' : 'member';
          isInList = true;
          position.depth = 0;
          return index + 1;
        }
        at = index + 1;
      }
    }
    keep(chunk.toString('latin1', at));
    return chunk.length;
  }

  function keep(text: string): void {
    outside += text;
    if (outside.length > maxOutsideLength) throw new SyntaxError('Too much stands around the list.');
    // Most likely a web page, which is not read any further.
    if (otherStart.test(outside)) throw new SyntaxError('The document is neither a list nor an object.');
  }
}

// Spaces and the bytes of a byte order mark, then something else than a list, an object or a string.
const otherStart = /^[\s\u00ef\u00bb\u00bf]*[^\s\u00ef\u00bb\u00bf[{"]/;
/** The name of a member and spaces, up to the bracket. */
const maxMemberLength = 200;

/** The position inside a value at which the last chunk ended. */
interface Position {
  /** Open brackets. */
  depth: number;
  isText: boolean;
  /** The next byte follows a backslash. */
  isEscaped: boolean;
}

/** 1 for quotes and brackets, the bytes that matter while a value is skipped. */
const isDelimiter = new Uint8Array(256);
for (const byte of [quote, openArray, closeArray, openObject, closeObject]) isDelimiter[byte] = 1;

/**
 * The end of the element that continues at `start`: its comma or the bracket that closes the list; the length of `bytes`
 * if it continues in the next chunk. A small function of its own, since it may read every byte.
 */
function findBorder(bytes: Uint8Array, start: number, position: Position): number {
  const { length } = bytes;
  let { depth, isText } = position;
  let index = position.isEscaped ? start + 1 : start;
  for (; index < length; index += 1) {
    if (isText) {
      for (; index < length; index += 1) {
        const byte = bytes[index];
        if (byte === quote) break;
        // The escaped byte is skipped too; it may be the first of the next chunk.
        if (byte === backslash) index += 1;
      }
      if (index >= length) break;
      isText = false;
      continue;
    }
    const byte = bytes[index] as number;
    if (isDelimiter[byte] === 0) {
      if (byte !== comma || depth > 0) continue;
      break;
    }
    if (byte === quote) isText = true;
    else if (byte === openObject || byte === openArray) depth += 1;
    else if (depth === 0) break;
    else depth -= 1;
  }
  position.depth = depth;
  position.isText = isText;
  position.isEscaped = index > length;
  return Math.min(index, length);
}

/** How elements begin. */
interface Opening {
  /** `},{"Id":` */
  readonly between: Buffer;
  /** `{"Id":` and, after its value, `,"Name":`, which tells zones from the hostnames in them. In latin1. */
  readonly names: readonly string[];
}

const openingPattern =
  /^(\s*\{\s*"[^"\\]{1,60}"\s*:)(?:\s*(?:"[^"\\]{0,80}"|[\w.+-]{1,40})(\s*,\s*"[^"\\]{1,60}"\s*:))?/u;
const maxOpeningLength = 400;
const maxTries = 50;

function readOpening(element: Buffer): Opening | undefined {
  const names = openingPattern.exec(element.toString('latin1', 0, maxOpeningLength))?.slice(1);
  return names && { between: Buffer.from(`},${names[0]}`, 'latin1'), names };
}

/** The likely offset of the comma before the last element; -1 if there is none. */
function findLastElement(chunk: Buffer, start: number, { between, names }: Opening): number {
  let at = chunk.length;
  for (let tries = 0; tries < maxTries && at > start; tries += 1) {
    at = chunk.lastIndexOf(between, at - 1);
    if (at < start) return -1;
    const [, first, second] =
      openingPattern.exec(chunk.toString('latin1', at + 2, at + 2 + maxOpeningLength)) ?? [];
    if (first === names[0] && second === names[1]) return at + 1;
  }
  return -1;
}
