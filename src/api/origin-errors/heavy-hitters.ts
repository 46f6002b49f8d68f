/** How often the most frequent of many words came, in bounded memory. */
export interface HeavyHitters {
  readonly add: (word: string, times?: number) => void;
  /** The most frequent first. Each came at least `count` times and at most `count + missed` times. */
  readonly top: () => {
    readonly words: readonly (readonly [word: string, count: number])[];
    readonly missed: number;
  };
}

/**
 * Counts exactly as long as there are not more than `2 × kept` different words; from then on the rare ones are
 * forgotten now and then (the idea of Misra and Gries, 1982), and what a word may have lost by that is told.
 */
export function createHeavyHitters(kept = 500): HeavyHitters {
  let counts = new Map<string, number>();
  let missed = 0;
  return {
    add(word, times = 1) {
      counts.set(word, (counts.get(word) ?? 0) + times);
      if (counts.size <= kept * 2) return;
      const sorted = ranked(counts);
      missed += sorted[kept]?.[1] ?? 0;
      counts = new Map(sorted.slice(0, kept));
    },
    top: () => ({ words: ranked(counts), missed }),
  };
}

/** Equal counts in the order of the words, so that the same log always reads the same. */
function ranked(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
