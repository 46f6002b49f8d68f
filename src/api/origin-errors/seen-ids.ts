/** A set of ids in a few bytes each. */
export interface SeenIds {
  /** True the first time an id is given. */
  readonly isNew: (id: string) => boolean;
}

/** Each grows on its own: doubling one large table would block the event loop for 100 ms. */
const tables = 1024;

/**
 * Remembers ids by 53 bits of a hash: about 13 bytes per id, where a set of strings takes 100. Among a million ids two
 * collide with a chance of one in eighteen thousand. After `most` ids no more are stored, and unknown ids count as new.
 */
export function createSeenIds(most = 4_000_000): SeenIds {
  // Open addressing; 0 is an empty slot.
  const slots: Float64Array[] = [];
  const used = new Int32Array(tables);
  let size = 0;
  return { isNew: (id) => remember(hashId(id)) };

  function remember(hash: number): boolean {
    const table = (hash / 2 ** 32) & (tables - 1);
    let hashes = (slots[table] ??= new Float64Array(16));
    if (hashes[findSlot(hashes, hash)] === hash) return false;
    if (size >= most) return true;
    size += 1;
    used[table] = (used[table] as number) + 1;
    // Above three quarters, finding a slot takes long.
    if (used[table] * 4 > hashes.length * 3) {
      const larger = new Float64Array(hashes.length * 2);
      for (const one of hashes) if (one !== 0) larger[findSlot(larger, one)] = one;
      hashes = slots[table] = larger;
    }
    hashes[findSlot(hashes, hash)] = hash;
    return true;
  }
}

/** 53 bits, never 0. */
function hashId(id: string): number {
  // Two hashes side by side: multiply and mix, by primes near 2^32 divided by the golden ratio.
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  const { length } = id;
  // Two characters at a time. The length completes an odd one, so that a zero is not ambiguous.
  for (let index = 0; index < length; index += 2) {
    const next = index + 1 < length ? id.charCodeAt(index + 1) : length;
    const pair = id.charCodeAt(index) | (next << 16);
    high = Math.imul(high ^ pair, 0x9e3779b1);
    high ^= high >>> 15;
    low = Math.imul(low ^ pair, 0x5f356495);
    low ^= low >>> 13;
  }
  high ^= length;
  high = mixHash(high) ^ mixHash(low ^ 0x85ebca6b);
  low = (mixHash(low) ^ Math.imul(high, 0xc2b2ae35)) >>> 0;
  return (high & 0x1fffff) * 2 ** 32 + low || 1;
}

/** Where the hash is, or the empty slot for it. `slots.length` is a power of two. */
function findSlot(slots: Float64Array, hash: number): number {
  let at = hash & (slots.length - 1);
  while (slots[at] !== hash && slots[at] !== 0) at = (at + 1) & (slots.length - 1);
  return at;
}

function mixHash(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return once ^ (once >>> 13);
}
