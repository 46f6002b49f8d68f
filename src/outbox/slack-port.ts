import type { Installation } from '../auth/identity.ts';
import { UserError } from '../errors.ts';
import { minuteMs } from '../lib/time.ts';
import type { Attachment, Message } from '../views/blocks/blocks.ts';

export type OpenSlack = (installation: Installation, signal: AbortSignal) => SlackPort;

export type Posted = { readonly channel: string; readonly ts: string };

/** Slack for jobs: its own clients, which never delay an answer to a person. Every method throws `SlackFailure`. */
export interface SlackPort {
  /** Posts into a channel the bot is in, or, with a user's id, into their direct messages. Never retries. */
  post(
    channel: string,
    message: Message,
    /** `id`: metadata by which the message is found again. Never a secret. */
    options: { readonly id: string; readonly thread?: string | undefined },
  ): Promise<Posted>;
  update(at: Posted, message: Message): Promise<void>;
  /** Between which moments of Slack's clock a moment of this machine's lies. */
  toSlackTime(at: Date): { readonly since: Date; readonly until: Date };
  /** Looks for a message of the bot's with this id. Undefined: it is certainly not there. */
  find(id: string, where: FindWhere): Promise<Posted | undefined>;
  /** Shares files with one message. Spooled files are deleted, however it ends. */
  share(
    files: readonly Attachment[],
    target: {
      readonly channel: string;
      readonly thread?: string | undefined;
      readonly comment?: string | undefined;
      /** Runs when Slack has all bytes and does not show them yet. If it throws, the files are never shown. */
      readonly beforeShare?: ((fileIds: readonly string[]) => Promise<void>) | undefined;
    },
  ): Promise<void>;
  /** Ends the run of a step of Workflow Builder; one that has ended already, or is gone, is no failure. */
  completeStep(
    run: string,
    end: { readonly outputs: Readonly<Record<string, unknown>> } | { readonly error: string },
  ): Promise<void>;
  readAudience(channel: string): Promise<Audience>;
  deleteFile(fileId: string): Promise<void>;
}

/** People of this organization only, of others too, or unknown with Slack's reason. */
export type Audience = 'own' | 'others' | { readonly unknown: string };

export interface FindWhere {
  readonly channel: string;
  /** Posted between these moments of Slack's clock: another machine, whose clock differs, may have posted it. */
  readonly since: Date;
  readonly until: Date;
  readonly thread?: string | undefined;
}

export type CodeMeaning =
  /** Slack did nothing, and the same call works later. */
  | 'pass'
  /** An error of Slack itself: its documentation leaves open whether the call took effect. */
  | 'unclear'
  /** The installation or the plan does not include it; somebody who administers Slack can change that. */
  | 'lacking'
  /** A setting of the workspace forbids it; somebody who administers Slack can lift it. */
  | 'lift'
  /** This channel or person takes no message of the bot (`channel_shared`: the bot itself posts none); another place may. */
  | 'place'
  /** The app was taken out. Not `invalid_auth`, which may be about the bot's own address. */
  | 'app'
  /** What the call is about is there no more, or never was. */
  | 'absent'
  /** Slack takes this content nowhere. */
  | 'refused';

/**
 * The only table of Slack's error codes. Source: https://docs.slack.dev/reference/methods, and public reports. Words of the
 * bot: `no_answer`, `not_sent`, `not_installed`, `channel_shared`.
 */
const codes: Readonly<Record<Exclude<CodeMeaning, 'refused'>, string>> = {
  pass: `ratelimited rate_limited message_limit_exceeded team_added_to_org org_login_required accesslimited
    external_channel_migrating not_sent`,
  unclear: `internal_error fatal_error service_unavailable request_timeout update_failed file_update_failed
    unable_to_share_files fetch_members_failed upload_failed no_answer`,
  lacking: `missing_scope not_allowed_token_type no_permission permission_denied team_access_not_granted
    plan_upgrade_required paid_teams_only unknown_method is_bot user_is_bot user_is_restricted`,
  lift: `access_denied app_access_restricted ekm_access_denied enterprise_is_restricted two_factor_setup_required
    file_uploads_disabled file_uploads_except_images_disabled blocked_file_type file_type_not_allowed
    file_upload_size_restricted file_deleting_disabled storage_limit_reached not_enabled team_disabled invalid_auth
    not_authed token_expired`,
  place: `not_in_channel channel_not_found invalid_channel is_archived channel_is_archived channel_is_limited_access
    user_disabled user_not_found messages_tab_disabled invalid_user_combination
    channel_shared channel_type_not_supported method_not_supported_for_channel_type posting_to_channel_denied
    posting_to_general_channel_denied`,
  app: 'account_inactive token_revoked user_removed_from_team invalid_refresh_token not_installed',
  absent: `message_not_found is_inactive edit_window_closed cant_update_message thread_not_found not_found hash_conflict
    file_not_found file_deleted user_not_visible users_not_found team_not_found invalid_team no_such_subteam
    subteam_disabled execution_not_in_running_state function_execution_not_found`,
};

const meanings = new Map(
  Object.entries(codes).flatMap(([meaning, words]) =>
    words.split(/\s+/u).map((code) => [code, meaning as CodeMeaning] as const),
  ),
);

/** The meaning of Slack's code; a code that is not in the table blames the request. */
export function readCode(code = ''): CodeMeaning {
  // Slack adds kinds of restrictions to channels and direct messages.
  if (/^(?:restricted_action|slack_connect_|cannot_dm)/u.test(code)) return 'place';
  return code.startsWith('http_') ? 'unclear' : (meanings.get(code) ?? 'refused');
}

/** Whether the same question may be answered later. */
export function isPassingCode(code = 'no_answer'): boolean {
  return ['pass', 'unclear'].includes(readCode(code));
}

export function readPlaceCode(code: string | undefined): 'outside' | 'archived' | undefined {
  if (['not_in_channel', 'channel_not_found', 'invalid_channel'].includes(code ?? '')) return 'outside';
  return code === 'is_archived' || code === 'channel_is_archived' ? 'archived' : undefined;
}

/** Whether the same call works once somebody has changed the installation, the plan or a setting. */
export function canBeLifted(code: string): boolean {
  return ['lift', 'lacking'].includes(readCode(code));
}

/** What an admin of Slack does about a code that somebody can lift. */
export function describeLift(code: string): string {
  switch (code) {
    case 'missing_scope':
    case 'not_allowed_token_type':
      return 'Install the app again with the current manifest: it lacks a permission.';
    case 'team_access_not_granted':
      return 'Grant the app access to this workspace in the organization’s settings.';
    case 'ekm_access_denied':
      return 'Enterprise Key Management keeps the bot out of this channel: restore its access.';
    case 'invalid_auth':
    case 'not_authed':
    case 'token_expired':
      return 'Slack does not accept the bot’s token, or not from its address: install the app again.';
    case 'storage_limit_reached':
      return 'The workspace has no file storage left: an admin can free some.';
    case 'plan_upgrade_required':
      return 'The plan of this workspace does not include it.';
    default:
      return 'A setting of the workspace forbids it: an admin can allow it.';
  }
}

/** A call that failed. `unknown`: it may have taken effect, so doing it again may do it twice. */
export class SlackFailure extends Error {
  override readonly name = 'SlackFailure';
  /** Slack's own word (`not_in_channel`, `ratelimited`, `held_back` for what the bot stopped itself), or `no_answer`. */
  readonly code: string;
  readonly outcome: 'refused' | 'unknown';
  readonly retryAfterSeconds: number | undefined;
  readonly reference: string | undefined;
  readonly sentence: string | undefined;

  constructor(
    code: string,
    more: Partial<Pick<SlackFailure, 'retryAfterSeconds' | 'reference' | 'sentence' | 'cause'>> = {},
  ) {
    super(more.sentence ?? `Slack: ${code}`, { cause: more.cause });
    this.code = code;
    this.outcome = readCode(code) === 'unclear' ? 'unknown' : 'refused';
    this.retryAfterSeconds = more.retryAfterSeconds;
    this.reference = more.reference;
    this.sentence = more.sentence;
  }
}

export interface FailureClass {
  /** `not-sent`: not an answer of Slack, but a bug, or a database that does not answer. */
  readonly meaning: CodeMeaning | 'not-sent';
  readonly code: string;
  /** The pause that Slack asks for. */
  readonly askedMs?: number | undefined;
  readonly reference?: string | undefined;
}

export function classifySlackFailure(error: unknown): FailureClass {
  // Before anything was sent: no installation, no token.
  if (error instanceof UserError) return { meaning: 'app', code: 'not_installed' };
  if (!(error instanceof SlackFailure)) return { meaning: 'not-sent', code: 'not_sent' };
  const { code, reference, retryAfterSeconds } = error;
  const askedMs = retryAfterSeconds && Math.min(10 * minuteMs, Math.max(1, retryAfterSeconds) * 1000);
  return { meaning: readCode(code), code, askedMs, reference };
}
