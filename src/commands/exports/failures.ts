import { findOldestEnd, isWindowError } from '../../api/event-logs.ts';
import { ApiError, isPlanError } from '../../api/http/errors.ts';
import { RolesUnknown } from '../../auth/policy/authorizer.ts';
import { isDiskFull, UserError } from '../../errors.ts';
import { hourMs, minuteMs } from '../../lib/time.ts';
import { SlackFailure } from '../../outbox/slack-port.ts';
import { formatBytes } from '../../views/blocks/format.ts';
import type { Offer } from '../../views/exports/outcome-messages.ts';
import type { ExportRequest } from './model.ts';
import { ExportTooLarge } from './worker/limits.ts';

/** An attempt exceeded its time limit. */
export class ExportOverdue extends Error {
  override readonly name = 'ExportOverdue';
}

const overdue = new UserError(
  'This export was not done after two hours, so it was given up.',
  'Narrow the window, or filter.',
);

/** The consequence of a failed attempt: a retry, or the end with next steps for the person. */
export type FailureVerdict =
  | { readonly retryAfterMs: number; readonly why: string }
  | { readonly tell: unknown; readonly offers: readonly Offer[] };

// Longest Retry-After that is waited for.
const longestPauseMs = 10 * minuteMs;
const pausesMs = [2_000, 10_000, 30_000] as const;

/** `attempt`: the failed one, from 1 on. Nothing was posted, so a retry is safe. */
export function classifyFailure(
  error: unknown,
  request: ExportRequest,
  attempt: number,
  now: Date,
): FailureVerdict {
  const why = describePause(error);
  const seconds = error instanceof ApiError || error instanceof SlackFailure ? error.retryAfterSeconds : 0;
  const pauseMs = Math.max(pausesMs[attempt - 1] ?? Number.POSITIVE_INFINITY, (seconds ?? 0) * 1000);
  if (why !== undefined && pauseMs <= longestPauseMs) return { retryAfterMs: pauseMs, why };

  const same: Offer = { from: request.from, to: request.to, split: request.split };
  const change: Offer = { ...same, change: true };
  if (error instanceof ApiError && isWindowError(error))
    return { tell: error, offers: [...correctWindow(request, now), change] };
  if (error instanceof ApiError) return { tell: error, offers: [isAboutWhatWasTyped(error) ? change : same] };
  if (error instanceof ExportTooLarge)
    return { tell: tooLarge(error, request), offers: [...smaller(error, request), change] };
  if (error instanceof ExportOverdue) return { tell: overdue, offers: [...cutIn(2, request), change] };
  if (error instanceof SlackFailure && error.code === 'held_back')
    return { tell: createHeldBackError(error), offers: [change] };
  if (error instanceof SlackFailure) {
    const { code } = error;
    if (tooLargeForSlack.has(code))
      return { tell: describeRefusedUpload(error), offers: [...cutIn(2, request), change] };
    const isWrongPlace = wrongPlace.has(code);
    const offers = code === 'is_archived' ? [change] : isWrongPlace ? [same, change] : [same];
    return { tell: describeRefusedUpload(error), offers };
  }
  if (isDiskFull(error)) return { tell: diskFull, offers: cutIn(2, request) };
  const isTooOld = error instanceof UserError && request.to < findOldestEnd(now);
  const offers = error instanceof UserError ? [...(isTooOld ? correctWindow(request, now) : []), change] : [];
  return { tell: error, offers };
}

/** Why another attempt may succeed. Undefined if it would not. */
function describePause(error: unknown): string | undefined {
  if (error instanceof ApiError) return whyPaused[error.code];
  if (error instanceof RolesUnknown) return 'Slack does not say who may export.';
  if (!(error instanceof SlackFailure)) return undefined;
  const passes = error.outcome === 'unknown' || ['ratelimited', 'upload_failed'].includes(error.code);
  return passes && error.code !== 'held_back' ? 'Slack did not take the file.' : undefined;
}

const whyPaused: Readonly<Record<string, string>> = {
  cut: 'The CDN’s answer broke off.',
  timeout: 'The CDN took too long.',
  unavailable: 'The CDN has a problem of its own.',
  unreachable: 'The CDN cannot be reached.',
  rate_limited: 'The CDN asks for a pause.',
};

const diskFull = new UserError(
  'The bot’s disk is full, so the export was given up.',
  'Tell whoever runs this bot, or choose a smaller window.',
);

/** True if the same request would be refused again. */
function isAboutWhatWasTyped(error: ApiError): boolean {
  return error.code === 'not_found' || (error.code === 'refused' && !isPlanError(error));
}

const tooLargeForSlack = new Set(['file_upload_size_restricted', 'upload_too_large']);
const wrongPlace = new Set(['not_in_channel', 'channel_not_found']);

/**
 * Windows to offer instead of a refused one: the part within the last 72 hours. If the window lies in them by our clock,
 * the CDN's clock differs: the window is narrowed at both ends, or recent windows are offered.
 */
function correctWindow({ from, to, split }: ExportRequest, now: Date): readonly Offer[] {
  const earliest = findOldestEnd(now);
  if (from < earliest && to > earliest) return [{ from: earliest, to, split }];
  const first = findOldestEnd(now, hourMs);
  const last = new Date(Math.floor(now.getTime() / minuteMs - 10) * minuteMs);
  const inner = { from: from < first ? first : from, to: to > last ? last : to, split };
  const isOther = inner.from > from || inner.to < to;
  if (isOther && inner.from < inner.to) return [inner];
  return [24, 6].map((hours) => ({ from: new Date(last.getTime() - hours * hourMs), to: last, split }));
}

function tooLarge({ bytes: size, announced, limit }: ExportTooLarge, { split }: ExportRequest): UserError {
  const much = announced ? `it has ${formatBytes(size)}` : `it has more than ${formatBytes(limit)}`;
  return new UserError(
    `This export is too large: ${much}, and ${split ? 'no more than that is sent' : `Slack takes files up to ${formatBytes(limit)}`}.`,
    split
      ? 'Narrow the window, or filter.'
      : 'Narrow the window: the buttons below cut it. Or let it be split into several files.',
  );
}

const mostPieces = 4;

function smaller({ bytes: size, announced, limit }: ExportTooLarge, request: ExportRequest): Offer[] {
  // Events are not spread evenly: 20 % is left free.
  const pieces = announced ? Math.min(mostPieces, Math.max(2, Math.ceil(size / (limit * 0.8)))) : 2;
  const splitting: Offer[] = request.split ? [] : [{ from: request.from, to: request.to, split: true }];
  return [...splitting, ...cutIn(pieces, request)];
}

function cutIn(pieces: number, { from, to, split }: ExportRequest): Offer[] {
  const step = Math.ceil((to.getTime() - from.getTime()) / pieces / minuteMs) * minuteMs;
  return Array.from({ length: pieces }, (_, index) => ({
    from: new Date(from.getTime() + index * step),
    to: new Date(Math.min(to.getTime(), from.getTime() + (index + 1) * step)),
    split,
  })).filter((piece) => piece.to > piece.from);
}

const fromAdmin =
  'It is the same in direct messages. Ask an admin of your Slack workspace to allow CSV files and their uploads, then export again.';
/** Next steps for codes where exporting to direct messages would not help, or something else helps more. */
const slackSteps: Readonly<Record<string, string>> = {
  missing_scope:
    'It is the same in direct messages. Ask an admin of your Slack workspace to do so, then export again.',
  file_uploads_disabled: fromAdmin,
  blocked_file_type: fromAdmin,
  file_upload_size_restricted:
    'It is the same in direct messages. Choose a smaller window, or ask an admin of your Slack workspace to allow larger files.',
  upload_too_large: 'Choose a smaller window, or split it into several files.',
  upload_refused:
    'It would not take it the next time either. Tell whoever runs this bot the reference below.',
  not_in_channel: 'Type `/invite @cdn` in that channel, then export again.',
  channel_not_found: 'Type `/invite @cdn` in that channel, then export again.',
};

function describeRefusedUpload(error: SlackFailure): UserError {
  if (error.code === 'is_archived') {
    return new UserError(
      'The channel was archived meanwhile, so nothing was posted.',
      'Export into another one, or to yourself.',
    );
  }
  // The message of an UploadError is written for people.
  const upload = error.cause instanceof Error && error.cause.name === 'UploadError';
  return new UserError(
    upload ? error.message : `Slack refused the files (${error.code}).`,
    slackSteps[error.code] ?? 'Try again, or export to yourself: leave the channel empty.',
  );
}

/** A retry would be held back again. */
function createHeldBackError({ reference }: SlackFailure): UserError {
  return new UserError(
    'The files were held back: a key or token that is in use stands in them, or in the words beside them.',
    'Trying again would end the same. Tell whoever runs this bot the reference below, or filter those events out.',
    undefined,
    reference,
  );
}
