import { ApiError } from '../../api/http/errors.ts';
import { RolesUnknown } from '../../auth/policy/authorizer.ts';
import { isDiskFull, UserError } from '../../errors.ts';
import { dayMs, hourMs, minuteMs } from '../../lib/time.ts';
import {
  canBeLifted,
  describeLift,
  isPassingCode,
  readPlaceCode,
  SlackFailure,
} from '../../outbox/slack-port.ts';

/** The error that people are told, where trying again does not help. */
export function explainEnd(error: unknown): unknown {
  if (error instanceof SlackFailure) return explainRefusal(error);
  if (!isDiskFull(error)) return error;
  return new UserError(
    'The bot’s disk is full, so the export was stopped.',
    'Tell the team that runs this bot, or choose a shorter window.',
  );
}

const pausesMs = [2_000, 10_000, 30_000, minuteMs, 5 * minuteMs, 15 * minuteMs] as const;
const mostCdnRetries = 3;
const longestCdnPauseMs = 10 * minuteMs;

/** The pause before the next try, since nothing was posted; undefined where none would help, or its person has moved on. */
export function findRetry(
  error: unknown,
  { attempt, askedAt }: { readonly attempt: number; readonly askedAt: Date },
  now: Date,
): { readonly retryAfterMs: number; readonly why: string } | undefined {
  const why = describePause(error);
  if (why === undefined) return undefined;
  const isCdn = error instanceof ApiError;
  const askedMs = isCdn || error instanceof SlackFailure ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  const retryAfterMs = Math.max(pausesMs[attempt - 1] ?? hourMs, askedMs);
  // With a failure of Slack the log is there already, so it is waited for longer.
  if (isCdn && (attempt > mostCdnRetries || retryAfterMs > longestCdnPauseMs)) return undefined;
  return now.getTime() + retryAfterMs < askedAt.getTime() + dayMs ? { retryAfterMs, why } : undefined;
}

function describePause(error: unknown): string | undefined {
  if (error instanceof ApiError) return cdnReasons[error.code];
  if (error instanceof RolesUnknown) return 'Slack can’t say right now who may export.';
  if (!(error instanceof SlackFailure)) return undefined;
  return isPassingCode(error.code) ? 'Slack is not accepting the file right now.' : undefined;
}

const cdnReasons: Readonly<Record<string, string>> = {
  cut: 'The CDN’s answer was cut off.',
  timeout: 'The CDN took too long.',
  unavailable: 'The CDN has a problem.',
  unreachable: 'The CDN cannot be reached.',
  rate_limited: 'The CDN is rate limiting.',
};

export function explainRefusal({
  code,
  sentence,
  reference,
}: Pick<SlackFailure, 'code' | 'reference'> & Partial<Pick<SlackFailure, 'sentence'>>): UserError {
  if (code === 'held_back')
    return new UserError(
      'The files were held back: they, or the text above them, contain a key or token that is in use.',
      'Trying again will not help. Send the reference below to the team that runs this bot, or filter those events out.',
      undefined,
      reference,
    );
  if (readPlaceCode(code) === 'archived')
    return new UserError(
      'The channel was archived meanwhile, so nothing was posted.',
      'Export to another one, or to yourself.',
    );
  return new UserError(sentence ?? `Slack refused the files (${code}).`, describeStep(code));
}

/** Exporting to oneself does not help against what an admin has to lift. */
function describeStep(code: string): string {
  if (code === 'upload_too_large') return 'Choose a shorter window.';
  if (code === 'upload_refused')
    return 'Slack would refuse it again. Send the reference below to the team that runs this bot.';
  if (readPlaceCode(code) === 'outside') return 'Type `/invite @cdn` in that channel, then export again.';
  if (canBeLifted(code)) return `${describeLift(code)} Then export again.`;
  return 'Try again, or export to yourself: leave the channel empty.';
}
