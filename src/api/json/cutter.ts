const quote = 0x22;
const comma = 0x2c;
const openArray = 0x5b;
const backslash = 0x5c;
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

/** Bytes of one element: a zone has some 6 kB. A larger one would fill the heap when it is parsed. */
export const maxElementBytes = 2_000_000;
/** Bytes around the list: a few members. */
const maxOutsideBytes = 64_000;
// Spaces and the bytes of a byte order mark, then something else than a list, an object or a string.
const otherStart = /^[\s\u00ef\u00bb\u00bf]*[^\s\u00ef\u00bb\u00bf[{"]/u;

/**
 * Cuts a JSON document (a list, or an object with a list in `member`) into the list's elements while it arrives. Only the
 * borders between elements are looked for, byte by byte, so a chunk may end anywhere; `parse` gets the elements that end
 * in a chunk as one list, and checks everything else. Throws a SyntaxError for invalid JSON and for what is too large, after
 * `take` got the elements of earlier chunks. One JSON.parse of 50,000 zones would block the event loop for 3.5 seconds.
 */
export function createCutter(member: string, parse: ParseList = (json) => JSON.parse(json) as unknown[]) {
  const memberStart = new RegExp(`[{,]\\s*"${member}"\\s*:\\s*\\[$`, 'u');
  let found: Outside['found'] = 'nowhere';
  let isInList = false;
  let hasElements = false;
  // Open brackets around the next byte; in the list those of its element.
  let depth = 0;
  let isText = false;
  // The next byte follows a backslash: it may be the first of a chunk.
  let isEscaped = false;
  // Bytes since the last border, or outside of the list.
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  // In latin1, a character a byte.
  let outside = '';

  return {
    /** Calls `take` with each element that ends in this chunk. */
    push(input: Uint8Array, take: (element: unknown) => void): void {
      const chunk = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
      for (let at = 0; at < chunk.length; ) at = isInList ? cutList(chunk, at, take) : readOutside(chunk, at);
    },
    /** Call it after the last chunk. Throws a SyntaxError if the document is incomplete. */
    end(): Outside {
      if (isInList) throw new SyntaxError('The list has no end.');
      // A TextDecoder drops a byte order mark, which JSON.parse would refuse.
      const text = new TextDecoder().decode(Buffer.from(outside, 'latin1'));
      return { found, document: JSON.parse(text) };
    },
  };

  /** Elements from `start` on. Returns where the list ends, or the chunk. */
  function cutList(chunk: Buffer, start: number, take: (element: unknown) => void): number {
    let border = -1;
    const end = skip(chunk, start, (at) => {
      border = at;
      return false;
    });
    const isEnd = end < chunk.length;
    if (isEnd && chunk[end] !== closeArray) throw new SyntaxError('A list is closed like an object.');
    const last = isEnd ? end : border;
    if (last !== -1) parseElements(chunk.subarray(start, last), isEnd, take);
    if (isEnd) {
      isInList = false;
      depth = found === 'top' ? 1 : 2;
      return end;
    }
    const rest = chunk.subarray(last === -1 ? start : last + 1);
    pending.push(rest);
    pendingBytes += rest.length;
    if (pendingBytes > maxElementBytes) throw new SyntaxError('An element is too large.');
    return chunk.length;
  }

  /** Elements that are complete, of this chunk and the beginning of the first one from earlier chunks. */
  function parseElements(bytes: Buffer, isEnd: boolean, take: (element: unknown) => void): void {
    const json = (pending.length === 0 ? bytes : Buffer.concat([...pending, bytes])).toString('utf8');
    pending = [];
    pendingBytes = 0;
    const elements = parse(`[${json}]`);
    if (elements.length === 0 && (hasElements || !isEnd)) throw new SyntaxError('An element is empty.');
    hasElements = true;
    for (const element of elements) take(element);
  }

  /** Bytes outside of the list. Returns where the list begins, or the end of the chunk. */
  function readOutside(chunk: Buffer, start: number): number {
    for (let at = start; ; ) {
      const end = skip(chunk, at, undefined);
      keep(chunk.subarray(at, Math.min(end + 1, chunk.length)));
      if (end >= chunk.length) return chunk.length;
      const isTop = depth === 1;
      if (isTop || memberStart.test(outside.slice(-200))) {
        if (found !== 'nowhere') throw new SyntaxError('A second list.');
        found = isTop ? 'top' : 'member';
        isInList = true;
        depth = 0;
        return end + 1;
      }
      at = end + 1;
    }
  }

  function keep(bytes: Buffer): void {
    outside += bytes.toString('latin1');
    if (outside.length > maxOutsideBytes) throw new SyntaxError('Too much stands around the list.');
    // Most likely a web page, which is not read any further.
    if (otherStart.test(outside)) throw new SyntaxError('The document is neither a list nor an object.');
  }

  /**
   * Reads on from `start`, in the list to the bracket that closes it, and tells its commas; outside of it to a bracket that
   * may open it. Returns its offset, or the length of the chunk.
   */
  function skip(chunk: Buffer, start: number, onComma: ((at: number) => void) | undefined): number {
    const { length } = chunk;
    const inList = isInList;
    let at = isEscaped ? start + 1 : start;
    for (; at < length; at += 1) {
      const byte = chunk[at];
      if (isText) {
        if (byte === backslash) at += 1;
        else if (byte === quote) isText = false;
      } else if (byte === quote) isText = true;
      else if (byte === comma) {
        if (inList && depth === 0) onComma?.(at);
      } else if (byte === openObject || byte === openArray) {
        depth += 1;
        if (!inList && byte === openArray && depth <= 2) break;
      } else if (byte === closeObject || byte === closeArray) {
        if (inList && depth === 0) break;
        depth -= 1;
      }
    }
    isEscaped = at > length;
    return Math.min(at, length);
  }
}
