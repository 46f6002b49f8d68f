import { findOldestEnd, isWindowError } from '../../api/event-logs.ts';
import { ApiError, isPlanError } from '../../api/http/errors.ts';
import { RolesUnknown } from '../../auth/policy/authorizer.ts';
import { isDiskFull, UserError } from '../../errors.ts';
import { dayMs, hourMs, minuteMs } from '../../lib/time.ts';
import {
  canBeLifted,
  describeLift,
  isPlaceCode,
  readCode,
  readPlaceCode,
} from '../../outbox/classify-failure.ts';
import { type Audience, SlackFailure } from '../../outbox/slack-port.ts';
import type { Failure } from '../../views/blocks/failure.ts';
import { formatBytes, formatDuration } from '../../views/blocks/format.ts';
import type { ExportRequest, Offer } from '../../views/exports/exports.ts';
import { ExportStopped, type StopReason } from './worker/gather.ts';

/** The consequence of a failed attempt: a retry, or the end with next steps for the person. */
export type FailureVerdict =
  | { readonly retryAfterMs: number; readonly why: string }
  | { readonly error: unknown; readonly offers: readonly Offer[] };

interface FailedAttempt {
  readonly request: ExportRequest;
  /** From 1 on. */
  readonly attempt: number;
  readonly askedAt: Date;
}

/** Nothing was posted, so a retry is safe. */
export function classifyFailure(
  error: unknown,
  { request, attempt, askedAt }: FailedAttempt,
  now: Date,
): FailureVerdict {
  const retry = findRetry(error, attempt);
  // An older export is out of date: its person has moved on.
  if (retry && now.getTime() + retry.retryAfterMs < askedAt.getTime() + dayMs) return retry;

  const { from, to } = request;
  const isWindow =
    (error instanceof ApiError && isWindowError(error)) ||
    (error instanceof UserError && to < findOldestEnd(now));
  const other = isWindow ? correctWindow(request, now) : { from, to };
  const offers = isLasting(error) && !isWindow ? [] : [other];
  return { error: explain(error, request), offers: [...offers, { from, to, change: true }] };
}

/** Whether the same export would be refused again. */
function isLasting(error: unknown): boolean {
  if (error instanceof ApiError)
    return error.code === 'not_found' || (error.code === 'refused' && !isPlanError(error));
  if (error instanceof SlackFailure)
    return (
      [...tooLargeForSlack, 'held_back'].includes(error.code) || readPlaceCode(error.code) === 'archived'
    );
  return error instanceof ExportStopped || error instanceof UserError;
}

function explain(error: unknown, request: ExportRequest): unknown {
  if (error instanceof ExportStopped) return explainStop(error.reason, request);
  if (error instanceof SlackFailure)
    return error.code === 'held_back' ? explainHeldBack(error) : explainRefusal(error);
  return isDiskFull(error) ? diskFull : error;
}

const cdnPausesMs = [2_000, 10_000, 30_000] as const;
// The longest Retry-After of the CDN that is waited for.
const longestCdnPauseMs = 10 * minuteMs;
// The log is there already and only has to be posted, so Slack is waited for as long as the export is of use.
const slackPausesMs = [2_000, 10_000, 30_000, minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs] as const;

/** The pause after which another attempt may succeed. Undefined if it would not. */
function findRetry(error: unknown, attempt: number): { retryAfterMs: number; why: string } | undefined {
  const askedMs =
    error instanceof ApiError || error instanceof SlackFailure ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  if (error instanceof ApiError) {
    const why = cdnReasons[error.code];
    const retryAfterMs = Math.max(cdnPausesMs[attempt - 1] ?? Number.POSITIVE_INFINITY, askedMs);
    return why !== undefined && retryAfterMs <= longestCdnPauseMs ? { retryAfterMs, why } : undefined;
  }
  const retryAfterMs = Math.max(slackPausesMs[attempt - 1] ?? hourMs, askedMs);
  if (error instanceof RolesUnknown)
    return { retryAfterMs, why: 'Slack does not say right now who may export.' };
  if (error instanceof SlackFailure && canPass(error))
    return { retryAfterMs, why: 'Slack does not take the file at the moment.' };
  return undefined;
}

const cdnReasons: Readonly<Record<string, string>> = {
  cut: 'The CDN’s answer broke off.',
  timeout: 'The CDN took too long.',
  unavailable: 'The CDN has a problem.',
  unreachable: 'The CDN cannot be reached.',
  rate_limited: 'The CDN asks for a pause.',
};

function canPass({ outcome, code }: SlackFailure): boolean {
  return code !== 'held_back' && (outcome === 'unknown' || ['pass', 'unclear'].includes(readCode(code)));
}

const diskFull = new UserError(
  'The bot’s disk is full, so the export was stopped.',
  'Tell whoever runs this bot, or choose a shorter window.',
);

/**
 * A window to offer instead of a refused one: its part within the last 72 hours, an hour inside of them since the CDN's clock
 * may differ; else the last day.
 */
function correctWindow({ from, to }: ExportRequest, now: Date): Offer {
  const first = findOldestEnd(now, hourMs);
  const last = new Date(Math.floor(now.getTime() / minuteMs - 10) * minuteMs);
  const inner = { from: from < first ? first : from, to: to > last ? last : to };
  const isOther = inner.from > from || inner.to < to;
  return isOther && inner.from < inner.to ? inner : { from: new Date(last.getTime() - dayMs), to: last };
}

export function explainStop(reason: StopReason, { from, to }: ExportRequest): UserError {
  if (reason.kind === 'overdue')
    return new UserError('This export was stopped after two hours.', 'Choose a shorter window, or filter.');
  if (reason.kind !== 'too-large')
    return new UserError(
      'The bot stopped twice while it made this export, so it was put aside.',
      'Choose a shorter window, or tell whoever runs this bot the reference below.',
    );
  const { announced, limit } = reason;
  const size = announced === undefined ? `more than ${formatBytes(limit)}` : formatBytes(announced);
  // Events are not spread evenly, so 20 % is left free.
  const pieces = announced === undefined ? 2 : Math.max(2, Math.ceil(announced / (limit * 0.8)));
  const ms = (to.getTime() - from.getTime()) / pieces;
  const unit = ms < 2 * hourMs ? minuteMs : hourMs;
  const length = formatDuration(Math.max(1, Math.floor(ms / unit)) * unit);
  return new UserError(
    `This export has ${size}, and Slack takes files up to ${formatBytes(limit)}.`,
    `Choose a window of about ${length}, or filter.`,
  );
}

const tooLargeForSlack = ['file_upload_size_restricted', 'upload_too_large'];

function explainRefusal(error: SlackFailure): UserError {
  if (readPlaceCode(error.code) === 'archived')
    return new UserError(
      'The channel was archived meanwhile, so nothing was posted.',
      'Export into another one, or to yourself.',
    );
  return new UserError(
    error.sentence ?? `Slack refused the files (${error.code}).`,
    describeStep(error.code),
  );
}

/** The next step after a refusal. Exporting to oneself does not help against what an admin has to lift. */
function describeStep(code: string): string {
  if (code === 'upload_too_large') return 'Choose a shorter window.';
  if (code === 'upload_refused')
    return 'It would refuse it again. Tell whoever runs this bot the reference below.';
  if (isPlaceCode(code)) return 'Type `/invite @cdn` in that channel, then export again.';
  if (canBeLifted(code)) return `${describeLift(code)} Then export again.`;
  return 'Try again, or export to yourself: leave the channel empty.';
}

/** A retry would be held back again. */
function explainHeldBack({ reference }: SlackFailure): UserError {
  return new UserError(
    'The files were held back: they, or the text above them, contain a key or token that is in use.',
    'Trying again would not help. Tell whoever runs this bot the reference below, or filter those events out.',
    undefined,
    reference,
  );
}

/** Why the export's first message could not be posted. */
export function describePostFailure(
  { code, reference }: { readonly code: string | undefined; readonly reference?: string | undefined },
  channel: string | null,
): Failure {
  const where = channel === null ? 'your direct messages' : `<#${channel}>`;
  if (code === undefined)
    return { message: 'Slack asks for a pause.', hint: 'Send the form again in a minute.' };
  if (code === 'held_back')
    return {
      message:
        'What you typed holds a key or token that is in use, so nothing was posted. The CDN was not asked.',
      hint: 'Fill in the form again without it: `/cdn export`.',
      reference,
    };
  if (readPlaceCode(code) === 'archived')
    return { message: `${where} is archived.`, hint: 'Choose another channel, or only you.' };
  if (readPlaceCode(code) === 'outside')
    return {
      message: `The bot is not in ${where}, so it cannot post there. The CDN was not asked.`,
      hint: 'Invite it: type `/invite @cdn` in that channel, then send the form again.',
    };
  return {
    message: `Slack does not let the bot post in ${where} (${code}).`,
    hint: canBeLifted(code) ? describeLift(code) : 'Send the form again, or choose another channel.',
  };
}

/**
 * Checks that only people of this organisation read a channel. Where Slack does not say, only channels that an admin
 * named for exports are taken.
 *
 * @throws UserError
 */
export function assertOwnAudience(channel: string, audience: Audience, named: readonly string[]): void {
  if (audience === 'own') return;
  if (audience === 'others')
    throw new UserError(
      `<#${channel}> is shared with another organisation, so no export is posted there.`,
      'Choose a channel of your own organisation, or leave it empty to get the file yourself.',
    );
  if (named.includes(channel)) return;
  const isMissing = audience.unknown === 'missing_scope';
  const step = isPlaceCode(audience.unknown)
    ? 'Type `/invite @cdn` there and export again'
    : 'Try again in a minute';
  throw new UserError(
    `I cannot see who reads <#${channel}>, so no export is posted there.`,
    isMissing
      ? 'An admin can name it under *Exports may go to* in `/cdn settings`, or install the app again with the current manifest.'
      : `${step}, or leave the channel empty to get the file yourself.`,
  );
}
