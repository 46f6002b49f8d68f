/** Ids that were seen before, in a few bytes each. */
export interface SeenIds {
  /** True the first time an id is given. */
  readonly isNew: (id: string) => boolean;
}

// Many small tables instead of a large one: making a large one larger would hold everybody up for 100 ms.
const shards = 256;
const smallest = 64;

/**
 * Remembers ids by 64 bits of a hash: 16 bytes an id where a set of strings takes 100. Two ids out of a million are
 * taken for one with a chance of one in thirty million. From `most` ids on nothing more is remembered, and every id
 * that was not seen until then counts as new.
 */
export function createSeenIds(most = 4_000_000): SeenIds {
  const tables: Table[] = [];
  let size = 0;
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
      high = mixed(high) ^ mixed(low ^ 0x85ebca6b);
      low = mixed(low) ^ Math.imul(high, 0xc2b2ae35);
      const shard = (high >>> 24) % shards;
      const table = (tables[shard] ??= newTable(smallest));
      if (has(table, high >>> 0, low >>> 0)) return false;
      if (size >= most) return true;
      size += 1;
      tables[shard] = put(table, high >>> 0, low >>> 0);
      return true;
    },
  };
}

/** Open addressing. Both halves 0 is an empty place. */
interface Table {
  readonly slots: Uint32Array;
  used: number;
}

function newTable(places: number): Table {
  return { slots: new Uint32Array(places * 2), used: 0 };
}

function has(table: Table, high: number, low: number): boolean {
  const at = placeOf(table.slots, high, low);
  return table.slots[at] !== 0 || table.slots[at + 1] !== 0;
}

function put(table: Table, high: number, low: number): Table {
  const roomy = table.used * 3 < table.slots.length ? table : doubled(table);
  const at = placeOf(roomy.slots, high, low);
  roomy.slots[at] = high;
  roomy.slots[at + 1] = low;
  roomy.used += 1;
  return roomy;
}

function doubled({ slots }: Table): Table {
  let larger = newTable(slots.length);
  for (let at = 0; at < slots.length; at += 2) {
    const high = slots[at] ?? 0;
    const low = slots[at + 1] ?? 0;
    if (high !== 0 || low !== 0) larger = put(larger, high, low);
  }
  return larger;
}

/** Where the pair is, or the empty place where it belongs. */
function placeOf(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length - 1;
  for (let at = (low << 1) & mask; ; at = (at + 2) & mask) {
    if ((slots[at] === high && slots[at + 1] === low) || (slots[at] === 0 && slots[at + 1] === 0)) return at;
  }
}

function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return once ^ (once >>> 13);
}
