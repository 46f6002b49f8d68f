/**
 * The candidates nearest to a typed word, best first: those that start with it, then those within a few edits (a letter
 * more, less, wrong or two swapped; one edit for every three letters, at most three). Ignores case.
 */
export function findClosest(typed: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = typed.toLowerCase();
  if (wanted === '') return [];
  const allowed = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  // Three rows, reused for every candidate: none is much longer than the typed word.
  const createRow = () => new Uint16Array(wanted.length + 6);
  const scratch: Scratch = [createRow(), createRow(), createRow()];
  const near: { candidate: string; edits: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const lower = candidate.toLowerCase();
    const edits =
      wanted.length > 1 && lower.startsWith(wanted) ? 0 : countEdits(wanted, lower, allowed, scratch);
    if (edits <= allowed) near.push({ candidate, edits });
  }
  return near
    .sort((a, b) => a.edits - b.edits || a.candidate.length - b.candidate.length)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/**
 * The Damerau distance with adjacent swaps, abandoned when it exceeds `limit`. Only a band of `limit` around the diagonal
 * is computed, since this runs over 50,000 names.
 */
function countEdits(a: string, b: string, limit: number, scratch: Scratch): number {
  const beyond = limit + 1;
  if (Math.abs(a.length - b.length) > limit) return beyond;
  let [before, last, row] = scratch;
  for (let j = 0; j <= b.length; j += 1) last[j] = j <= limit ? j : beyond;
  for (let i = 1; i <= a.length; i += 1) {
    const from = Math.max(1, i - limit);
    const to = Math.min(b.length, i + limit);
    row[from - 1] = i <= limit ? i : beyond;
    row[to + 1] = beyond;
    let best = row[from - 1] ?? beyond;
    for (let j = from; j <= to; j += 1) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped =
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
      if (i > 1 && j > 1 && swapped) edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      row[j] = edits;
      if (edits < best) best = edits;
    }
    if (best > limit) return beyond;
    [before, last, row] = [last, row, before];
  }
  return last[b.length] ?? beyond;
}

type Scratch = readonly [Uint16Array, Uint16Array, Uint16Array];
