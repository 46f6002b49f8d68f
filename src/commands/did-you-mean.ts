/**
 * The candidates nearest to what was typed, best first: those that start with it, then those that are a few slips
 * away (a letter more, less, wrong or two swapped; one slip for every three letters, at most three). Ignores case.
 */
export function findClosest(typed: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = typed.toLowerCase();
  if (wanted === '') return [];
  const allowed = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  const scratch = scratchFor(wanted.length);
  const near: { candidate: string; slips: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const lower = candidate.toLowerCase();
    const slips =
      wanted.length > 1 && lower.startsWith(wanted) ? 0 : slipsBetween(wanted, lower, allowed, scratch);
    if (slips <= allowed) near.push({ candidate, slips });
  }
  return near
    .sort((a, b) => a.slips - b.slips || a.candidate.length - b.candidate.length)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/**
 * Damerau's distance with adjacent swaps, given up as soon as it exceeds `limit`. Only a band of `limit` around the
 * diagonal can stay below it, so only that is filled: this runs over 50 000 names while others wait.
 */
function slipsBetween(a: string, b: string, limit: number, scratch: Scratch): number {
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
      let slips = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const swapped =
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
      if (i > 1 && j > 1 && swapped) slips = Math.min(slips, (before[j - 2] ?? 0) + 1);
      row[j] = slips;
      if (slips < best) best = slips;
    }
    if (best > limit) return beyond;
    [before, last, row] = [last, row, before];
  }
  return last[b.length] ?? beyond;
}

type Scratch = readonly [Uint16Array, Uint16Array, Uint16Array];

/** Three rows, used again for every candidate: none that is looked at is much longer than what was typed. */
function scratchFor(longest: number): Scratch {
  return [new Uint16Array(longest + 6), new Uint16Array(longest + 6), new Uint16Array(longest + 6)];
}
