import { ApiError } from '../api/http/errors.ts';
import { isUnwell } from '../api/http/retry.ts';
import { LinkedKeyError } from '../auth/keys/key-store.ts';
import type { Reason } from '../auth/policy/policy.ts';
import { UserError } from '../errors.ts';
import { minuteMs } from '../lib/time.ts';
import { SlackFailure } from '../outbox/slack-port.ts';
import type { PauseReason } from './model.ts';

/** What a failure means for a digest. */
export type FailureClass =
  /** It cannot go on until a person does something. */
  | { readonly kind: 'halt'; readonly reason: PauseReason }
  /** The same may work in a moment. */
  | { readonly kind: 'later'; readonly afterMs: number }
  /** Trying again would end the same. */
  | { readonly kind: 'failed' };

/** Between two attempts at asking the CDN, growing with each. */
const pauseMs = 20_000;
/** As long as the CDN may ask to be left alone. */
const longestMs = 10 * minuteMs;

/** Asking the CDN failed. `failures`: requests of this run that brought nothing, 1 at least; `most` of them end it. */
export function classifyCdnFailure(error: unknown, failures: number, most: number): FailureClass {
  if (error instanceof LinkedKeyError) return { kind: 'halt', reason: 'key-missing' };
  if (error instanceof UserError && error.offer === 'connect') return { kind: 'halt', reason: 'key-missing' };
  if (!(error instanceof ApiError)) return { kind: 'failed' };
  if (error.code === 'key_refused') return { kind: 'halt', reason: 'key-refused' };
  // `cancelled`: the attempt took too long; that the bot stops is seen before.
  const mayWork = isUnwell(error) || error.code === 'cancelled';
  if (!mayWork || failures >= most) return { kind: 'failed' };
  const asked = (error.retryAfterSeconds ?? 0) * 1000;
  return { kind: 'later', afterMs: Math.min(longestMs, Math.max(asked, pauseMs * 2 ** (failures - 1))) };
}

/** Policy refused. */
export function pauseFor(reason: Reason): PauseReason {
  if (reason === 'no-key') return 'key-missing';
  return reason === 'other-channel' ? 'channel-not-allowed' : 'right-lost';
}

const channelTrouble: Readonly<Record<string, PauseReason>> = {
  not_in_channel: 'bot-removed',
  is_archived: 'channel-archived',
  channel_is_archived: 'channel-archived',
  channel_not_found: 'channel-gone',
  account_inactive: 'uninstalled',
  token_revoked: 'uninstalled',
  token_expired: 'uninstalled',
  invalid_auth: 'uninstalled',
  not_authed: 'uninstalled',
  team_access_not_granted: 'uninstalled',
  restricted_action: 'channel-not-allowed',
  restricted_action_read_only_channel: 'channel-not-allowed',
};

/** Slack refused a post. */
export function classifySlackFailure(error: unknown): FailureClass {
  // What is no failure of Slack's is known to have sent nothing: no installation, no token.
  if (error instanceof UserError) return { kind: 'halt', reason: 'uninstalled' };
  if (!(error instanceof SlackFailure)) return { kind: 'failed' };
  if (error.code === 'ratelimited') {
    return { kind: 'later', afterMs: Math.min(longestMs, Math.max(1, error.retryAfterSeconds ?? 30) * 1000) };
  }
  const reason = Object.hasOwn(channelTrouble, error.code) ? channelTrouble[error.code] : undefined;
  return reason ? { kind: 'halt', reason } : { kind: 'failed' };
}
