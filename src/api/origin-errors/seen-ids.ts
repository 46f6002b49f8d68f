/** A set of ids in a few bytes each. */
export interface SeenIds {
  /** True the first time an id is given. */
  readonly isNew: (id: string) => boolean;
}

interface Page {
  /** 0 is an empty slot. */
  readonly slots: Float64Array;
  used: number;
  /** Bits that all its hashes share. */
  depth: number;
}

const pageLength = 1024;
/** Above seven eighths, finding a slot takes long. */
const maxUsed = 896;
/** Of the 53 bits of a hash, those that select a page. */
const maxDepth = 21;
// Shared: nothing is kept in it between calls.
const splitBuffer = new Float64Array(pageLength);

/**
 * Remembers ids by 53 bits of a hash: about 13 bytes per id, where a set of strings takes 100. Among a million ids two
 * collide with a chance of one in eighteen thousand. After `most` ids no more are stored, and unknown ids count as new.
 *
 * Pages split when they are full (extendible hashing; Fagin and others, 1979): doubling one table would block the event
 * loop for 100 ms and leave as much garbage as it has contents.
 */
export function createSeenIds(most = 4_000_000): SeenIds {
  /** The page for each ending of `high`; its length is a power of two. */
  let directory: Page[] = [createPage(0)];
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
    const hash = (high & 0x1fffff) * 2 ** 32 + low || 1;
    for (;;) {
      const page = directory[high & (directory.length - 1)] as Page;
      if (page.slots[findSlot(page.slots, hash)] === hash) return false;
      if (size >= most || (page.used === maxUsed && page.depth === maxDepth)) return true;
      if (page.used < maxUsed) {
        size += 1;
        store(page, hash);
        return true;
      }
      split(page);
    }
  }

  /** Moves half of a page into a new one, by the next bit of the hashes in it. */
  function split(page: Page): void {
    const bit = 2 ** page.depth;
    if (bit === directory.length) directory = [...directory, ...directory];
    page.depth += 1;
    const other = createPage(page.depth);
    directory = directory.map((one, ending) => (one === page && (ending & bit) !== 0 ? other : one));
    splitBuffer.set(page.slots);
    page.slots.fill(0);
    page.used = 0;
    for (const hash of splitBuffer)
      if (hash !== 0) store((Math.floor(hash / 2 ** 32) & bit) === 0 ? page : other, hash);
  }
}

function createPage(depth: number): Page {
  return { slots: new Float64Array(pageLength), used: 0, depth };
}

function store(page: Page, hash: number): void {
  page.slots[findSlot(page.slots, hash)] = hash;
  page.used += 1;
}

/** Open addressing: where the hash is, or the empty slot for it. */
function findSlot(slots: Float64Array, hash: number): number {
  let at = hash & (pageLength - 1);
  while (slots[at] !== hash && slots[at] !== 0) at = (at + 1) & (pageLength - 1);
  return at;
}

function mixHash(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return once ^ (once >>> 13);
}
