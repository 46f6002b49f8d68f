import { type AffectedPerson, computeEffects, type Power } from './changes.ts';
import { countRequiredApprovals, type Policy } from './policy.ts';

const approvedClasses = ['destroy', 'change'] as const;

/** Why a change of settings waits for a second admin. */
export interface Lowering {
  /** Classes that would need fewer approvals. */
  readonly fewer: readonly (typeof approvedClasses)[number][];
  /** Rights above `read` that its author would gain, in some place. */
  readonly gains: readonly Power[];
  /** No second admin would be asked any more. */
  readonly off: boolean;
}

/** Undefined: one admin decides. `author`: the groups are those of both policies that they are in. */
export function findLowering(before: Policy, after: Policy, author: AffectedPerson): Lowering | undefined {
  if (!before.secondAdmin) return undefined;
  const fewer = approvedClasses.filter(
    (needs) => countRequiredApprovals(after, needs) < countRequiredApprovals(before, needs),
  );
  // Also through a group, or in a channel whose cap goes.
  const gained = computeEffects(before, after, [author]).flatMap(({ gains }) => gains);
  const gains = [...new Set(gained)].filter((power) => power !== 'read');
  const off = !after.secondAdmin;
  return off || fewer.length + gains.length > 0 ? { fewer, gains, off } : undefined;
}
