import { UserError } from '../errors.ts';
import { SlackFailure } from './slack-port.ts';

/** The meaning of a failed call to Slack for a message. The only table of Slack's error codes. */
export type FailureClass =
  /** Nothing was done; the same call may work later. */
  | { readonly kind: 'retry'; readonly code: string; readonly afterMs: number }
  /** Slack may have done it: no answer, or an answer that leaves it open. */
  | { readonly kind: 'unknown'; readonly code: string }
  /** This channel or person takes no message of the bot; another place may. */
  | { readonly kind: 'place-gone'; readonly code: string }
  /** The app was uninstalled, or its token is void: nothing reaches this workspace. */
  | { readonly kind: 'app-gone'; readonly code: string }
  /** Slack or the secret scanner takes this message nowhere as it is. */
  | { readonly kind: 'refused'; readonly code: string; readonly reference?: string | undefined }
  /** No answer of Slack's: a bug, or a database that does not answer. Nothing was sent. */
  | { readonly kind: 'not-sent'; readonly code: 'not_sent' };

const longestPauseMs = 10 * 60_000;

// https://docs.slack.dev/reference/methods/chat.postMessage#errors
const placeCodes = new Set([
  'not_in_channel',
  'channel_not_found',
  'is_archived',
  'channel_is_archived',
  'restricted_action',
  'restricted_action_read_only_channel',
  'restricted_action_thread_only_channel',
  'user_not_found',
  'user_disabled',
  'cannot_dm_bot',
  'messages_tab_disabled',
]);
const appCodes = new Set([
  'account_inactive',
  'token_revoked',
  'token_expired',
  'invalid_auth',
  'not_authed',
  'team_access_not_granted',
]);

// Slack did nothing, and the same call may work later.
// https://docs.slack.dev/reference/methods/chat.postMessage#errors
const passingCodes = new Set([
  'ratelimited',
  'rate_limited',
  'message_limit_exceeded',
  'team_added_to_org',
  'org_login_required',
  'accesslimited',
]);

/** Whether Slack's word is about the channel or person that was written to. */
export function isPlaceCode(code: string | undefined): boolean {
  return code !== undefined && placeCodes.has(code);
}

export function classifySlackFailure(error: unknown): FailureClass {
  // Before anything was sent: no installation, no token.
  if (error instanceof UserError) return { kind: 'app-gone', code: 'not_installed' };
  if (!(error instanceof SlackFailure)) return { kind: 'not-sent', code: 'not_sent' };
  const { code, outcome, reference } = error;
  if (passingCodes.has(code)) {
    const afterMs = Math.max(1, error.retryAfterSeconds ?? 30) * 1000;
    return { kind: 'retry', code, afterMs: Math.min(longestPauseMs, afterMs) };
  }
  if (outcome === 'unknown') return { kind: 'unknown', code };
  if (placeCodes.has(code)) return { kind: 'place-gone', code };
  if (appCodes.has(code)) return { kind: 'app-gone', code };
  return { kind: 'refused', code, reference };
}
