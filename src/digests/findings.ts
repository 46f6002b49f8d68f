import type { Finding } from './kinds/kind.ts';
import { digestKinds } from './kinds/list.ts';
import type { Collected, DigestSubject } from './model.ts';

/** A kind with its figures of one run. */
type Reported = { readonly kind: (typeof digestKinds)[number]; readonly figures: unknown };

export function listReported(collected: Collected): Reported[] {
  return digestKinds.flatMap((kind) => {
    const figures = collected[kind.name];
    return figures === undefined ? [] : [{ kind, figures }];
  });
}

/** Everything that counts as a change, the most urgent first; smaller differences are noise. */
export function listFindings(reported: readonly Reported[]): Finding[] {
  return reported
    .flatMap(({ kind, figures }) => kind.listFindings(figures))
    .toSorted((a, b) => a.weight - b.weight);
}

/** When each part was last reported; undefined for a part without an earlier run. */
export function listSince(collected: Collected): (string | undefined)[] {
  return listReported(collected).flatMap(({ kind, figures }) => kind.listSince(figures));
}

/** Whether there is nothing yet to compare with. */
export function isFirstRun(collected: Collected): boolean {
  const since = listSince(collected);
  return since.length > 0 && since.every((at) => at === undefined);
}

/**
 * Whether its threshold asks a digest for silence. Parts that could not be read are never kept quiet, nor is a first run
 * by “only if something changed”: from then on people know what silence means.
 */
export function isQuiet(collected: Collected, { only }: DigestSubject): boolean {
  if (only === 'always' || collected.unread.length > 0) return false;
  const reported = listReported(collected);
  if (only === 'changed') return !isFirstRun(collected) && listFindings(reported).length === 0;
  const troubles = reported.reduce((sum, { kind, figures }) => sum + kind.countTroubles(figures), 0);
  return troubles <= only.above;
}
