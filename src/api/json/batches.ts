export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openArray = 0x5b;
export const closeArray = 0x5d;
export const openObject = 0x7b;
export const closeObject = 0x7d;

/** 1 for quotes and brackets, the bytes that matter while a value is skipped. */
const isDelimiter = new Uint8Array(256);
for (const byte of [quote, openArray, closeArray, openObject, closeObject]) isDelimiter[byte] = 1;

/** The position inside an element at which the last chunk ended. */
export interface CutState {
  /** Open brackets. */
  level: number;
  isText: boolean;
  /** The next byte follows a backslash. */
  isEscaped: boolean;
}

/** Between two elements. */
export function createCutState(): CutState {
  return { level: 0, isText: false, isEscaped: false };
}

/**
 * The end of the element that continues at `start`: its comma or the bracket that closes the list; the length of `bytes`
 * if it continues in the next chunk. A small function of its own, since it reads every byte.
 */
export function findBorder(bytes: Uint8Array, start: number, place: CutState): number {
  const { length } = bytes;
  let { level, isText } = place;
  let index = place.isEscaped ? start + 1 : start;
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

/** Parses the text of a JSON list. Throws a SyntaxError if it is none. */
export type ParseList = (json: string) => readonly unknown[];

interface Batch {
  readonly elements: readonly unknown[];
  /** Offset in the chunk of the next element. */
  readonly next: number;
}

export interface Batches {
  /** Learns the separator from an element that follows `}` and a comma. */
  readonly learn: (element: Buffer) => void;
  /** The separator is known. */
  readonly isReady: () => boolean;
  /**
   * Elements that end in `chunk` from `start` on, except the last ones; the first one begins with `pending`. Undefined if
   * the guess fails.
   */
  readonly cut: (chunk: Buffer, start: number, pending: readonly Buffer[]) => Batch | undefined;
}

// Bytes. Anything longer is most likely one large element, and parsing it in vain is expensive.
const maxBatchLength = 262_144;
// Shared: nothing is kept in it between calls.
const batchText = Buffer.allocUnsafeSlow(maxBatchLength);
batchText[0] = openArray;

/**
 * Guesses where the last element of a chunk begins instead of reading every byte, and lets JSON.parse verify: the text
 * before it, in brackets, is a valid list exactly if no string, object or list is open there. A wrong guess only costs
 * time. One parse of many elements is also cheaper than many parses of one.
 */
export function createBatches(parse: ParseList): Batches {
  let opening: Opening | undefined;
  // After a wrong guess some chunks are cut without one; each further one doubles their number.
  let wrong = 0;
  let rest = 0;

  return {
    learn(element) {
      opening = readOpening(element);
    },

    isReady: () => opening !== undefined,

    cut(chunk, start, pending) {
      if (!opening) return undefined;
      if (rest > 0) {
        rest -= 1;
        return undefined;
      }
      const comma = findLastElement(chunk, start, opening);
      // Later elements may look different: learn again.
      if (comma === -1) opening = undefined;
      const json = comma === -1 ? undefined : joinAsList(pending, chunk.subarray(start, comma));
      if (json === undefined) return undefined;
      try {
        const elements = parse(json);
        wrong = 0;
        return { elements, next: comma + 1 };
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        wrong += 1;
        rest = 2 ** Math.min(wrong, 10);
        return undefined;
      }
    },
  };
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

/** The text of a JSON list; undefined if it would be too long. */
function joinAsList(pending: readonly Buffer[], head: Buffer): string | undefined {
  let length = 1;
  for (const part of [...pending, head]) {
    if (length + part.length >= batchText.length) return undefined;
    length += part.copy(batchText, length);
  }
  batchText[length] = closeArray;
  return batchText.toString('utf8', 0, length + 1);
}
