import {
  backslash,
  closeArray,
  closeObject,
  colon,
  comma,
  createBatches,
  createCutState,
  findBorder,
  openArray,
  openObject,
  type ParseList,
  quote,
} from './batches.ts';

/** The rest of a document after its elements are cut out. */
export interface Outside {
  /** Where the list was: at the top, or the named member of an object. */
  readonly found: 'top' | 'member' | 'nowhere';
  /** The document with an empty list in its place. */
  readonly document: unknown;
}

export interface Cutter {
  /** Calls `take` with each element that ends in this chunk. */
  readonly push: (chunk: Uint8Array, take: (element: unknown) => void) => void;
  /** Call it after the last chunk. Throws a SyntaxError if the document is incomplete. */
  readonly end: () => Outside;
}

// Bytes around the list: a few members. A document of another shape must not be kept whole.
const maxOutsideLength = 1_000_000;

/**
 * Cuts a JSON document (a list, or an object with a list in `member`) into the list's elements while it arrives. It finds
 * brackets and strings on bytes, so a chunk may end anywhere, even inside a character; `parse` gets one or more elements
 * as a list and checks the rest. Throws a SyntaxError for invalid JSON, after `take` got the elements before it. One
 * JSON.parse of the whole document would block the event loop for seconds (docs/performance.md).
 */
export function createCutter(member: string, parse: ParseList = parseJson): Cutter {
  let place: 'outside' | 'list' = 'outside';
  let found: Outside['found'] = 'nowhere';
  let depth = 0;
  let inString = false;
  let escaped = false;
  let inside = createCutState();
  const batches = createBatches(parse);
  // The element before was cut alone and ends in a brace.
  let isBehindObject = false;
  let isFirst = true;
  // Pieces of the element from earlier chunks.
  let pending: Buffer[] = [];
  const outside: Buffer[] = [];
  let outsideLength = 0;
  // The last byte outside of strings that is no space: a string after `{` or `,` is a name.
  let sign = 0;
  let name: Buffer[] = [];
  let isName = false;

  return { push, end };

  function push(input: Uint8Array, take: (element: unknown) => void): void {
    const chunk = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    for (let at = 0; at < chunk.length; )
      at = place === 'list' ? cutList(chunk, at, take) : readOutside(chunk, at);
  }

  /** Elements from `at` on. Returns where the list ends, or the chunk. */
  function cutList(chunk: Buffer, at: number, take: (element: unknown) => void): number {
    let isTried = false;
    for (let start = at; ; ) {
      if (!isTried && batches.isReady()) {
        isTried = true;
        start = cutBatch(chunk, start, take);
      }
      const border = findBorder(chunk, start, inside);
      if (border === chunk.length) {
        pending.push(chunk.subarray(start));
        return border;
      }
      const isEnd = chunk[border] !== comma;
      if (chunk[border] === closeObject) throw new SyntaxError('A list is closed like an object.');
      emit(chunk.subarray(start, border), take, isEnd);
      if (isEnd) {
        place = 'outside';
        depth = found === 'top' ? 1 : 2;
        return border;
      }
      start = border + 1;
    }
  }

  /** As many as possible from `start` on, at once. Returns where single elements follow. */
  function cutBatch(chunk: Buffer, start: number, take: (element: unknown) => void): number {
    const batch = batches.cut(chunk, start, pending);
    if (!batch) return start;
    isBehindObject = false;
    pending = [];
    inside = createCutState();
    for (const element of batch.elements) take(element);
    return batch.next;
  }

  function emit(end: Buffer, take: (element: unknown) => void, isEnd: boolean): void {
    const bytes = pending.length === 0 ? end : Buffer.concat([...pending, end]);
    const json = bytes.toString('utf8');
    pending = [];
    if (isEnd && isFirst && json.trim() === '') return;
    isFirst = false;
    const elements = parse(`[${json}]`);
    if (elements.length !== 1) throw new SyntaxError('Nothing stands between two borders.');
    if (isBehindObject && !batches.isReady()) batches.learn(bytes);
    isBehindObject = bytes.at(-1) === closeObject;
    take(elements[0]);
  }

  /** Bytes outside of the list. Returns where the list begins, or the end of the chunk. */
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
      if (depth === 0 && sign === 0 && byte !== openArray && byte !== openObject && !isByteOrderMark(byte)) {
        // Most likely a web page, which is not read any further.
        throw new SyntaxError('The document is neither a list nor an object.');
      }
      if (!isByteOrderMark(byte)) sign = byte;
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
    if (outsideLength > maxOutsideLength) throw new SyntaxError('Too much stands around the list.');
    // A copy: the chunk may be large, and this part is kept to the end.
    outside.push(Buffer.from(bytes));
  }

  function end(): Outside {
    if (place === 'list') throw new SyntaxError('The list has no end.');
    const text = new TextDecoder().decode(Buffer.concat(outside));
    return { found, document: JSON.parse(text) };
  }
}

function parseJson(json: string): readonly unknown[] {
  return JSON.parse(json) as unknown[];
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** A byte of the UTF-8 byte order mark. */
function isByteOrderMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf;
}
