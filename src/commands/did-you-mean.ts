/**
 * The nearest candidates, best first: equal beginnings, then few edits (one for every three letters, at most three).
 */
export function findClosest(typed: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = typed.toLowerCase();
  if (wanted === '') return [];
  const allowed = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  const near = [...new Set(candidates)].flatMap((candidate) => {
    const lower = candidate.toLowerCase();
    const isBeginning = wanted.length > 1 && lower.startsWith(wanted);
    if (!isBeginning && Math.abs(lower.length - wanted.length) > allowed) return [];
    const edits = isBeginning ? 0 : countEdits(wanted, lower);
    return edits <= allowed ? [{ candidate, edits }] : [];
  });
  return near
    .sort((a, b) => a.edits - b.edits || a.candidate.length - b.candidate.length)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** The Damerau distance with adjacent swaps. */
function countEdits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity,
      );
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
