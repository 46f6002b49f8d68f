/**
 * Counts exactly up to `2 × kept` different words. Beyond that the rare ones are dropped now and then (the idea of Misra
 * and Gries, 1982), and `missed` bounds what a word may have lost.
 */
export function createHeavyHitters(kept = 500) {
  let counts = new Map<string, number>();
  let missed = 0;
  // Equal counts are ordered by word, so that the same log always gives the same answer.
  const rank = () => [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return {
    add(word: string, times = 1): void {
      counts.set(word, (counts.get(word) ?? 0) + times);
      if (counts.size <= kept * 2) return;
      const ranked = rank();
      missed += ranked[kept]?.[1] ?? 0;
      counts = new Map(ranked.slice(0, kept));
    },
    /** The most frequent first. Each occurred between `count` and `count + missed` times. */
    top: () => ({ words: rank(), missed }),
  };
}
