import { findEarliestStart, isWindowError } from '../api/event-logs.ts';
import { ApiError, isPlanError } from '../api/http/errors.ts';
import { UserError } from '../errors.ts';
import { hourMs, minuteMs } from '../lib/time.ts';
import { SlackFailure } from '../outbox/slack-port.ts';
import { formatBytes } from '../views/blocks/text.ts';
import type { Offer } from '../views/exports/outcome-messages.ts';
import type { ExportRequest } from './model.ts';
import { ExportTooLarge } from './worker/gather.ts';

/** An attempt exceeded its time limit. */
export class ExportOverdue extends Error {
  override readonly name = 'ExportOverdue';
}

const overdue = new UserError(
  'This export was not done after two hours, so it was given up.',
  'Narrow the window, or filter.',
);

/** What follows a failed attempt: a retry, or the end with next steps for the person. */
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
  const pause = pausesMs[attempt - 1];
  const again = (why: string, seconds?: number): FailureVerdict | undefined => {
    const ms = Math.max(pause ?? 0, (seconds ?? 0) * 1000);
    return pause === undefined || ms > longestPauseMs ? undefined : { retryAfterMs: ms, why };
  };
  const same: Offer = { from: request.from, to: request.to, split: request.split };
  const change: Offer = { ...same, change: true };
  if (error instanceof ApiError) {
    const retry = canComeBack.has(error.code)
      ? again(whyPaused[error.code] ?? 'The CDN did not answer.', error.retryAfterSeconds)
      : undefined;
    if (retry) return retry;
    if (isWindowError(error)) return { tell: error, offers: [...corrected(request, now), change] };
    return { tell: error, offers: [isAboutWhatWasTyped(error) ? change : same] };
  }
  if (error instanceof ExportTooLarge)
    return { tell: tooLarge(error, request), offers: [...smaller(error, request), change] };
  if (error instanceof ExportOverdue) return { tell: overdue, offers: [...halves(request), change] };
  if (error instanceof SlackFailure && error.code === 'held_back')
    return { tell: heldBack(error), offers: [change] };
  if (error instanceof SlackFailure) {
    const passes =
      error.code === 'ratelimited' || error.outcome === 'unknown' || error.code === 'upload_failed';
    const retry = passes ? again('Slack did not take the file.', error.retryAfterSeconds) : undefined;
    return retry ?? { tell: slackWords(error), offers: afterSlack(error, request, { same, change }) };
  }
  if (isDiskFull(error)) {
    const full = new UserError(
      'The bot’s disk is full, so the export was given up.',
      'Tell whoever runs this bot, or choose a smaller window.',
    );
    return { tell: full, offers: halves(request) };
  }
  if (error instanceof UserError) {
    return {
      tell: error,
      offers: [...(request.from < findEarliestStart(now) ? corrected(request, now) : []), change],
    };
  }
  return { tell: error, offers: [] };
}

/** True if the same request would be refused again. */
function isAboutWhatWasTyped(error: ApiError): boolean {
  return error.code === 'not_found' || (error.code === 'refused' && !isPlanError(error));
}

const tooLargeForSlack = new Set(['file_upload_size_restricted', 'upload_too_large']);
const wrongPlace = new Set(['not_in_channel', 'channel_not_found', 'is_archived']);

function afterSlack(
  { code }: SlackFailure,
  request: ExportRequest,
  { same, change }: { readonly same: Offer; readonly change: Offer },
): readonly Offer[] {
  if (tooLargeForSlack.has(code)) return [...halves(request), change];
  if (code === 'is_archived') return [change];
  return wrongPlace.has(code) ? [same, change] : [same];
}

const canComeBack = new Set(['cut', 'timeout', 'unavailable', 'unreachable', 'rate_limited']);
const whyPaused: Readonly<Record<string, string>> = {
  cut: 'The CDN’s answer broke off.',
  timeout: 'The CDN took too long.',
  unavailable: 'The CDN has a problem of its own.',
  unreachable: 'The CDN cannot be reached.',
  rate_limited: 'The CDN asks for a pause.',
};

/**
 * Windows to offer instead of a refused one: the part that the CDN keeps. If the window is valid by our clock, the CDN's
 * clock differs: the window is narrowed at both ends, or recent windows are offered.
 */
function corrected({ from, to, split }: ExportRequest, now: Date): readonly Offer[] {
  const earliest = findEarliestStart(now);
  if (from < earliest && to > earliest) return [{ from: earliest, to, split }];
  const first = findEarliestStart(now, hourMs);
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

function halves(request: ExportRequest): Offer[] {
  return cutIn(2, request);
}

function cutIn(pieces: number, { from, to, split }: ExportRequest): Offer[] {
  const step = Math.ceil((to.getTime() - from.getTime()) / pieces / minuteMs) * minuteMs;
  return Array.from({ length: pieces }, (_, index) => ({
    from: new Date(from.getTime() + index * step),
    to: new Date(Math.min(to.getTime(), from.getTime() + (index + 1) * step)),
    split,
  })).filter((piece) => piece.to > piece.from);
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
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

function slackWords(error: SlackFailure): UserError {
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
function heldBack({ reference }: SlackFailure): UserError {
  return new UserError(
    'The files were held back: a key or token that is in use stands in them, or in the words beside them.',
    'Trying again would end the same. Tell whoever runs this bot the reference below, or filter those events out.',
    undefined,
    reference,
  );
}
