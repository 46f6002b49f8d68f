export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openArray = 0x5b;
export const closeArray = 0x5d;
export const openObject = 0x7b;
export const closeObject = 0x7d;

/** 1 for quotes and brackets: the bytes at which reading a value is interrupted. */
const isSign = new Uint8Array(256);
for (const byte of [quote, openArray, closeArray, openObject, closeObject]) isSign[byte] = 1;

/** Where in an element the last chunk ended. */
export interface Place {
  /** Brackets that are open. */
  level: number;
  isText: boolean;
  /** The next byte stands behind a backslash. */
  isEscaped: boolean;
}

/** Between two elements. */
export function newPlace(): Place {
  return { level: 0, isText: false, isEscaped: false };
}

/**
 * Where the element that goes on at `start` ends: the comma behind it or the bracket that closes the list; the length
 * of `bytes` where it goes on in the next chunk. Small and on its own, since it looks at every byte.
 */
export function nextBorder(bytes: Uint8Array, start: number, place: Place): number {
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
