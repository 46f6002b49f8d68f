import { dayMs } from '../../../../../lib/time.ts';
import type { ReadZone } from './read.ts';

/** What is counted from the first look that found something wrong until it was fine for some looks. */
interface Run {
  /** Epoch ms. */
  readonly since: number;
  /** Errors by zone id that are counted already. */
  readonly counted: Readonly<Record<string, number>>;
  /** Looks since it was wrong. */
  readonly calm: number;
}

export interface RunMemory {
  readonly run?: Run | undefined;
}

/** Errors of older days are kept by the hour. */
const mostMs = dayMs;

/**
 * Errors that came since the last look while something is wrong, from `from` on: those that arrive late included, none
 * twice. `close`: looks until it is over.
 */
export function addUp(
  zones: readonly ReadZone[],
  about: {
    readonly isWrong: boolean;
    readonly from: number;
    readonly now: Date;
    readonly close: number;
    readonly memory: RunMemory | undefined;
  },
): { readonly count: number; readonly memory: RunMemory } {
  const { isWrong, from, now, close } = about;
  const before = about.memory?.run;
  if (!isWrong && !before) return { count: 0, memory: {} };
  const since = before?.since ?? from;
  const calm = isWrong ? 0 : (before?.calm ?? 0) + 1;
  const counted: Record<string, number> = { ...before?.counted };
  let count = 0;
  for (const { id, counts } of zones) {
    const known = counted[id] ?? 0;
    const { total } = counts.sum(since);
    count += Math.max(0, total - known);
    counted[id] = Math.max(known, total);
  }
  if (calm >= close) return { count, memory: {} };
  if (now.getTime() - since < mostMs) return { count, memory: { run: { since, counted, calm } } };
  const later = Object.fromEntries(zones.map(({ id, counts }) => [id, counts.sum(now.getTime()).total]));
  return { count, memory: { run: { since: now.getTime(), counted: later, calm } } };
}
