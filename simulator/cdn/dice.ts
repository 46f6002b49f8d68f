/** Numbers that look random and are the same in every run: generated data is a function of its seed. */
export interface RandomSource {
  /** 0 ≤ x < 1 */
  next(): number;
  /** A whole number, both ends included. */
  between(low: number, high: number): number;
  pick<L extends readonly [unknown, ...unknown[]]>(from: L): L[number];
  /** True with this probability (0 to 1). */
  chance(probability: number): boolean;
}

/** A dice for one seed (mulberry32: tiny, fast, good enough for made-up data and nothing else). */
export function createRandom(seed: number): RandomSource {
  // Neighbouring seeds are spread first; without it zone 1 and zone 2 would look alike.
  let state = Math.imul(seed + 1, 0x9e37_79b1) | 0;
  const next = (): number => {
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (from) => from[Math.floor(next() * from.length)] ?? from[0],
    chance: (probability) => next() < probability,
  };
}

/** The seed that belongs to a text (FNV-1a), for things that are known by name. */
export function hashSeed(text: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193);
  }
  return hash >>> 0;
}
