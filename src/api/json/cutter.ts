import { isInexact, parseWithExactIds } from '../../lib/canonical-json.ts';
import { isObject } from '../http/errors.ts';

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

/** Bytes of one element: a zone has some 6 kB. A larger one would fill the heap when it is parsed. */
export const maxElementBytes = 2_000_000;
/** Bytes around the list: a few members. */
const maxOutsideBytes = 64_000;
// Spaces and the bytes of a byte order mark, then something else than a list, an object or a string.
const otherStart = /^[\s\u00ef\u00bb\u00bf]*[^\s\u00ef\u00bb\u00bf[{"]/u;

/**
 * Cuts a JSON document (a list, or an object with a list in `member`) into the list's elements while it arrives. Only the
 * borders between elements are looked for, byte by byte, so a chunk may end anywhere; JSON.parse gets the elements that
 * end in a chunk as one list, and checks everything else. Throws a SyntaxError for invalid JSON and for what is too large, after
 * `take` got the elements of earlier chunks. One JSON.parse of 50,000 zones would block the event loop for 3.5 seconds.
 */
export function createCutter(member: string) {
  const memberStart = new RegExp(`[{,]\\s*"${member}"\\s*:\\s*\\[$`, 'u');
  let found: Outside['found'] = 'nowhere';
  let isInList = false;
  let hasElements = false;
  /** Open brackets around the next byte. */
  let depth = 0;
  /** Of the list's elements. */
  let listDepth = 0;
  let isText = false;
  let isEscaped = false;
  /** Of the first element that has not ended. */
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  /** In latin1, a character a byte. */
  let outside = '';

  return {
    /** Calls `take` with each element that ends in this chunk. */
    push(input: Uint8Array, take: (element: unknown) => void): void {
      const chunk = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
      let start = 0;
      let border = -1;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (isText) {
          if (isEscaped) isEscaped = false;
          else if (byte === backslash) isEscaped = true;
          else if (byte === quote) isText = false;
        } else if (byte === quote) isText = true;
        else if (byte === comma) {
          if (isInList && depth === listDepth) border = at;
        } else if (byte === openArray || byte === openObject) {
          depth += 1;
          if (isInList || byte === openObject || depth > 2) continue;
          keepOutside(chunk.subarray(start, at + 1));
          start = at + 1;
          if (depth === 1 || memberStart.test(outside.slice(-200))) openList();
        } else if (byte === closeArray || byte === closeObject) {
          if (isInList && depth === listDepth) {
            if (byte === closeObject) throw new SyntaxError('A list is closed like an object.');
            parseElements(chunk.subarray(start, at), true, take);
            isInList = false;
            start = at;
          }
          depth -= 1;
        }
      }
      if (!isInList) return keepOutside(chunk.subarray(start));
      if (border >= start) {
        parseElements(chunk.subarray(start, border), false, take);
        start = border + 1;
      }
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > maxElementBytes) throw new SyntaxError('An element is too large.');
    },
    /** Call it after the last chunk. Throws a SyntaxError if the document is incomplete. */
    end(): Outside {
      if (isInList) throw new SyntaxError('The list has no end.');
      // A TextDecoder drops a byte order mark, which JSON.parse would refuse.
      const text = new TextDecoder().decode(Buffer.from(outside, 'latin1'));
      return { found, document: JSON.parse(text) };
    },
  };

  function openList(): void {
    if (found !== 'nowhere') throw new SyntaxError('A second list.');
    found = depth === 1 ? 'top' : 'member';
    listDepth = depth;
    isInList = true;
  }

  /** Elements that are complete, of this chunk and the beginning of the first one from earlier chunks. */
  function parseElements(bytes: Buffer, isEnd: boolean, take: (element: unknown) => void): void {
    const json = (pending.length === 0 ? bytes : Buffer.concat([...pending, bytes])).toString('utf8');
    pending = [];
    pendingBytes = 0;
    const elements = parseListWithExactIds(`[${json}]`);
    if (elements.length === 0 && (hasElements || !isEnd)) throw new SyntaxError('An element is empty.');
    hasElements = true;
    for (const element of elements) take(element);
  }

  function keepOutside(bytes: Buffer): void {
    outside += bytes.toString('latin1');
    if (outside.length > maxOutsideBytes) throw new SyntaxError('Too much stands around the list.');
    // Most likely a web page, which is not read any further.
    if (otherStart.test(outside)) throw new SyntaxError('The document is neither a list nor an object.');
  }
}

/** JSON.parse of a list, except that elements with an id beyond 2^53 have their ids as text, digit by digit. */
export function parseListWithExactIds(json: string): readonly unknown[] {
  const elements = JSON.parse(json) as unknown[];
  if (!elements.some(hasInexactId)) return elements;
  const exact = parseWithExactIds(json) as unknown[];
  return elements.map((element, index) => (hasInexactId(element) ? exact[index] : element));
}

/**
 * Whether an id in it is beyond what JSON.parse keeps exactly (2^53; the specification says int64): those whose digits
 * matter, since they are shown, compared and put into paths. Written out, as it runs for each zone of a long list.
 */
function hasInexactId(raw: unknown): boolean {
  return (
    isObject(raw) &&
    (isInexact(raw['Id']) ||
      isInexact(raw['StorageZoneId']) ||
      isInexact(raw['EdgeScriptId']) ||
      isInexact(raw['MiddlewareScriptId']))
  );
}
