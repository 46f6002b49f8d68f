import type { OriginErrorCounter } from './counts.ts';
import type { OriginError, OriginErrorDay, OriginErrors } from './origin-errors.ts';

export interface CountedDay extends OriginErrorDay {
  readonly counter: OriginErrorCounter;
  readonly repeated: number;
}

/**
 * Counts the entries of one zone on one UTC day while they arrive, repeated ones once. Entries that are not `wanted` are
 * left out.
 *
 * @throws ApiError
 */
export async function countDay(
  originErrors: OriginErrors,
  zoneId: string,
  day: string,
  ids: SeenIds,
  counter: OriginErrorCounter,
  wanted: (entry: OriginError) => boolean = () => true,
): Promise<CountedDay> {
  let repeated = 0;
  const read = await originErrors.forEach(zoneId, day, (entry) => {
    if (!wanted(entry)) return;
    if (entry.id === '' || ids.isNew(entry.id)) counter.add(entry);
    else repeated += 1;
  });
  return { ...read, counter, repeated };
}

/** A set of ids in a few bytes each. */
export interface SeenIds {
  /** True the first time an id is given. */
  readonly isNew: (id: string) => boolean;
}

const slotsPerPage = 1024;
/** Two numbers per slot; both 0 is an empty slot. */
const pageLength = slotsPerPage * 2;
/** Above seven eighths, finding a slot takes long. */
const maxUsed = 896;
const pagesPerSlab = 32;
/** Bits that select a page, at most: more are only needed for ids with equal hashes. */
const maxDepth = 20;
// Shared: nothing is kept in it between calls.
const splitBuffer = new Uint32Array(pageLength);

/**
 * Remembers ids by 64 bits of a hash: about 13 bytes per id, where a set of strings takes 100. Among a million ids two
 * collide with a chance of one in thirty million. After `most` ids no more are stored, and unknown ids count as new.
 *
 * Pages split when they are full (extendible hashing; Fagin and others, 1979): doubling one table would block the event
 * loop for 100 ms and leave as much garbage as it has contents.
 */
export function createSeenIds(most = 4_000_000): SeenIds {
  const slabs: Uint32Array[] = [];
  /** The page for each ending of a hash in bits; its length is a power of two. */
  let directory = [0];
  const pages: Page[] = [];
  let size = 0;
  addPage(0);

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
      return remember(high >>> 0, (mixHash(low) ^ Math.imul(high, 0xc2b2ae35)) >>> 0);
    },
  };

  function remember(high: number, low: number): boolean {
    for (;;) {
      const page = pages[directory[high & (directory.length - 1)] ?? 0] as Page;
      const { slab } = page;
      const at = findSlot(page, high, low);
      if (slab[at] !== 0 || slab[at + 1] !== 0) return false;
      if (size >= most || (page.used === maxUsed && page.depth === maxDepth)) return true;
      if (page.used < maxUsed) {
        size += 1;
        storeHash(page, at, high, low);
        return true;
      }
      split(page, high);
    }
  }

  function addPage(depth: number): Page {
    const index = pages.length % pagesPerSlab;
    // Many pages in one buffer: the collector frees small ones slowly.
    if (index === 0) slabs.push(new Uint32Array(pageLength * pagesPerSlab));
    const slab = slabs.at(-1) as Uint32Array;
    const page = { slab, start: index * pageLength, depth, used: 0 };
    pages.push(page);
    return page;
  }

  /** Moves half of a page into a new one, by the next bit of the hashes in it, of which `high` is one. */
  function split(page: Page, high: number): void {
    const bit = 2 ** page.depth;
    if (bit === directory.length) directory = [...directory, ...directory];
    page.depth += 1;
    const other = addPage(page.depth);
    splitBuffer.set(page.slab.subarray(page.start, page.start + pageLength));
    page.slab.fill(0, page.start, page.start + pageLength);
    page.used = 0;
    for (let from = 0; from < pageLength; from += 2) {
      const one = splitBuffer[from] ?? 0;
      const two = splitBuffer[from + 1] ?? 0;
      if (one === 0 && two === 0) continue;
      const to = (one & bit) === 0 ? page : other;
      storeHash(to, findSlot(to, one, two), one, two);
    }
    for (let entry = (high & (bit - 1)) | bit; entry < directory.length; entry += bit * 2)
      directory[entry] = pages.length - 1;
  }
}

/** Open addressing. */
interface Page {
  readonly slab: Uint32Array;
  readonly start: number;
  /** Bits that all its hashes share. */
  depth: number;
  used: number;
}

function storeHash(page: Page, at: number, high: number, low: number): void {
  page.slab[at] = high;
  page.slab[at + 1] = low;
  page.used += 1;
}

/** The offset of the pair in its slab, or of the empty slot for it. */
function findSlot({ slab, start }: Page, high: number, low: number): number {
  for (let at = (low << 1) & (pageLength - 1); ; at = (at + 2) & (pageLength - 1)) {
    // Written out here and below: an object per id would be garbage half a million times.
    const one = slab[start + at];
    const two = slab[start + at + 1];
    if ((one === high && two === low) || (one === 0 && two === 0)) return start + at;
  }
}

function mixHash(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return once ^ (once >>> 13);
}
