import { UserError } from '../errors.ts';
import { SlackFailure } from './slack-port.ts';

/** What an error code of Slack means for a call. */
export type CodeMeaning =
  /** Slack did nothing, and the same call works later. */
  | 'pass'
  /** An error of Slack itself: its documentation leaves open whether the call took effect. */
  | 'unclear'
  /** The installation or the plan does not include it; somebody who administers Slack can change that. */
  | 'lacking'
  /** A setting of the workspace forbids it; somebody who administers Slack can lift it. */
  | 'lift'
  /** This channel or person takes no message of the bot; another place may. */
  | 'place'
  /** The app was taken out, or its token is void. */
  | 'app'
  /** What the call is about is there no more, or never was. */
  | 'absent'
  /** Slack takes this content nowhere. */
  | 'refused';

/**
 * The only table of Slack's error codes. Source: the errors of each method at https://docs.slack.dev/reference/methods,
 * and public reports of codes that are not listed there.
 */
const meanings: Readonly<Record<string, CodeMeaning>> = {
  ...of('pass', 'ratelimited', 'rate_limited', 'message_limit_exceeded', 'team_added_to_org'),
  ...of('pass', 'org_login_required', 'accesslimited', 'upload_failed'),
  ...of('unclear', 'internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'),
  ...of('lacking', 'missing_scope', 'not_allowed_token_type', 'no_permission', 'team_access_not_granted'),
  ...of('lacking', 'plan_upgrade_required', 'unknown_method'),
  ...of('lift', 'access_denied', 'ekm_access_denied', 'enterprise_is_restricted'),
  ...of('lift', 'file_uploads_disabled', 'blocked_file_type', 'file_upload_size_restricted'),
  ...of('place', 'not_in_channel', 'channel_not_found', 'is_archived', 'channel_is_archived'),
  ...of(
    'place',
    'restricted_action',
    'restricted_action_read_only_channel',
    'restricted_action_thread_only_channel',
  ),
  ...of('place', 'restricted_action_non_threadable_channel', 'restricted_action_thread_locked'),
  ...of('place', 'user_disabled', 'cannot_dm_bot', 'messages_tab_disabled', 'user_not_found'),
  ...of('app', 'account_inactive', 'token_revoked', 'token_expired', 'invalid_auth', 'not_authed'),
  ...of('app', 'invalid_refresh_token'),
  ...of(
    'absent',
    'message_not_found',
    'edit_window_closed',
    'cant_update_message',
    'file_not_found',
    'file_deleted',
  ),
  ...of('absent', 'user_not_visible', 'no_such_subteam', 'subteam_disabled'),
  ...of('absent', 'execution_not_in_running_state', 'function_execution_not_found'),
};

function of(meaning: CodeMeaning, ...codes: readonly string[]): Record<string, CodeMeaning> {
  return Object.fromEntries(codes.map((code) => [code, meaning]));
}

/** The meaning of Slack's code; a code that is not in the table is about what was sent. */
export function readCode(code: string | undefined): CodeMeaning {
  if (code !== undefined && Object.hasOwn(meanings, code)) return meanings[code] ?? 'refused';
  // Slack adds kinds of restrictions to channels.
  return code?.startsWith('restricted_action') ? 'place' : 'refused';
}

/** Whether the same call works once somebody has changed the installation, the plan or a setting. */
export function canBeLifted(code: string): boolean {
  const meaning = readCode(code);
  return meaning === 'lift' || meaning === 'lacking';
}

/** What whoever administers Slack does about a code that somebody can lift. */
export function describeLift(code: string): string {
  switch (code) {
    case 'missing_scope':
    case 'not_allowed_token_type':
      return 'Install the app again with the current manifest: it lacks a permission.';
    case 'team_access_not_granted':
      return 'Grant the app access to this workspace in the organisation’s settings.';
    case 'ekm_access_denied':
      return 'Enterprise Key Management keeps the bot out of this channel: restore its access.';
    case 'plan_upgrade_required':
      return 'The plan of this workspace does not include it.';
    default:
      return 'A setting of the workspace forbids it: an admin can allow it.';
  }
}

/** The meaning of a failed call to Slack for a message. */
export type FailureClass =
  /** Nothing was done; the same call may work later: after the pause that Slack asked for, if it did. */
  | { readonly kind: 'retry'; readonly code: string; readonly askedMs: number | undefined }
  /** Slack may have done it: no answer, or an answer that leaves it open. */
  | { readonly kind: 'unknown'; readonly code: string }
  /** Nothing was done until somebody changes a setting in Slack. */
  | { readonly kind: 'lift'; readonly code: string }
  /** This channel or person takes no message of the bot; another place may. */
  | { readonly kind: 'place-gone'; readonly code: string }
  /** The app was uninstalled, or its token is void: nothing reaches this workspace. */
  | { readonly kind: 'app-gone'; readonly code: string }
  /** Slack or the secret scanner takes this message nowhere as it is. */
  | { readonly kind: 'refused'; readonly code: string; readonly reference?: string | undefined }
  /** Not an answer of Slack: a bug, or a database that does not answer. Nothing was sent. */
  | { readonly kind: 'not-sent'; readonly code: 'not_sent' };

const longestPauseMs = 10 * 60_000;

/** Whether Slack's code is about the channel or person that was written to. */
export function isPlaceCode(code: string | undefined): boolean {
  return readCode(code) === 'place';
}

export function classifySlackFailure(error: unknown): FailureClass {
  // Before anything was sent: no installation, no token.
  if (error instanceof UserError) return { kind: 'app-gone', code: 'not_installed' };
  if (!(error instanceof SlackFailure)) return { kind: 'not-sent', code: 'not_sent' };
  const { code, outcome, reference, retryAfterSeconds } = error;
  const meaning = readCode(code);
  if (meaning === 'pass') {
    const askedMs = retryAfterSeconds && Math.min(longestPauseMs, Math.max(1, retryAfterSeconds) * 1000);
    return { kind: 'retry', code, askedMs };
  }
  if (outcome === 'unknown') return { kind: 'unknown', code };
  if (canBeLifted(code)) return { kind: 'lift', code };
  if (meaning === 'place') return { kind: 'place-gone', code };
  if (meaning === 'app') return { kind: 'app-gone', code };
  return { kind: 'refused', code, reference };
}
