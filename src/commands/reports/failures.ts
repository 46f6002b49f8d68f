import { ApiError } from '../../api/http/errors.ts';
import { isTransient } from '../../api/http/request.ts';
import { LinkedKeyError } from '../../auth/keys/key-store.ts';
import { assertKnown, RolesUnknown } from '../../auth/policy/authorizer.ts';
import type { Reason } from '../../auth/policy/policy.ts';
import { decideDestination } from '../../auth/policy/policy.ts';
import { UserError } from '../../errors.ts';
import type { PauseReason, Report } from '../../views/reports/report.ts';
import type { ReportPorts } from './model.ts';

/** Decided again at each run, and counted: a right may be gone since the report was created. */
export async function findRefusal(
  { owner, channel }: Pick<Report, 'owner' | 'channel'>,
  {
    authorizer: authorizerOf,
    refused,
    isSharedOutside,
  }: Pick<ReportPorts, 'authorizer' | 'refused' | 'isSharedOutside'>,
  signal: AbortSignal,
): Promise<PauseReason | undefined> {
  const authorizer = authorizerOf(owner);
  // Read afresh, and so known to the decision. Who the owner is may be known for some minutes: a thousand may be due.
  const policy = await authorizer.policy({ fresh: true });
  const isOwn = channel === owner.userId;
  const decision = assertKnown(await authorizer.decide('read', isOwn ? undefined : channel));
  const isChecked = decision.allowed && !isOwn;
  const { allowed, reason } = isChecked ? decideDestination(policy, 'digest', channel) : decision;
  if (!allowed) {
    refused(reason);
    return toPauseReason(reason);
  }
  return !isOwn && (await isSharedOutside(owner, channel, signal)) ? 'channel-shared' : undefined;
}

/** A policy decision as the reason of a pause. */
function toPauseReason(reason: Reason): PauseReason {
  if (reason === 'no-key') return 'key-missing';
  if (reason === 'deactivated') return 'owner-gone';
  return reason === 'other-channel' ? 'channel-not-allowed' : 'right-lost';
}

/** Slack's word for a place that takes no message any more. */
export function toPlaceReason(code: string | undefined): PauseReason {
  return placeReasons[code ?? ''] ?? 'channel-gone';
}

const placeReasons: Readonly<Record<string, PauseReason>> = {
  not_in_channel: 'bot-removed',
  is_archived: 'channel-archived',
  channel_is_archived: 'channel-archived',
  restricted_action: 'channel-not-allowed',
  restricted_action_read_only_channel: 'channel-not-allowed',
};

/**
 * Reads a failed request to the CDN: a reason to pause, `passes` where another attempt may succeed, with the pause that
 * the CDN asks for, or undefined where it would end the same.
 */
export function classifyCdnFailure(
  error: unknown,
): PauseReason | { readonly passes: true; readonly retryAfterMs: number } | undefined {
  if (error instanceof LinkedKeyError) return 'key-missing';
  if (error instanceof UserError && error.offer === 'connect') return 'key-missing';
  const asked = error instanceof ApiError ? error : undefined;
  if (asked?.code === 'key_refused') return 'key-refused';
  // `cancelled`: the attempt took too long.
  const passes = asked ? isTransient(asked) || asked.code === 'cancelled' : error instanceof RolesUnknown;
  return passes ? { passes, retryAfterMs: (asked?.retryAfterSeconds ?? 0) * 1000 } : undefined;
}
