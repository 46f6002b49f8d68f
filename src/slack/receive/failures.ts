import { ApiError } from '../../api/http/errors.ts';
import { LinkedKeyError } from '../../auth/keys/key-store.ts';
import { describeApiError } from '../../commands/api-failures.ts';
import { UserError } from '../../errors.ts';
import { SlackFailure } from '../../outbox/slack-port.ts';
import { type Log, makeReference } from '../../telemetry/log.ts';
import { type Failure, renderFailure } from '../../views/blocks/failure.ts';
import type { Message } from '../../views/blocks/message.ts';
import { isBlocked, SecretLeakBlocked } from '../send/egress.ts';

export interface FailedDelivery {
  readonly kind: string;
  readonly feature: string;
  /** The button that repeats the request, only if that is safe. */
  readonly retry?: { readonly actionId: string; readonly value: string } | undefined;
  /** The command for the button `Why?`. */
  readonly requested?: string | undefined;
}

export function describeFailure(error: unknown, failed: FailedDelivery, log: Log): Message {
  return renderFailure(explainFailure(error, failed, log));
}

/**
 * The only place where an error becomes text: a sentence and a next step for the person, details for the log, and a
 * reference that is in both.
 */
export function explainFailure(error: unknown, failed: FailedDelivery, log: Log): Failure {
  // Already logged where it was blocked. No retry button: the same would be blocked again.
  if (error instanceof SecretLeakBlocked || (error instanceof SlackFailure && error.code === 'held_back'))
    return { ...isBlocked, reference: error.reference };
  const reference = (error instanceof UserError ? error.reference : undefined) ?? makeReference();
  const where = { reference, kind: failed.kind, feature: failed.feature };
  if (error instanceof UserError) {
    // The text may quote what the person typed, so it is not logged.
    log.info(where, 'refused a request');
    return { message: error.message, hint: error.hint, offer: error.offer, why: failed.requested, reference };
  }
  if (error instanceof ApiError) {
    const { code, operation, status, requestId, errorKey } = error;
    log.warn({ ...where, code, operation, status, requestId, errorKey }, 'CDN request failed');
    return { ...describeApiError(error), reference, retry: failed.retry };
  }
  if (error instanceof LinkedKeyError) {
    log.error({ ...where, code: error.code, keyId: error.keyId }, 'cannot decrypt a stored key');
    return { ...describeLinkedKeyError(error), reference };
  }
  log.error({ ...where, error }, 'unexpected error');
  return {
    message: 'Something went wrong on our side, and nothing was changed.',
    hint: 'Try again. If it keeps happening, tell whoever runs this bot the reference below.',
    reference,
    retry: failed.retry,
  };
}

function describeLinkedKeyError({ code }: LinkedKeyError): Pick<Failure, 'message' | 'hint' | 'offer'> {
  return code === 'unknown_key'
    ? {
        message: 'Your stored key is there, but the bot lacks the encryption key that opens it.',
        hint: 'Tell whoever runs this bot the reference below, or connect your key again.',
        offer: 'connect',
      }
    : {
        message: 'Your stored key does not match its record; connect it again.',
        hint: 'The stored data may have been changed: tell whoever runs this bot the reference below.',
        offer: 'connect',
      };
}
