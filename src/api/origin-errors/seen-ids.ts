/** A set of ids in a few bytes each. */
export interface SeenIds {
  /** True the first time an id is given. */
  readonly isNew: (id: string) => boolean;
}

const firstLength = 16;

/**
 * Remembers ids by 63 bits of a hash: about 14 bytes per id, where a set of strings takes 100. Among a million ids two
 * collide with a chance of one in eighteen million. After `most` ids no more are stored, and unknown ids count as new.
 *
 * In a thousand tables that double one by one: doubling a single one would block the event loop for 100 ms.
 */
export function createSeenIds(most = 4_000_000): SeenIds {
  const tables: { slots: Float64Array; used: number }[] = [];
  let size = 0;
  return {
    isNew(id) {
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
      return remember(high, (mixHash(low) ^ Math.imul(high, 0xc2b2ae35)) >>> 0);
    },
  };

  function remember(high: number, low: number): boolean {
    // The first ten bits select the table, 53 others are the number in it. 0 marks an empty slot.
    const hash = (high & 0x1fffff) * 2 ** 32 + low || 1;
    const table = (tables[high >>> 22] ??= { slots: new Float64Array(firstLength), used: 0 });
    const at = findSlot(table.slots, hash);
    if (table.slots[at] === hash) return false;
    if (size >= most) return true;
    size += 1;
    table.used += 1;
    table.slots[at] = hash;
    if (table.used > table.slots.length * 0.75) table.slots = double(table.slots);
    return true;
  }
}

function double(slots: Float64Array): Float64Array {
  const larger = new Float64Array(slots.length * 2);
  for (const hash of slots) if (hash !== 0) larger[findSlot(larger, hash)] = hash;
  return larger;
}

/** Open addressing: where the hash is, or the empty slot for it. */
function findSlot(slots: Float64Array, hash: number): number {
  const last = slots.length - 1;
  let at = hash & last;
  while (slots[at] !== hash && slots[at] !== 0) at = (at + 1) & last;
  return at;
}

function mixHash(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return once ^ (once >>> 13);
}
