import type { Authorizer } from './authorizer.ts';
import { type Decision, decideDestination } from './policy.ts';

/**
 * Whether somebody may export into a channel, or, without one, into their direct messages: what they may do there, and
 * whether exports may go there at all. Read afresh, since personal data leaves.
 */
export async function decideExport(authorizer: Authorizer, channel: string | undefined): Promise<Decision> {
  const right = await authorizer.decide({ needs: 'export', name: 'export' }, channel, { fresh: true });
  if (!right.allowed) return right;
  // Where channels are named, direct messages are none of them.
  const there = decideDestination(await authorizer.policy(), 'export', channel ?? 'direct messages');
  return there.allowed ? { ...right, trace: [...right.trace, ...there.trace] } : there;
}
