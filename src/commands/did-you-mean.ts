/**
 * The candidates nearest to what was typed, best first: those that start with it, then those that are a few slips
 * away (a letter more, less, wrong or two swapped; one slip for every three letters, at most three). Ignores case.
 */
export function closest(typed: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = typed.toLowerCase();
  if (wanted === '') return [];
  const allowed = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  const near: { candidate: string; slips: number }[] = [];
  for (const candidate of new Set(candidates)) {
    const lower = candidate.toLowerCase();
    const slips = wanted.length > 1 && lower.startsWith(wanted) ? 0 : slipsBetween(wanted, lower, allowed);
    if (slips <= allowed) near.push({ candidate, slips });
  }
  return near
    .sort((a, b) => a.slips - b.slips || a.candidate.length - b.candidate.length)
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** Damerau's distance with adjacent swaps, given up as soon as it exceeds `limit`: it runs over 50 000 names. */
function slipsBetween(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let slips = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        slips = Math.min(slips, (before[j - 2] ?? 0) + 1);
      }
      row.push(slips);
      best = Math.min(best, slips);
    }
    if (best > limit) return limit + 1;
    before = last;
    last = row;
  }
  return last[b.length] ?? limit + 1;
}
