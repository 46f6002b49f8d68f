import type { OriginErrorCounter } from './counts.ts';
import type { OriginError, OriginErrorDay, OriginErrors } from './origin-errors.ts';

export interface CountedDay extends OriginErrorDay {
  readonly counter: OriginErrorCounter;
  readonly repeated: number;
}

/**
 * Counts the entries of one zone on one UTC day while they arrive, those that came twice once. Those that are not
 * `wanted` are left out, and so from what `add` is given.
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

/** Ids that were seen before, in a few bytes each. */
export interface SeenIds {
  /** True the first time an id is given. */
  readonly isNew: (id: string) => boolean;
}

const slotsPerPage = 1024;
/** Two numbers a place; both 0 is an empty place. */
const pageLength = slotsPerPage * 2;
/** Above seven eighths, looking for a place takes long. */
const maxUsed = 896;
const pagesPerSlab = 32;
/** A page is found by so many bits at most: more are only needed by ids whose hashes are alike. */
const maxDepth = 20;
// One for all, since nothing is kept in it from one call to the next.
const splitBuffer = new Uint32Array(pageLength);

/**
 * Remembers ids by 64 bits of a hash: about 13 bytes an id where a set of strings takes 100. Two ids out of a million
 * are taken for one with a chance of one in thirty million. From `most` ids on nothing more is remembered, and every
 * id that was not seen until then counts as new.
 *
 * Pages that split when they are full (extendible hashing; Fagin and others, 1979): a table that doubles would hold
 * everybody up for 100 ms, and leave as much garbage as it has contents.
 */
export function createSeenIds(most = 4_000_000): SeenIds {
  const slabs: Uint32Array[] = [];
  /** The page of each hash that ends in these bits; its length is a power of two. */
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
      // Two characters at a time. Behind an odd one comes its own position, so that no zero stands for nothing.
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
    // Many pages in one piece of memory: the collector is slow to give back small ones.
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
  /** How many bits of the hashes in it are alike. */
  depth: number;
  used: number;
}

function storeHash(page: Page, at: number, high: number, low: number): void {
  page.slab[at] = high;
  page.slab[at + 1] = low;
  page.used += 1;
}

/** Where the pair is in its slab, or the empty place where it belongs. */
function findSlot({ slab, start }: Page, high: number, low: number): number {
  for (let at = (low << 1) & (pageLength - 1); ; at = (at + 2) & (pageLength - 1)) {
    // Written out here and below: what is made for every id is garbage half a million times.
    const one = slab[start + at];
    const two = slab[start + at + 1];
    if ((one === high && two === low) || (one === 0 && two === 0)) return start + at;
  }
}

function mixHash(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return once ^ (once >>> 13);
}
