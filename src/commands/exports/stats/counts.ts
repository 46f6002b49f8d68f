import { randomBytes } from 'node:crypto';

export interface TopValues {
  readonly words: readonly (readonly [word: string, count: number])[];
  /** 0: the counts are exact. */
  readonly missed: number;
}

export type GroupCounts = ReturnType<typeof createGroupCounts>;

/**
 * Counts the most frequent values in bounded memory. Misra-Gries heavy hitters: exact up to `2 × kept` different values. A hash table over bytes instead of a Map of
 * strings, which takes five times as long: a million rows have five million values.
 *
 * Attackers choose the values: the hash is seeded per process, and values are compared byte by byte, so that they cannot
 * merge two values, or collide all of them.
 */
export function createGroupCounts({
  /** Values that are kept when there are twice as many. */
  kept = 4096,
  /** Values that agree in so many bytes count as one. */
  longest = 256,
} = {}) {
  const most = kept * 2;
  const places = 2 ** Math.ceil(Math.log2(most * 2));
  const mask = places - 1;
  const seed = randomBytes(4).readInt32LE();
  /** By hash: the value's index plus one; 0 is free. */
  let table = new Int32Array(places);
  let words = 0;
  let missed = 0;
  const hashes = new Int32Array(most);
  const starts = new Int32Array(most);
  const lengths = new Int32Array(most);
  const counts = new Float64Array(most);
  let letters = Buffer.allocUnsafeSlow(16_384);
  let written = 0;

  /** The value's index, or -1 minus its place in the table. */
  const find = (hash: number, bytes: Uint8Array, from: number, length: number): number => {
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const word = (table[place] as number) - 1;
      if (word < 0) return -1 - place;
      if (hashes[word] !== hash || lengths[word] !== length) continue;
      const start = starts[word] as number;
      let same = 0;
      while (same < length && letters[start + same] === bytes[from + same]) same += 1;
      if (same === length) return word;
    }
  };

  const put = (place: number, hash: number, value: Uint8Array, count: number): void => {
    const { length } = value;
    if (written + length > letters.length) letters = enlarge(letters, written + length);
    letters.set(value, written);
    table[place] = words + 1;
    hashes[words] = hash;
    starts[words] = written;
    lengths[words] = length;
    counts[words] = count;
    words += 1;
    written += length;
  };

  const rankWords = (): number[] =>
    Array.from({ length: words }, (_, word) => word).sort(
      (one, other) => (counts[other] as number) - (counts[one] as number),
    );

  const readWord = (word: number): readonly [string, number] => {
    const start = starts[word] as number;
    const length = lengths[word] as number;
    const text = letters.toString('utf8', start, start + length);
    // A truncated value may end within a character.
    return [length === longest ? `${text.replace(/\u{fffd}+$/u, '')}…` : text, counts[word] as number];
  };

  /** Drops the rarer half. */
  const thin = (): void => {
    const ranks = rankWords();
    missed += counts[ranks[kept] as number] as number;
    const before = letters;
    const staying = ranks.slice(0, kept).map((word) => {
      const from = starts[word] as number;
      const value = before.subarray(from, from + (lengths[word] as number));
      return { hash: hashes[word] as number, count: counts[word] as number, value };
    });
    letters = Buffer.allocUnsafeSlow(before.length);
    table = new Int32Array(places);
    words = 0;
    written = 0;
    for (const { hash, count, value } of staying)
      put(-1 - find(hash, value, 0, value.length), hash, value, count);
  };

  return {
    add(bytes: Uint8Array, from: number, to: number): void {
      const length = Math.min(to - from, longest);
      const hash = hashOf(bytes, from, from + length, seed);
      const word = find(hash, bytes, from, length);
      if (word >= 0) counts[word] = (counts[word] as number) + 1;
      else {
        put(-1 - word, hash, bytes.subarray(from, from + length), 1);
        if (words === most) thin();
      }
    },
    /** The most frequent first. Each occurred `count` to `count + missed` times; only these are decoded. */
    top: (most: number): TopValues => ({ words: rankWords().slice(0, most).map(readWord), missed }),
  };
}

/** Multiply and mix, four bytes at a time. */
function hashOf(bytes: Uint8Array, from: number, to: number, seed: number): number {
  let hash = seed ^ (to - from);
  let at = from;
  for (; at + 3 < to; at += 4) {
    const four =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    hash = Math.imul(hash ^ four, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x5f356495);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0x85ebca6b);
  return hash ^ (hash >>> 16);
}

function enlarge(bytes: Buffer, needed: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, bytes.length * 2));
  bytes.copy(larger);
  return larger;
}
