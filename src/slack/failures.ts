import { randomInt } from 'node:crypto';
import { ApiError } from '../api/errors.ts';
import { describeApiError } from '../commands/api-failures.ts';
import type { Message } from '../commands/define.ts';
import { UserError } from '../errors.ts';
import type { Log } from '../log.ts';
import { type Failure, failure } from '../views/failure.ts';

export interface Failed {
  readonly kind: string;
  readonly feature: string;
  /** A button that tries the same again, only where that is safe. */
  readonly retry?: { readonly actionId: string; readonly value: string } | undefined;
}

/** A failure as a message. */
export function describeFailure(error: unknown, failed: Failed, log: Log): Message {
  return failure(explainFailure(error, failed, log));
}

/**
 * The one place where a failure becomes words: a sentence and a next step for the person, the rest for the log,
 * and a reference that is in both.
 */
export function explainFailure(error: unknown, failed: Failed, log: Log): Failure {
  const reference = makeReference();
  const where = { reference, kind: failed.kind, feature: failed.feature };
  if (error instanceof UserError) {
    // Its words may quote what somebody typed, so the log gets the place only.
    log.info(where, 'answered with a refusal');
    return { message: error.message, hint: error.hint, offer: error.offer, reference };
  }
  if (error instanceof ApiError) {
    const { code, operation, status, requestId, errorKey } = error;
    log.warn({ ...where, code, operation, status, requestId, errorKey }, 'the CDN refused or failed');
    return { ...describeApiError(error), reference, retry: failed.retry };
  }
  log.error({ ...where, error }, 'failed');
  return {
    message: 'Something went wrong on our side, and nothing was changed.',
    hint: 'Try again. If it keeps happening, tell whoever runs this bot the reference below.',
    reference,
    retry: failed.retry,
  };
}

// No letters and digits that look or sound alike: references are read aloud on the phone at night.
const alphabet = '23456789ABCDEFGHJKMNPQRSTVWXYZ';

/** An id to say aloud, under which something is in the log. */
export function makeReference(): string {
  return Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
