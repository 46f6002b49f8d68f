export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openArray = 0x5b;
export const closeArray = 0x5d;
export const openObject = 0x7b;
export const closeObject = 0x7d;

/** 1 for quotes and brackets: the bytes at which reading a value is interrupted. */
const isDelimiter = new Uint8Array(256);
for (const byte of [quote, openArray, closeArray, openObject, closeObject]) isDelimiter[byte] = 1;

/** Where in an element the last chunk ended. */
export interface CutState {
  /** Brackets that are open. */
  level: number;
  isText: boolean;
  /** The next byte stands behind a backslash. */
  isEscaped: boolean;
}

/** Between two elements. */
export function createCutState(): CutState {
  return { level: 0, isText: false, isEscaped: false };
}

/**
 * Where the element that goes on at `start` ends: the comma behind it or the bracket that closes the list; the length
 * of `bytes` where it goes on in the next chunk. Small and on its own, since it looks at every byte.
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
        // It takes the byte behind it along, which may be the first of the next chunk.
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

/** The text of a JSON list, parsed. Throws a SyntaxError where it is none. */
export type ParseList = (json: string) => readonly unknown[];

interface Batch {
  readonly elements: readonly unknown[];
  /** Where in the chunk the element behind them begins. */
  readonly next: number;
}

export interface Batches {
  /** Learns from an element that follows `}` and a comma what stands between two. */
  readonly learn: (element: Buffer) => void;
  /** Whether it makes sense to try. */
  readonly isReady: () => boolean;
  /**
   * Elements that end in `chunk` from `start` on, all but the last ones; the first of them begins with `pending`.
   * Undefined where they cannot be had this way.
   */
  readonly cut: (chunk: Buffer, start: number, pending: readonly Buffer[]) => Batch | undefined;
}

// What is longer is one large element, most likely: to parse it in vain would be dear.
const maxBatchLength = 262_144;
// One for all, since nothing is kept in it from one call to the next.
const batchText = Buffer.allocUnsafeSlow(maxBatchLength);
batchText[0] = openArray;

/**
 * Guesses where the last element of a chunk begins, instead of looking at every byte, and has JSON.parse judge: what
 * stands before it is a list once it is put into brackets exactly if no string, object or list is open there. So a
 * wrong guess costs time and nothing else. One parse of many elements is also cheaper than many of one.
 */
export function createBatches(parse: ParseList): Batches {
  let opening: Opening | undefined;
  // After a wrong guess some chunks go without one, after each further one twice as many.
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
      // It may be that only the first ones look like that.
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

/** What elements begin with. */
interface Opening {
  /** `},{"Id":` */
  readonly between: Buffer;
  /** `{"Id":` and, behind its value, `,"Name":`, which tells zones from the hostnames in them. In latin1. */
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

/** Where the comma in front of the last element stands, by the looks of it; -1 where nothing looks like one. */
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

/** As the text of a JSON list; undefined where that would be too long. */
function joinAsList(pending: readonly Buffer[], head: Buffer): string | undefined {
  let length = 1;
  for (const part of [...pending, head]) {
    if (length + part.length >= batchText.length) return undefined;
    length += part.copy(batchText, length);
  }
  batchText[length] = closeArray;
  return batchText.toString('utf8', 0, length + 1);
}
